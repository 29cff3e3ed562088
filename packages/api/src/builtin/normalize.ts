/**
 * Brings the body of a built-in kind into the shape the server stores: what decoding it into Go structs and encoding
 * them again would leave. One pass over the body follows the plans of normalize-plan.ts.
 *
 * 1. Unknown fields are dropped and reported by path, in the order of the document. Names are case-sensitive.
 * 2. null is absent. Absent and empty are left out or written out as the Go field says (omitempty, pointer or not):
 *    `resources: {}`, `rules: null`, `divisor: "0"`. An empty list that is not left out is null, because that is what
 *    comes back from storage.
 * 3. Quantities, times and base64 come out in canonical form.
 * 4. The body is never changed. What needs no change is shared with it, down to the whole object.
 * 5. Fields come out in the order of the Go struct, so kind, apiVersion and metadata are first.
 * 6. The result is normal: normalizing it again changes nothing.
 * 7. The first value of a wrong type is the error; but a value that a type's own decoder refuses (quantity, time,
 *    int-or-string) goes before it, wherever it stands, because there Go's decoder stops.
 */
import { assert, unreachable } from "@lifeboat/base";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { Normalized } from "../kind-schema.ts";
import { canonicalQuantity } from "../quantity/quantity.ts";
import { MAX_TOLD_FIELDS, shownKey } from "../shown-path.ts";
import { canonicalBase64, encodeBase64 } from "./base64.ts";
import { type TypeDescription, typeNamed } from "./description.ts";
import {
  type FieldPlan,
  type ListPlan,
  type MapPlan,
  ObjectPlan,
  type ScalarPlan,
  type ValuePlan,
  zeroElement,
} from "./normalize-plan.ts";
import { canonicalTime, type TimeLayout } from "./time-text.ts";

/** Fields and indices from the root. Only the schema in a CRD can nest without end. */
const MAX_DEPTH = 1000;
const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);
const MAX_INT64 = 2 ** 63;
const NO_FIELDS: readonly string[] = [];

/** A function that normalizes bodies of this type. It never throws and keeps nothing between calls. */
export function createNormalizer(type: TypeDescription): (body: JsonObject) => Normalized {
  const plan = new ObjectPlan({ type, goType: type.goName });
  return (body) => new Pass().run(plan, body);
}

/** The state of one pass over one body. */
class Pass {
  readonly #unknown: string[] = [];
  /** The fields, indices and map keys that lead to where the pass is. */
  readonly #path: (FieldPlan | number | string)[] = [];
  /** The fields read so far of the objects that are being read, innermost last. */
  readonly #fields: FieldPlan[] = [];
  readonly #values: Json[] = [];
  #top = 0;
  /** Above zero inside of values with decoders of their own, where the real server does not report unknown fields. */
  #silent = 0;
  #mismatch: string | undefined;
  #refusal: string | undefined;

  run(plan: ObjectPlan, body: JsonObject): Normalized {
    const object = this.#readObject(plan, body);
    const message = this.#refusal ?? this.#mismatch;
    if (message !== undefined) return { ok: false, message };
    return {
      ok: true,
      object,
      unknownFields: this.#unknown.length === 0 ? NO_FIELDS : this.#unknown,
    };
  }

