/**
 * The built-in kinds as data: which fields a type has, in what order, of what type, and how they are written.
 *
 * The table is generated from the Go types and the OpenAPI definitions of Kubernetes (tools/generate-builtins), because
 * what a real server does to a body follows from those types: which zero values it prints, which it leaves out, what
 * merges by which key, which protobuf tag is which field.
 *
 * 1. Types are made when first asked for, once, and never change.
 * 2. `fields` is flat: embedded structs are resolved as Go's JSON encoder does. `members` keeps them, because in
 *    protobuf an embedded struct is a message of its own.
 * 3. Types may refer to themselves (JSONSchemaProps), so whoever walks them must walk data, not types.
 */
import { assert } from "@lifeboat/base";
import { builtinTypesJson } from "../generated/builtin-types.ts";
import type { Json } from "../json.ts";

/** The types whose JSON form is one value, or that have rules of their own. */
export type ScalarName =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "float64"
  | "bytes"
  | "quantity"
  | "time"
  | "microTime"
  | "fieldsV1"
  | "intOrString"
  | "rawExtension"
  | "json"
  | "schemaOrBool"
  | "schemaOrArray"
  | "schemaOrStrings";

export type FieldType =
  | { readonly kind: "scalar"; readonly scalar: ScalarName; readonly goType: string }
  | { readonly kind: "object"; readonly type: TypeDescription; readonly goType: string }
  | {
      readonly kind: "list";
      readonly element: FieldType;
      readonly goType: string;
      /** In protobuf a message with the elements in field 1, not a repeated field (ExtraValue). */
      readonly wrapped: boolean;
    }
  /** Keys are strings. */
  | { readonly kind: "map"; readonly element: FieldType; readonly goType: string };

export interface FieldDescription {
  readonly name: string;
  readonly type: FieldType;
  /** Absent and zero are different things. */
  readonly pointer: boolean;
  /** Left out when empty. Has no effect on structs, as in Go. */
  readonly omitEmpty: boolean;
  /** Left out when zero, structs included. */
  readonly omitZero: boolean;
  /** The protobuf field number; 0 when the field does not travel in protobuf. */
  readonly tag: number;
  /** Strategic merge: `merge`, `replace`, `retainKeys` or `merge,retainKeys`. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  /** Server-side apply: `atomic`, `set` or `map`. */
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly required: boolean;
  /** Only defaults that somebody chose; `{}`, `""`, 0 and false go without saying. */
  readonly default?: Json;
  readonly enum?: readonly Json[];
  /** Only where the type does not imply it. */
  readonly format?: string;
}

/** A struct that is embedded in another: its fields are the owner's in JSON, and a message in protobuf. */
export interface EmbeddedDescription {
  readonly embedded: TypeDescription;
  /** The Go name of the embedding field, which decode messages show. */
  readonly goName: string;
  readonly tag: number;
}

export interface TypeDescription {
  /** `apps.v1.Deployment`. */
  readonly name: string;
  /** `Deployment`. */
  readonly goName: string;
  /** `io.k8s.api.apps.v1.Deployment`. */
  readonly openApiName: string;
  /** `atomic` for types that server-side apply owns as a whole. */
  readonly mapType?: string;
  readonly members: readonly (FieldDescription | EmbeddedDescription)[];
  readonly fields: readonly FieldDescription[];
}

/** The type of a served kind, or of DeleteOptions, Status and WatchEvent under any version; undefined when there is none. */
export function builtinType(apiVersion: string, kind: string): TypeDescription | undefined {
  const name = kindNames.get(`${apiVersion}/${kind}`) ?? kindNames.get(kind);
  return name === undefined ? undefined : mustType(name);
}

/** A type by its name in the table, such as `core.v1.PodSpec`. */
export function typeNamed(name: string): TypeDescription | undefined {
  return Object.hasOwn(table.types, name) ? mustType(name) : undefined;
}

/** Every described kind as `apiVersion/Kind`; kinds that belong to no version stand without one. */
export function builtinKinds(): readonly string[] {
  return Object.keys(table.kinds);
}

/** The rows as the generator writes them. */
interface FieldRow {
  /** Name; absent on embedded structs. */
  readonly n?: string;
  /** Type: a scalar's word, `[]T`, `[=]T` (wrapped list), `{}T`, or `@reference`. */
  readonly t: string;
  /** Go type, where it is not what the type implies. */
  readonly g?: string;
  /** The Go name of an embedded struct. */
  readonly i?: string;
  readonly p?: boolean;
  readonly o?: boolean;
  readonly z?: boolean;
  readonly b?: number;
  readonly ps?: string;
  readonly pk?: string;
  readonly lt?: string;
  readonly lk?: readonly string[];
  readonly mt?: string;
  readonly r?: boolean;
  readonly d?: Json;
  readonly e?: readonly Json[];
  readonly fm?: string;
}

