import { describe, expect, it } from "vitest";
import type { AnyObject } from "../object.ts";
import { applyCrdDefaults, prepareCrd } from "./crd-defaults.ts";
import { crdWarnings, hasUnenforcedRules } from "./crd-validation.ts";
import { asCrd, type CustomResourceDefinition } from "./crd.ts";
import type { JsonSchema } from "./json-schema.ts";

function crdWith(spec: JsonSchema, more: object = {}): CustomResourceDefinition {
  const openAPIV3Schema = { type: "object", properties: { spec } };
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.ex.io" },
    spec: {
      group: "ex.io",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      ...more,
    },
  };
  return asCrd(crd as unknown as AnyObject);
}

const rules = { "x-kubernetes-validations": [{ rule: "self > 0" }] };

describe("crdWarnings", () => {
  it("says that rules are not enforced, wherever they stand", () => {
    for (const schema of [
      { type: "integer", ...rules },
      { type: "array", items: { type: "integer", ...rules } },
      { type: "object", additionalProperties: { type: "integer", ...rules } },
    ]) {
      expect(hasUnenforcedRules(crdWith(schema))).toBe(true);
      expect(crdWarnings(crdWith(schema))).toEqual([
        "x-kubernetes-validations are stored, but this server does not enforce them yet",
      ]);
    }
    expect(hasUnenforcedRules(crdWith({ type: "integer" }))).toBe(false);
  });

  it("names formats that are not known, once, and only when they are new", () => {
    const crd = crdWith({
      type: "object",
      properties: { a: { type: "string", format: "x" }, b: { type: "string", format: "x" } },
    });
    expect(crdWarnings(crd)).toEqual(['unrecognized format "x"']);
    expect(crdWarnings(crd, crd)).toEqual([]);
    expect(crdWarnings(crdWith({ type: "integer", format: "int32" }))).toEqual([]);
    expect(crdWarnings(crdWith({ type: "integer", format: "date" }))).toEqual([
      'unrecognized format "date"',
    ]);
  });

  it("says that conversion webhooks are not called", () => {
    const crd = crdWith({ type: "integer" }, { conversion: { strategy: "Webhook" } });
    expect(crdWarnings(crd)).toEqual([
      "conversion webhooks are not called: versions are converted by apiVersion alone",
    ]);
  });
});

describe("applyCrdDefaults", () => {
  it("changes nothing the second time", () => {
    const once = applyCrdDefaults(crdWith({ type: "integer" }));
    expect(applyCrdDefaults(once)).toEqual(once);
  });
});

describe("prepareCrd", () => {
  const crd = crdWith({ type: "integer" });

  it("forgets the status that a client sends on a create", () => {
    const sent = { ...crd, status: { storedVersions: ["v9"], conditions: [] } };
    expect(prepareCrd(sent).status).toEqual({
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: ["v1"],
    });
  });

  it("keeps the status on an update, and adds the storage version to the stored ones", () => {
    const old = { ...crd, status: { storedVersions: ["v0"], conditions: [] } };
    expect(prepareCrd(crd, old).status).toEqual({ conditions: [], storedVersions: ["v0", "v1"] });
  });
});
