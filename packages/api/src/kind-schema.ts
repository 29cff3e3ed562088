/**
 * What the API server knows about the objects of one kind in one version. Built-in kinds (from the generated
 * description) and custom resources (from the schema in their CRD) both become one of these.
 */
import type { FieldError } from "./field-error.ts";
import type { JsonObject } from "./json.ts";
import type { MergeShape } from "./patch/merge-shape.ts";
import type { AnyObject } from "./object.ts";

/** The answer of `normalize`. */
export type Normalized =
  /** `unknownFields` are paths such as `spec.x`, in the order the server reports them; they are gone from `object`. */
  | { readonly ok: true; readonly object: JsonObject; readonly unknownFields: readonly string[] }
  /** The body cannot be read as this kind at all; the message is what follows `cannot be handled as a Deployment: `. */
  | { readonly ok: false; readonly message: string };

export interface KindSchema {
  /**
   * Brings a decoded body into the shape the server stores: unknown fields pruned, nulls and empty optional values
   * dropped, quantities in canonical form, as the real server's decoder and encoder would leave it.
   */
  normalize(body: JsonObject): Normalized;
  /** Fills in defaults. Idempotent. */
  applyDefaults(object: JsonObject): JsonObject;
  /** Everything but metadata, which is the same for all kinds and checked elsewhere. */
  validateCreate(object: AnyObject): readonly FieldError[];
  validateUpdate(object: AnyObject, old: AnyObject): readonly FieldError[];
  validateStatusUpdate(object: AnyObject, old: AnyObject): readonly FieldError[];
  /** What strategic merge needs; absent on custom resources, which refuse that patch type. */
  readonly mergeShape?: MergeShape;
}
