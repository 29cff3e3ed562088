/**
 * How the values of a built-in type are read, worked out once per type from its description (see normalize.ts, which
 * follows these plans). Plans of types that refer to themselves are made when they are first followed.
 */
import { unreachable } from "@lifeboat/base";
import type { Json, JsonObject } from "../json.ts";
import type { FieldDescription, FieldType, ScalarName, TypeDescription } from "./description.ts";

export interface ScalarPlan {
  readonly kind: "scalar";
  readonly scalar: ScalarName;
  readonly goType: string;
}

export interface ListPlan {
  readonly kind: "list";
  readonly element: ValuePlan;
  readonly goType: string;
  /** A message in storage, so that an empty list stays one. */
  readonly wrapped: boolean;
}

export interface MapPlan {
  readonly kind: "map";
  readonly element: ValuePlan;
  readonly goType: string;
}

export type ValuePlan = ScalarPlan | ObjectPlan | ListPlan | MapPlan;

export interface FieldPlan {
  readonly name: string;
  /** Where the field stands in its struct. */
  readonly index: number;
  readonly value: ValuePlan;
  /** What is written when there is no value; undefined when nothing is. */
  readonly absent: Json | undefined;
  /** Left out when empty: `""`, 0, false. Empty lists and maps are read as null. */
  readonly omitEmpty: boolean;
  /** For messages: the struct's name, and the field's with the names of the structs it is embedded through. */
  readonly owner: string;
  readonly goPath: string;
}

/** How a struct is read. Its fields are worked out when they are first asked for. */
export class ObjectPlan {
  readonly kind = "object";
  readonly goType: string;
  readonly #reference: { readonly type: TypeDescription };
  #fields: ReadonlyMap<string, FieldPlan> | undefined;
  #always: readonly FieldPlan[] | undefined;
  #zero: JsonObject | undefined;

  constructor(reference: { readonly type: TypeDescription; readonly goType: string }) {
    this.goType = reference.goType;
    this.#reference = reference;
  }

  get fields(): ReadonlyMap<string, FieldPlan> {
    return (this.#fields ??= fieldPlans(this.#reference.type));
  }

  /** The fields that are written even when absent, in order. */
  get always(): readonly FieldPlan[] {
    return (this.#always ??= [...this.fields.values()].filter((f) => f.absent !== undefined));
  }

  /** The struct with nothing set, as it is written. */
  get zero(): JsonObject {
    return (this.#zero ??= zeroObject(this.always));
  }
}

/** The plan for the values of a type. */
export function planOf(type: FieldType): ValuePlan {
  const { goType } = type;
  switch (type.kind) {
    case "scalar":
      return { kind: "scalar", scalar: type.scalar, goType };
    case "object":
      return new ObjectPlan(type);
    case "list":
      return { kind: "list", element: planOf(type.element), goType, wrapped: type.wrapped };
    case "map":
      return { kind: "map", element: planOf(type.element), goType };
    default:
      return unreachable(type);
  }
}

/** What null stands for as an element of a list or a value of a map. */
export function zeroElement(plan: ValuePlan): Json {
  if (plan.kind === "scalar") return plan.scalar === "bytes" ? "" : ZEROS[plan.scalar];
  if (plan.kind === "list" && plan.wrapped) return EMPTY;
  return plan.kind === "object" ? plan.zero : null;
}

const EMPTY: readonly Json[] = Object.freeze([]);

const fieldsByType = new WeakMap<TypeDescription, ReadonlyMap<string, FieldPlan>>();

function fieldPlans(type: TypeDescription): ReadonlyMap<string, FieldPlan> {
  const known = fieldsByType.get(type);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldPlan>();
  addFields(type, type.goName, "", fields);
  fieldsByType.set(type, fields);
  return fields;
}

function addFields(
  type: TypeDescription,
  owner: string,
  prefix: string,
  fields: Map<string, FieldPlan>,
): void {
  for (const member of type.members) {
    if ("embedded" in member) {
      addFields(member.embedded, owner, `${prefix}${member.goName}.`, fields);
      continue;
    }
    const value = planOf(member.type);
    fields.set(member.name, {
      name: member.name,
      index: fields.size,
      value,
      absent: absentValue(member, value),
      omitEmpty: member.omitEmpty && !member.pointer && canBeEmpty(value),
      owner,
      goPath: prefix + member.name,
    });
  }
}

function absentValue(field: FieldDescription, plan: ValuePlan): Json | undefined {
  if (field.omitZero) return undefined;
  if (field.pointer) return field.omitEmpty ? undefined : null;
  if (field.omitEmpty && canBeEmpty(plan)) return undefined;
  if (plan.kind === "scalar") return ZEROS[plan.scalar];
  return plan.kind === "object" ? plan.zero : null;
}

/** Go's omitempty looks at the kind of the value: what is a struct in Go is never empty. */
function canBeEmpty(plan: ValuePlan): boolean {
  return plan.kind === "scalar" ? NOT_STRUCTS.has(plan.scalar) : plan.kind !== "object";
}

const NOT_STRUCTS: ReadonlySet<ScalarName> = new Set<ScalarName>([
  "string",
  "bool",
  "int32",
  "int64",
  "float64",
  "bytes",
]);

function zeroObject(always: readonly FieldPlan[]): JsonObject {
  const zero: Record<string, Json> = {};
  for (const field of always) zero[field.name] = field.absent ?? null;
  return Object.freeze(zero);
}

const ZEROS: Readonly<Record<ScalarName, Json>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  bytes: null,
  quantity: "0",
  time: null,
  microTime: null,
  fieldsV1: null,
  intOrString: 0,
  rawExtension: null,
  json: null,
  schemaOrBool: false,
  schemaOrArray: null,
  schemaOrStrings: null,
};