interface Table {
  readonly packages: Readonly<Record<string, string>>;
  readonly kinds: Readonly<Record<string, string>>;
  readonly types: Readonly<
    Record<string, { readonly mt?: string; readonly f: readonly FieldRow[] }>
  >;
}

const table = JSON.parse(builtinTypesJson) as Table;
const kindNames = new Map(Object.entries(table.kinds));
const made = new Map<string, TypeDescription>();

function mustType(name: string): TypeDescription {
  const known = made.get(name);
  if (known !== undefined) return known;
  const row = table.types[name];
  assert(row !== undefined, "a type of the table exists", { name });
  const dot = name.lastIndexOf(".");
  const members = row.f.map(memberOf);
  const type: TypeDescription = {
    name,
    goName: name.slice(dot + 1),
    openApiName: `${table.packages[name.slice(0, dot)]}.${name.slice(dot + 1)}`,
    ...(row.mt === undefined ? {} : { mapType: row.mt }),
    members,
    fields: members.flatMap((member) => ("embedded" in member ? member.embedded.fields : [member])),
  };
  made.set(name, type);
  return type;
}

function memberOf(row: FieldRow): FieldDescription | EmbeddedDescription {
  if (row.i !== undefined)
    return { embedded: mustType(row.t.slice(1)), goName: row.i, tag: row.b ?? 0 };
  return {
    name: row.n ?? "",
    type: typeOf(row.t, row.g),
    pointer: row.p ?? false,
    omitEmpty: row.o ?? false,
    omitZero: row.z ?? false,
    tag: row.b ?? 0,
    ...(row.ps === undefined ? {} : { patchStrategy: row.ps }),
    ...(row.pk === undefined ? {} : { patchMergeKey: row.pk }),
    ...(row.lt === undefined ? {} : { listType: row.lt }),
    ...(row.lk === undefined ? {} : { listMapKeys: row.lk }),
    ...(row.mt === undefined ? {} : { mapType: row.mt }),
    required: row.r ?? false,
    ...(row.d === undefined ? {} : { default: row.d }),
    ...(row.e === undefined ? {} : { enum: row.e }),
    ...(row.fm === undefined ? {} : { format: row.fm }),
  };
}

/** Reads a type of the table's language. `goType` is given where the type has a Go name of its own. */
function typeOf(text: string, goType: string | undefined): FieldType {
  if (text.startsWith("@")) return new ObjectType(text.slice(1));
  if (text.startsWith("[")) {
    const wrapped = text.startsWith("[=]");
    const element = typeOf(text.slice(wrapped ? 3 : 2), elementGoType(goType));
    return { kind: "list", element, wrapped, goType: goType ?? `[]${element.goType}` };
  }
  if (text.startsWith("{}")) {
    const element = typeOf(text.slice(2), elementGoType(goType));
    return { kind: "map", element, goType: goType ?? `map[string]${element.goType}` };
  }
  const scalar = text as ScalarName;
  return { kind: "scalar", scalar, goType: goType ?? IMPLIED_GO_TYPES[scalar] };
}

/** `[]v1.X` and `map[K]v1.X` name their elements; a type like `v1.ResourceList` does not. */
function elementGoType(goType: string | undefined): string | undefined {
  if (goType?.startsWith("[]") === true) return goType.slice(2);
  if (goType?.startsWith("map[") === true) return goType.slice(goType.indexOf("]") + 1);
  return undefined;
}

/** A reference is resolved when it is followed, so that recursive types have an end. */
class ObjectType {
  readonly kind = "object";
  readonly goType: string;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
    this.goType = name.split(".").slice(-2).join(".");
  }

  get type(): TypeDescription {
    return mustType(this.#name);
  }
}

const IMPLIED_GO_TYPES: Readonly<Record<ScalarName, string>> = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  float64: "float64",
  bytes: "[]uint8",
  quantity: "resource.Quantity",
  time: "v1.Time",
  microTime: "v1.MicroTime",
  fieldsV1: "v1.FieldsV1",
  intOrString: "intstr.IntOrString",
  rawExtension: "runtime.RawExtension",
  json: "v1.JSON",
  schemaOrBool: "v1.JSONSchemaPropsOrBool",
  schemaOrArray: "v1.JSONSchemaPropsOrArray",
  schemaOrStrings: "v1.JSONSchemaPropsOrStringArray",
};
