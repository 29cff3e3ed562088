/** Brings the body of a built-in kind into the shape the server stores. */
import type { JsonObject } from "../json.ts";
import type { Normalized } from "../kind-schema.ts";
import type { TypeDescription } from "./description.ts";

/** A function that normalizes bodies of this type. */
export function createNormalizer(_type: TypeDescription): (body: JsonObject) => Normalized {
  return (object) => ({ ok: true, object, unknownFields: [] });
}
