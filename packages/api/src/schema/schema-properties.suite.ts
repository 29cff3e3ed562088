/** What holds for every schema and every value. The unit tests try a few, the fuzz tests many. */
import { deepFreeze } from "@lifeboat/base";
import fc from "fast-check";
import { expect, it } from "vitest";
import { builtinSchema } from "../builtin/schema.ts";
import type { Json, JsonObject } from "../json.ts";
import type { AnyObject } from "../object.ts";
import { compileSchema } from "./compile-schema.ts";
import { validateCrd } from "./crd-validation.ts";
import { asCrd, type CustomResourceDefinition } from "./crd.ts";
import { customKindSchema } from "./custom-kind.ts";
import type { JsonSchema } from "./json-schema.ts";
import { anyValue, nonsenseSchema, schemaWithValue } from "./schema.arbitrary.suite.ts";
import { validateSchema } from "./schema-rules.ts";
import { MAX_ERRORS } from "../field-error.ts";

const crdKind = builtinSchema("apiextensions.k8s.io/v1", "CustomResourceDefinition");

export function schemaProperties(runs: number): void {
  const options = { numRuns: runs };

  it("a value that satisfies its schema still does after pruning and filling in defaults", () => {
    fc.assert(
      fc.property(schemaWithValue, ({ schema, value }) => {
        const compiled = compileSchema(schema);
        const stored = compiled.fillDefaults(compiled.prune(value, false).value);
        expect(compiled.validate(stored)).toEqual([]);
        expect(compiled.validateListTypes(stored)).toEqual([]);
      }),
      options,
    );
  });

  it("pruning and filling in defaults change nothing the second time, and never what they are given", () => {
    fc.assert(
      fc.property(schemaWithValue, anyValue, ({ schema }, value) => {
        const compiled = compileSchema(schema);
        const pruned = compiled.prune(deepFreeze(value), false).value;
        expect(compiled.prune(pruned, false)).toEqual({ value: pruned, unknownFields: [] });
        const filled = compiled.fillDefaults(deepFreeze(pruned));
        expect(compiled.fillDefaults(filled)).toBe(filled);
        expect(compiled.prune(filled, false).value).toEqual(filled);
      }),
      options,
    );
  });

  it("an update that changes nothing is accepted, however wrong the value is", () => {
    fc.assert(
      fc.property(schemaWithValue, anyValue, ({ schema }, value) => {
        expect(compileSchema(schema).validateUpdate(value, value)).toEqual([]);
      }),
      options,
    );
  });

  it("an update is refused only for reasons for which a create would be", () => {
    fc.assert(
      fc.property(schemaWithValue, anyValue, anyValue, ({ schema }, value, old) => {
        const compiled = compileSchema(schema);
        const reasons = compiled.validate(value).map(({ field }) => field);
        for (const { field } of compiled.validateUpdate(value, old))
          expect(reasons).toContain(field);
      }),
      options,
    );
  });

  it("an update that shares parts with the value before is judged as one that only equals them", () => {
    fc.assert(
      fc.property(schemaWithValue, anyValue, anyValue, ({ schema }, kept, changed) => {
        const compiled = compileSchema({
          type: "object",
          properties: { kept: schema, changed: schema },
        });
        const old = { kept, changed: kept };
        const shared = compiled.validateUpdate({ kept, changed }, old);
        expect(shared).toEqual(
          compiled.validateUpdate({ kept: structuredClone(kept), changed }, old),
        );
      }),
      options,
    );
  });

  it("structural schemas are accepted in a CRD", () => {
    fc.assert(
      fc.property(schemaWithValue, ({ schema }) => {
        expect(validateSchema(rootOf(schema), "schema", false)).toEqual([]);
      }),
      options,
    );
  });

  it("no schema and no value makes it throw or hang", () => {
    fc.assert(
      fc.property(nonsenseSchema, anyValue, anyValue, (schema, value, old) => {
        const crd = crdWith(rootOf(schema));
        const decoded = crdKind?.normalize(crd as JsonObject);
        // What the decoder refuses is never validated.
        if (decoded?.ok === true) validateCrd(asCrd(decoded.object as unknown as AnyObject));
        const kind = customKindSchema(crd, "v1");
        const normalized = kind.normalize(objectWith(value));
        if (!normalized.ok) return;
        const object = kind.applyDefaults(normalized.object) as unknown as AnyObject;
        const before = objectWith(old) as unknown as AnyObject;
        expect(kind.validateCreate(object).length).toBeLessThanOrEqual(MAX_ERRORS + 1);
        kind.validateUpdate(object, before);
        kind.validateStatusUpdate(object, before);
      }),
      options,
    );
  });
}

function rootOf(spec: JsonSchema): JsonSchema {
  return { type: "object", properties: { spec, status: spec } };
}

function objectWith(spec: Json): JsonObject {
  return {
    apiVersion: "ex.io/v1",
    kind: "Thing",
    metadata: { name: "a" },
    spec,
    status: spec,
  };
}

function crdWith(openAPIV3Schema: JsonSchema): CustomResourceDefinition {
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.ex.io" },
    spec: {
      group: "ex.io",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
    status: { storedVersions: ["v1"] },
  };
  return asCrd(crd as unknown as AnyObject);
}
