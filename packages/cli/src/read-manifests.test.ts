import { describe, expect, it } from "vitest";
import { parseManifests } from "./read-manifests.ts";

const one = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;
const names = (text: string): readonly string[] =>
  parseManifests(text, "f.yaml").map(({ metadata }) => metadata.name);

describe("parseManifests", () => {
  it("reads several documents, comments and empty ones between them", () => {
    expect(names(`# first\n${one("a")}---\n--- # nothing\n\n---\n${one("b")}---\n`)).toEqual([
      "a",
      "b",
    ]);
  });

  it("reads JSON and Lists", () => {
    const items = ["a", "b"].map((name) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
    }));
    expect(names(JSON.stringify({ apiVersion: "v1", kind: "List", items }))).toEqual(["a", "b"]);
  });

  it.each([
    ["", "f.yaml holds no object"],
    ["kind: ConfigMap\n", "f.yaml: apiVersion, kind and metadata.name are needed"],
    [`${one("a")}---\nx: 1\n`, "f.yaml, document 2: apiVersion, kind and metadata.name are needed"],
    ["a: [", "f.yaml: "],
    ["- 1\n- 2\n", "f.yaml: apiVersion, kind and metadata.name are needed"],
  ])("refuses %j and names the place", (text, message) => {
    expect(() => parseManifests(text, "f.yaml")).toThrow(message);
  });
});
