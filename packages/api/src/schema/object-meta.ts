/**
 * Metadata of custom resources and of the resources embedded in them, brought into the shape that a server stores: that
 * of `meta/v1.ObjectMeta`, read by the normalizer of the built-in kinds. The values (names, labels, …) are checked
 * elsewhere.
 */
import { assert } from "@lifeboat/base";
import { typeNamed } from "../builtin/description.ts";
import { createNormalizer } from "../builtin/normalize.ts";
import { isJsonObject, type Json } from "../json.ts";
import type { Normalized } from "../kind-schema.ts";

const OBJECT_META = typeNamed("meta.v1.ObjectMeta");
assert(OBJECT_META !== undefined, "the table of built-in types has ObjectMeta");
const normalize = createNormalizer(OBJECT_META);

/** `prefix` is the path of the metadata, for the paths of unknown fields: `metadata`, `spec.template.metadata`. */
export function normalizeObjectMeta(value: Json, prefix: string): Normalized {
  if (value === null) return { ok: true, object: {}, unknownFields: [] };
  if (!isJsonObject(value)) {
    const found = Array.isArray(value) ? "array" : GO_NAMES[typeof value];
    const message = `json: cannot unmarshal ${found} into Go value of type v1.ObjectMeta`;
    return { ok: false, message };
  }
  const normalized = normalize(value);
  if (!normalized.ok || normalized.unknownFields.length === 0) return normalized;
  const unknownFields = normalized.unknownFields.map((field) => `${prefix}.${field}`);
  return { ...normalized, unknownFields };
}

const GO_NAMES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  boolean: "bool",
};
