import { describe, expect, test } from "vitest";
import { type ParsedPath, parsePath } from "./path.ts";

function resource(over: Partial<Extract<ParsedPath, { kind: "resource" }>>): ParsedPath {
  return {
    kind: "resource",
    group: "",
    version: "v1",
    namespace: "",
    plural: "",
    name: "",
    subresource: "",
    watch: false,
    ...over,
  };
}

const APPS = { group: "apps", plural: "deployments" };

const RESOURCES: readonly (readonly [path: string, want: ParsedPath])[] = [
  ["/api/v1/nodes", resource({ plural: "nodes" })],
  ["/api/v1/nodes/", resource({ plural: "nodes" })],
  ["/api/v1/nodes/n1", resource({ plural: "nodes", name: "n1" })],
  ["/api/v1/nodes/n1/status", resource({ plural: "nodes", name: "n1", subresource: "status" })],
  ["/api/v1/namespaces", resource({ plural: "namespaces" })],
  ["/api/v1/namespaces/a", resource({ plural: "namespaces", name: "a" })],
  [
    "/api/v1/namespaces/a/finalize",
    resource({ plural: "namespaces", name: "a", subresource: "finalize" }),
  ],
  [
    "/api/v1/namespaces/a/status",
    resource({ plural: "namespaces", name: "a", subresource: "status" }),
  ],
  ["/api/v1/namespaces/a/configmaps", resource({ namespace: "a", plural: "configmaps" })],
  [
    "/api/v1/namespaces/a/configmaps/c%3Ad",
    resource({ namespace: "a", plural: "configmaps", name: "c:d" }),
  ],
  ["/api/v1/namespaces/a/status/x", resource({ namespace: "a", plural: "status", name: "x" })],
  ["/apis/apps/v1/deployments", resource(APPS)],
  [
    "/apis/apps/v1/namespaces/a/deployments/d/scale",
    resource({ ...APPS, namespace: "a", name: "d", subresource: "scale" }),
  ],
  [
    "/api/v1/watch/namespaces/a/configmaps",
    resource({ namespace: "a", plural: "configmaps", watch: true }),
  ],
  [
    "/apis/apps/v1/watch/namespaces/a/deployments/d",
    resource({ ...APPS, namespace: "a", name: "d", watch: true }),
  ],
  ["/api/v1/watch/nodes/n", resource({ plural: "nodes", name: "n", watch: true })],
];

describe("resource paths", () => {
  test.each(RESOURCES)("%s is read", (path, want) => {
    expect(parsePath(path)).toEqual(want);
  });
});

describe("other paths", () => {
  test.each([
    ["/", "/"],
    ["/api", "/api"],
    ["/api/", "/api"],
    ["/apis", "/apis"],
    ["/api/v1", "/api/v1"],
    ["/apis/apps/v1/", "/apis/apps/v1"],
    ["/api/v1/watch", "/api/v1/watch"],
    ["/version", "/version"],
    ["/openapi/v3/apis/apps/v1", "/openapi/v3/apis/apps/v1"],
    ["//api/v1/nodes", "//api/v1/nodes"],
    ["/api/v1//nodes", "/api/v1//nodes"],
    ["/api/v1/nodes//", "/api/v1/nodes/"],
    ["/api/v1/nodes/n/status/more", "/api/v1/nodes/n/status/more"],
    ["/api/v1/namespaces/a/pods/p/proxy/x", "/api/v1/namespaces/a/pods/p/proxy/x"],
    ["/%61pi", "/api"],
  ])("%s is no resource", (path, text) => {
    expect(parsePath(path)).toMatchObject({ kind: "other", text });
  });
});

describe("malformed paths", () => {
  test.each([
    "",
    "*",
    "api/v1/nodes",
    "https://host/api/v1/nodes",
    "/api/v1/namespaces/../secrets",
    "/api/v1/nodes/..",
    "/api/v1/nodes/.",
    "/api/v1/nodes/%2e%2e",
    "/api/v1/nodes/a%2Fb",
    "/api/v1/nodes/a%2fb",
    "/api/v1/nodes/a%00b",
    "/api/v1/nodes/a\u0000b",
    "/api/v1/nodes/a%0Ab",
    "/api/v1/nodes/%zz",
    "/api/v1/nodes/%",
    "/api/v1/nodes/%ff",
  ])("%j is refused", (path) => {
    expect(parsePath(path).kind).toBe("malformed");
  });
});
