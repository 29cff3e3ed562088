import { describe, expect, it } from "vitest";
import type { AnyObject } from "../object.ts";
import { builtinResources } from "./resources.ts";
import { apiVersionOf } from "../resource.ts";
import { builtinSchema } from "./schema.ts";

describe("builtinSchema", () => {
  it("exists for every served kind, once", () => {
    for (const resource of builtinResources) {
      const schema = builtinSchema(apiVersionOf(resource), resource.kind);
      expect(schema, resource.kind).toBeDefined();
      expect(builtinSchema(apiVersionOf(resource), resource.kind)).toBe(schema);
    }
  });

  it("does not exist for other kinds", () => {
    expect(builtinSchema("v1", "Nothing")).toBeUndefined();
    expect(builtinSchema("apps/v2", "Deployment")).toBeUndefined();
    expect(builtinSchema("v1", "constructor")).toBeUndefined();
  });

  it("takes every kind with nothing but a name, and defaults it into something it can read again", () => {
    for (const resource of builtinResources) {
      const apiVersion = apiVersionOf(resource);
      const schema = builtinSchema(apiVersion, resource.kind);
      const body = { apiVersion, kind: resource.kind, metadata: { name: "x" } };
      const normalized = schema?.normalize(body);
      if (schema === undefined || normalized?.ok !== true) throw new Error(resource.kind);
      const object = schema.applyDefaults(normalized.object);
      expect(schema.normalize(object), resource.kind).toMatchObject({
        ok: true,
        unknownFields: [],
      });
      expect(schema.applyDefaults(object), resource.kind).toEqual(object);
      expect(Array.isArray(schema.validateCreate(object as unknown as AnyObject))).toBe(true);
    }
  });
});