  #readObject(plan: ObjectPlan, body: JsonObject): JsonObject {
    const { fields, always } = plan;
    const base = this.#top;
    let changed = false;
    let lastIndex = -1;
    let alwaysSeen = 0;
    for (const key in body) {
      const value = body[key];
      const field = fields.get(key);
      if (field === undefined) {
        this.#noteUnknown(key);
        changed = true;
        continue;
      }
      const result = this.#readField(field, value);
      if (result === undefined) {
        changed = true;
        continue;
      }
      if (result !== value || field.index < lastIndex) changed = true;
      if (field.absent !== undefined) alwaysSeen += 1;
      lastIndex = field.index;
      this.#fields[this.#top] = field;
      this.#values[this.#top++] = result;
    }
    const object =
      !changed && alwaysSeen === always.length ? body : this.#buildObject(always, base);
    this.#top = base;
    return object;
  }

  /** Writes the fields read since `base` in their order, and between them those that are written even when absent. */
  #buildObject(always: readonly FieldPlan[], base: number): JsonObject {
    this.#sortFields(base);
    const fields = this.#fields;
    const object: Record<string, Json> = {};
    let at = base;
    for (const field of always) {
      for (; at < this.#top; at++) {
        const read = fields[at];
        if (read === undefined || read.index >= field.index) break;
        object[read.name] = this.#values[at] ?? null;
      }
      const isRead = at < this.#top && fields[at] === field;
      object[field.name] = (isRead ? this.#values[at++] : field.absent) ?? null;
    }
    for (; at < this.#top; at++) {
      const read = fields[at];
      if (read !== undefined) object[read.name] = this.#values[at] ?? null;
    }
    return object;
  }

  /** Few fields, often in order: insertion sort. */
  #sortFields(base: number): void {
    const fields = this.#fields;
    const values = this.#values;
    for (let i = base + 1; i < this.#top; i++) {
      const field = fields[i] as FieldPlan;
      const value = values[i] as Json;
      let at = i;
      for (; at > base; at--) {
        const before = fields[at - 1] as FieldPlan;
        if (before.index < field.index) break;
        fields[at] = before;
        values[at] = values[at - 1] as Json;
      }
      fields[at] = field;
      values[at] = value;
    }
  }

  /** The value to write; undefined when the field is left out. */
  #readField(field: FieldPlan, value: Json | undefined): Json | undefined {
    if (value === undefined) return undefined;
    if (value === null) return field.absent === null ? null : undefined;
    const plan = field.value;
    let result: Json | undefined;
    if (plan.kind === "scalar" && plan.scalar === "string" && typeof value === "string") {
      result = value;
    } else {
      this.#path.push(field);
      result = this.#readValue(plan, value);
      this.#path.pop();
    }
    if (result === null) return field.absent === null ? null : undefined;
    if (field.omitEmpty && (result === "" || result === 0 || result === false)) return undefined;
    return result;
  }

  #readValue(plan: ValuePlan, value: Json): Json | undefined {
    switch (plan.kind) {
      case "scalar":
        return this.#readScalar(plan, value);
      case "object":
        return this.#readStruct(plan, value);
      case "list":
        return this.#readList(plan, value);
      case "map":
        return this.#readMap(plan, value);
      default:
        return unreachable(plan);
    }
  }

  #readStruct(plan: ObjectPlan, value: Json): JsonObject | undefined {
    if (!isJsonObject(value)) return this.#fail(value, plan.goType);
    if (this.#path.length > MAX_DEPTH) return this.#refuse("exceeded max depth");
    return this.#readObject(plan, value);
  }

  #readList(plan: ListPlan, value: Json): readonly Json[] | null | undefined {
    if (!Array.isArray(value)) return this.#fail(value, plan.goType);
    const list: readonly Json[] = value;
    if (list.length === 0) return plan.wrapped ? list : null;
    let copy: Json[] | undefined;
    for (let i = 0; i < list.length; i++) {
      const item = list[i] ?? null;
      this.#path.push(i);
      const result =
        (item === null ? zeroElement(plan.element) : this.#readValue(plan.element, item)) ?? null;
      this.#path.pop();
      if (copy === undefined && result !== item) copy = list.slice(0, i);
      copy?.push(result);
    }
    return copy ?? list;
  }

  #readMap(plan: MapPlan, value: Json): JsonObject | null | undefined {
    if (!isJsonObject(value)) return this.#fail(value, plan.goType);
    let copy: Record<string, Json> | undefined;
    let isEmpty = true;
    for (const key in value) {
      isEmpty = false;
      const result = this.#readMapValue(plan.element, key, value[key]);
      if (copy === undefined && result !== value[key]) copy = entriesBefore(value, key);
      if (copy !== undefined) setKey(copy, key, result);
    }
    return isEmpty ? null : (copy ?? value);
  }

  #readMapValue(plan: ValuePlan, key: string, value: Json | undefined): Json {
    if (value === null || value === undefined) return zeroElement(plan);
    if (typeof value === "string" && plan.kind === "scalar" && plan.scalar === "string")
      return value;
    this.#path.push(key);
    const result = this.#readValue(plan, value);
    this.#path.pop();
    return result ?? null;
  }

  #readScalar(plan: ScalarPlan, value: Json): Json | undefined {
    switch (plan.scalar) {
      case "string":
        return typeof value === "string" ? value : this.#fail(value, plan.goType);
      case "bool":
        return typeof value === "boolean" ? value : this.#fail(value, plan.goType);
      case "int32":
        return isInt32(value) ? value : this.#failNumber(value, plan.goType);
      case "int64":
        return isInt64(value) ? value : this.#failNumber(value, plan.goType);
      case "float64":
        return Number.isFinite(value) ? value : this.#failNumber(value, plan.goType);
      case "intOrString":
        return typeof value === "string" || isInt32(value) ? value : this.#refuseIntOrString(value);
      case "quantity":
        return this.#readQuantity(value);
      case "time":
        return this.#readTime(value, "seconds");
      case "microTime":
        return this.#readTime(value, "microseconds");
      case "bytes":
        return this.#readBytes(plan, value);
      case "schemaOrBool":
      case "schemaOrArray":
      case "schemaOrStrings":
        return this.#readSchemaOr(plan.scalar, value);
      case "json":
      case "rawExtension":
      case "fieldsV1":
        return value;
      default:
        return unreachable(plan.scalar);
    }
  }

  #readQuantity(value: Json): string | undefined {
    const text =
      typeof value === "string" ? value : typeof value === "number" ? showNumber(value) : "";
    return canonicalQuantity(text) ?? this.#refuse(quantityProblem(text));
  }

  #readTime(value: Json, layout: TimeLayout): string | null | undefined {
    if (typeof value !== "string") return this.#refuse(this.#describe(value, "string"));
    const time = canonicalTime(value, layout);
    return time.ok ? time.text : this.#refuse(time.message);
  }

  #readBytes(plan: ScalarPlan, value: Json): string | undefined {
    if (typeof value === "string") {
      const base64 = canonicalBase64(value);
      if (base64.ok) return base64.text;
      this.#mismatch ??= base64.message;
      return undefined;
    }
    return Array.isArray(value) ? this.#readByteList(value) : this.#fail(value, plan.goType);
  }

  /** Go also reads a list of numbers as bytes. */
  #readByteList(list: readonly Json[]): string | undefined {
    for (const item of list) {
      if (item !== null && !isByte(item)) return this.#failNumber(item, "uint8");
    }
    return encodeBase64(Uint8Array.from(list, (item) => Number(item)));
  }

  /** The places in a CRD's schema where a schema may stand, or something simpler. */
  #readSchemaOr(
    what: "schemaOrBool" | "schemaOrArray" | "schemaOrStrings",
    value: Json,
  ): Json | undefined {
    if (what === "schemaOrBool" && typeof value === "boolean") return value;
    if (!isJsonObject(value) && what === "schemaOrBool")
      return this.#refuse("boolean or JSON schema expected");
    // Go takes anything else for nothing, and writes null, which it reads as absent.
    if (typeof value !== "object") return null;
    this.#silent += 1;
    const before = this.#mismatch;
    const result = Array.isArray(value)
      ? this.#readList(what === "schemaOrArray" ? SCHEMAS : STRINGS, value)
      : this.#readStruct(SCHEMA, value);
    // These types decode themselves, so that their mismatches end the decoding (7).
    if (before === undefined && this.#mismatch !== undefined) this.#refuse(this.#mismatch);
    this.#silent -= 1;
    return result;
  }

  #noteUnknown(key: string): void {
    if (this.#silent > 0 || this.#unknown.length >= MAX_TOLD_FIELDS) return;
    let path = "";
    for (const step of this.#path) {
      if (typeof step === "number") path += `[${step}]`;
      else path += (path === "" ? "" : ".") + shownKey(typeof step === "string" ? step : step.name);
    }
    this.#unknown.push(path === "" ? shownKey(key) : `${path}.${shownKey(key)}`);
  }

  /** Keeps the first mismatch as the answer. */
  #fail(value: Json, goType: string): undefined {
    this.#mismatch ??= this.#describe(value, goType);
  }

  /** Where a number was expected the message shows which one did not fit. */
  #failNumber(value: Json, goType: string): undefined {
    this.#mismatch ??= this.#describe(value, goType, true);
  }

  #refuseIntOrString(value: Json): undefined {
    this.#refuse(this.#describe(value, "int32", true));
  }

  /** Keeps the first refusal as the answer, before any mismatch. */
  #refuse(message: string): undefined {
    this.#refusal ??= message;
  }

  /** The words of Go's decoder. The path names fields only, with the structs they are embedded through. */
  #describe(value: Json, goType: string, withNumber = false): string {
    const fields = this.#path.filter((step) => typeof step === "object");
    const owner = fields.at(-1)?.owner ?? "";
    const path = fields.map((field) => field.goPath).join(".");
    const what = withNumber && typeof value === "number" ? `number ${showNumber(value)}` : "";
    return `json: cannot unmarshal ${what || jsonType(value)} into Go struct field ${owner}.${path} of type ${goType}`;
  }
}

