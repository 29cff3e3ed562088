import { expect, it } from "vitest";
import { formatImage, overrideImage, parseImage } from "./image.ts";

it.each([
  ["nginx", "", "nginx", "", ""],
  ["nginx:1.27", "", "nginx", "1.27", ""],
  ["library/nginx", "", "library/nginx", "", ""],
  ["registry.example:5000/a/b:v1", "registry.example:5000", "a/b", "v1", ""],
  ["localhost/a", "localhost", "a", "", ""],
  ["host.io/a@sha256:abc", "host.io", "a", "", "sha256:abc"],
  ["host.io/a:v1@sha256:abc", "host.io", "a", "v1", "sha256:abc"],
])("takes %s apart and puts it together again", (text, registry, repository, tag, digest) => {
  expect(parseImage(text)).toEqual({ registry, repository, tag, digest });
  expect(formatImage(parseImage(text))).toBe(text);
});

it.each([
  ["nginx:1", "Registry", "add", "mirror.io", "mirror.io/nginx:1"],
  ["a.io/nginx:1", "Registry", "replace", "b.io", "b.io/nginx:1"],
  ["a.io/nginx:1", "Registry", "add", ":5000", "a.io:5000/nginx:1"],
  ["a.io/nginx:1", "Registry", "remove", "", "nginx:1"],
  ["a.io/nginx:1", "Repository", "add", "-slim", "a.io/nginx-slim:1"],
  ["a.io/nginx:1", "Repository", "replace", "httpd", "a.io/httpd:1"],
  ["nginx:1", "Tag", "add", "-alpine", "nginx:1-alpine"],
  ["nginx:1", "Tag", "replace", "2", "nginx:2"],
  ["nginx", "Tag", "add", "2", "nginx:2"],
  ["nginx:1", "Tag", "remove", "", "nginx"],
  ["nginx:1", "Tag", "replace", "sha256:ab", "nginx@sha256:ab"],
  ["nginx:1@sha256:ab", "Tag", "replace", "2", "nginx:2"],
  ["nginx@sha256:ab", "Tag", "remove", "", "nginx"],
] as const)("changes %s: %s %s %j to %s", (text, component, operator, value, expected) => {
  expect(formatImage(overrideImage(parseImage(text), component, operator, value))).toBe(expected);
});