const STRINGS: ListPlan = {
  kind: "list",
  element: { kind: "scalar", scalar: "string", goType: "string" },
  goType: "[]string",
  wrapped: false,
};

const SCHEMA = new ObjectPlan({ type: schemaType(), goType: "v1.JSONSchemaProps" });
const SCHEMAS: ListPlan = {
  kind: "list",
  element: SCHEMA,
  goType: "[]v1.JSONSchemaProps",
  wrapped: false,
};

function schemaType(): TypeDescription {
  const type = typeNamed("apiextensions.v1.JSONSchemaProps");
  assert(type !== undefined, "the schema type is described");
  return type;
}

function isInt32(value: Json): value is number {
  return (
    Number.isInteger(value) && (value as number) <= MAX_INT32 && (value as number) >= MIN_INT32
  );
}

function isInt64(value: Json): value is number {
  return (
    Number.isInteger(value) && (value as number) < MAX_INT64 && (value as number) >= -MAX_INT64
  );
}

function isByte(value: Json): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;
}

/** A number as it probably stood in the body. */
function showNumber(value: number): string {
  return String(value).replace("e+", "e");
}

function jsonType(value: Json): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

const QUANTITY_PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";

function quantityProblem(text: string): string {
  return new RegExp(QUANTITY_PATTERN).test(text.trim())
    ? "unable to parse quantity's suffix"
    : `quantities must match the regular expression '${QUANTITY_PATTERN}'`;
}

/** A copy of the entries that stand before `key`. */
function entriesBefore(map: JsonObject, key: string): Record<string, Json> {
  const copy: Record<string, Json> = {};
  for (const name in map) {
    if (name === key) break;
    setKey(copy, name, map[name] ?? null);
  }
  return copy;
}

/** Any text may be a key of a map; `__proto__` must not become the object's prototype. */
function setKey(map: Record<string, Json>, key: string, value: Json): void {
  if (key !== "__proto__") {
    map[key] = value;
    return;
  }
  Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}
