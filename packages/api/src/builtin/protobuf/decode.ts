/**
 * Reads request bodies in protobuf, which Go clients send for built-in kinds.
 *
 * A body is the bytes `k8s\0` and an envelope that names the kind and holds the object. The object becomes the JSON that
 * the same object would have been sent as, except that zero values are all there: protobuf does not tell zero from
 * absent where Go does not. Normalizing it (normalize.ts), as every body is, removes what JSON would not have had.
 *
 * 1. Bytes that are not such a body are a ProtobufError, those that hold too much a TooLargeError. Nothing else is thrown.
 * 2. Unknown field numbers are passed over, as protobuf demands.
 * 3. Work and memory are bounded by the length of the body and the number of its values, depth by MAX_DEPTH.
 */
import { unreachable } from "@lifeboat/base";
import { MAX_DEPTH } from "../../decode/depth.ts";
import { decodeJson, TooLargeError } from "../../decode/json.ts";
import type { Json, JsonObject } from "../../json.ts";
import { encodeBase64 } from "../base64.ts";
import {
  builtinType,
  type EmbeddedDescription,
  type FieldDescription,
  type FieldType,
  type ScalarName,
  type TypeDescription,
  typeNamed,
} from "../description.ts";
import { BYTES, FIXED64, ProtobufError, Reader, VARINT } from "./reader.ts";

export interface DecodedProtobuf {
  readonly apiVersion: string;
  readonly kind: string;
  /** With apiVersion and kind; not normalized and not frozen. */
  readonly object: JsonObject;
}

const MAGIC: readonly number[] = [0x6b, 0x38, 0x73, 0];

/**
 * Reads a body. What the envelope leaves open (clients may leave out version and kind where the URL implies them) is taken
 * from `expected`. Throws ProtobufError.
 */
export function decodeProtobuf(
  bytes: Uint8Array,
  expected: { readonly apiVersion: string; readonly kind: string } = { apiVersion: "", kind: "" },
): DecodedProtobuf {
  if (!MAGIC.every((byte, i) => bytes[i] === byte))
    throw new ProtobufError("the body does not start with the mark of Kubernetes protobuf");
  const envelope = readEnvelope(new Reader(bytes, MAGIC.length));
  const apiVersion = envelope.apiVersion || expected.apiVersion;
  const kind = envelope.kind || expected.kind;
  const type = builtinType(apiVersion, kind);
  if (type === undefined)
    throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  const object: MutableObject = { kind, apiVersion };
  readMessage(new Reader(envelope.raw), type, object, 0);
  return { apiVersion, kind, object };
}

type MutableObject = Record<string, Json>;

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

function readEnvelope(reader: Reader): Envelope {
  const envelope: Envelope = { apiVersion: "", kind: "", raw: new Uint8Array() };
  readFields(reader, (key) => {
    if (key === 1 * 8 + BYTES) readTypeMeta(reader, envelope);
    else if (key === 2 * 8 + BYTES) envelope.raw = reader.bytes();
    else if (key === 3 * 8 + BYTES) refuseEncoding(reader.text());
    else return false;
    return true;
  });
  return envelope;
}

function readTypeMeta(reader: Reader, envelope: Envelope): void {
  const outer = reader.enter();
  readFields(reader, (key) => {
    if (key === 1 * 8 + BYTES) envelope.apiVersion = reader.text();
    else if (key === 2 * 8 + BYTES) envelope.kind = reader.text();
    else return false;
    return true;
  });
  reader.leave(outer);
}

function refuseEncoding(encoding: string): void {
  if (encoding !== "") throw new ProtobufError(`unsupported content encoding "${encoding}"`);
}

/** Calls `read` with every key until the end of the message, and passes over what it does not take. */
function readFields(reader: Reader, read: (key: number) => boolean): void {
  while (!reader.isAtEnd) {
    const key = reader.key();
    if (!read(key)) reader.skip(key & 7);
  }
}

type Member = FieldDescription | EmbeddedDescription;

const members = new WeakMap<TypeDescription, readonly (Member | undefined)[]>();

/** The members of a type by their field numbers. */
function membersOf(type: TypeDescription): readonly (Member | undefined)[] {
  const known = members.get(type);
  if (known !== undefined) return known;
  const byTag: (Member | undefined)[] = [];
  for (const member of type.members) if (member.tag > 0) byTag[member.tag] = member;
  members.set(type, byTag);
  return byTag;
}

function readMessage(
  reader: Reader,
  type: TypeDescription,
  object: MutableObject,
  depth: number,
): void {
  if (depth > MAX_DEPTH) throw new ProtobufError("exceeded max depth");
  const byTag = membersOf(type);
  while (!reader.isAtEnd) {
    const key = reader.key();
    const member = byTag[key >>> 3];
    if (member === undefined) reader.skip(key & 7);
    else if ("embedded" in member) {
      mustBe(key, BYTES);
      const outer = reader.enter();
      readMessage(reader, member.embedded, object, depth + 1);
      reader.leave(outer);
    } else readField(reader, key, member, object, depth);
  }
}

function readField(
  reader: Reader,
  key: number,
  field: FieldDescription,
  object: MutableObject,
  depth: number,
): void {
  const { name, type } = field;
  switch (type.kind) {
    case "list": {
      const list = (object[name] ??= []) as Json[];
      readElements(reader, key, type.element, list, depth);
      return;
    }
    case "map": {
      const map = (object[name] ??= {}) as MutableObject;
      readEntry(reader, key, type.element, map, depth);
      return;
    }
    case "object": {
      // A message that comes in pieces is one message.
      const part = (object[name] ??= {}) as MutableObject;
      readNested(reader, key, type.type, part, depth);
      return;
    }
    case "scalar":
      object[name] = readScalar(reader, key, type.scalar, depth);
      return;
    default:
      unreachable(type);
  }
}

/** One element, or several where numbers are packed into one value. */
function readElements(
  reader: Reader,
  key: number,
  type: FieldType,
  list: Json[],
  depth: number,
): void {
  const isPacked =
    (key & 7) === BYTES &&
    type.kind === "scalar" &&
    (type.scalar === "int32" || type.scalar === "int64");
  if (!isPacked) {
    list.push(readValue(reader, key, type, depth));
    return;
  }
  const outer = reader.enter();
  while (!reader.isAtEnd) {
    reader.countValue();
    list.push(type.scalar === "int32" ? reader.int32() : reader.int64());
  }
  reader.leave(outer);
}

/** A map is a list of messages with the key in field 1 and the value in field 2. */
function readEntry(
  reader: Reader,
  key: number,
  type: FieldType,
  map: MutableObject,
  depth: number,
): void {
  mustBe(key, BYTES);
  const outer = reader.enter();
  let name = "";
  let value: Json | undefined;
  while (!reader.isAtEnd) {
    const part = reader.key();
    if (part === 1 * 8 + BYTES) name = reader.text();
    else if (part >>> 3 === 2) value = readValue(reader, part, type, depth + 1);
    else reader.skip(part & 7);
  }
  reader.leave(outer);
  // As in JSON bodies, so that no code behind this point has to be afraid of it.
  if (name === "__proto__") throw new ProtobufError('a map has the key "__proto__"');
  // Without a value it is the zero value, which normalizing makes of null.
  map[name] = value ?? null;
}

function readValue(reader: Reader, key: number, type: FieldType, depth: number): Json {
  switch (type.kind) {
    case "scalar":
      return readScalar(reader, key, type.scalar, depth);
    case "object": {
      const object: MutableObject = {};
      readNested(reader, key, type.type, object, depth);
      return object;
    }
    case "list":
      return readWrappedList(reader, key, type.element, depth);
    case "map":
      throw new ProtobufError("a map stands where none can be");
    default:
      return unreachable(type);
  }
}

function readNested(
  reader: Reader,
  key: number,
  type: TypeDescription,
  object: MutableObject,
  depth: number,
): void {
  mustBe(key, BYTES);
  const outer = reader.enter();
  readMessage(reader, type, object, depth + 1);
  reader.leave(outer);
}

function readWrappedList(reader: Reader, key: number, type: FieldType, depth: number): Json {
  mustBe(key, BYTES);
  const list: Json[] = [];
  const outer = reader.enter();
  readFields(reader, (part) => {
    if (part >>> 3 !== 1) return false;
    readElements(reader, part, type, list, depth + 1);
    return true;
  });
  reader.leave(outer);
  return list;
}

function mustBe(key: number, wireType: number): void {
  if ((key & 7) !== wireType)
    throw new ProtobufError(`wrong wire type ${key & 7} for field ${key >>> 3}`);
}

function readScalar(reader: Reader, key: number, scalar: ScalarName, depth: number): Json {
  mustBe(key, WIRE_TYPES[scalar] ?? BYTES);
  switch (scalar) {
    case "string":
      return reader.text();
    case "bool":
      return reader.bool();
    case "int32":
      return reader.int32();
    case "int64":
      return reader.int64();
    case "float64":
      return readFloat(reader);
    case "bytes":
      return encodeBase64(reader.bytes());
    case "quantity":
    case "time":
    case "microTime":
    case "intOrString":
    case "rawExtension":
    case "fieldsV1":
    case "json":
    case "schemaOrBool":
    case "schemaOrArray":
    case "schemaOrStrings":
      return readSpecial(reader, scalar, depth);
    default:
      return unreachable(scalar);
  }
}

/** Everything not named here is length-delimited. */
const WIRE_TYPES: Readonly<Partial<Record<ScalarName, number>>> = {
  bool: VARINT,
  int32: VARINT,
  int64: VARINT,
  float64: FIXED64,
};

type SpecialName = Exclude<ScalarName, "string" | "bool" | "int32" | "int64" | "float64" | "bytes">;

/** The types that are messages in protobuf and something else in JSON. */
function readSpecial(reader: Reader, scalar: SpecialName, depth: number): Json {
  const outer = reader.enter();
  const value = readSpecialBody(reader, scalar, depth);
  reader.leave(outer);
  return value;
}

function readSpecialBody(reader: Reader, scalar: SpecialName, depth: number): Json {
  switch (scalar) {
    case "quantity":
      return readQuantity(reader);
    case "time":
    case "microTime":
      return readTime(reader, scalar);
    case "intOrString":
      return readIntOrString(reader);
    case "rawExtension":
    case "fieldsV1":
    case "json":
      return readRawJson(reader);
    case "schemaOrBool":
    case "schemaOrArray":
    case "schemaOrStrings":
      return readSchemaOr(reader, scalar, depth);
    default:
      return unreachable(scalar);
  }
}

function readFloat(reader: Reader): number {
  const value = reader.float64();
  if (!Number.isFinite(value)) throw new ProtobufError("a number is not finite");
  return value;
}

function readQuantity(reader: Reader): string {
  let text = "";
  readFields(reader, (key) => {
    if (key !== 1 * 8 + BYTES) return false;
    text = reader.text();
    return true;
  });
  return text === "" ? "0" : text;
}

/** An empty message is Go's zero time, which JSON writes as null. */
function readTime(reader: Reader, scalar: "time" | "microTime"): string | null {
  if (reader.isAtEnd) return null;
  let seconds = 0;
  let nanos = 0;
  readFields(reader, (key) => {
    if (key === 1 * 8 + VARINT) seconds = reader.int64();
    else if (key === 2 * 8 + VARINT) nanos = reader.int32();
    else return false;
    return true;
  });
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos > 999_999_999)
    throw new ProtobufError("a time is out of range");
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (scalar === "time") return `${whole}Z`;
  return `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z`;
}

/** The years 1 to 9999. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

function readIntOrString(reader: Reader): number | string {
  let isText = false;
  let number = 0;
  let text = "";
  readFields(reader, (key) => {
    if (key === 1 * 8 + VARINT) isText = reader.int64() === 1;
    else if (key === 2 * 8 + VARINT) number = reader.int32();
    else if (key === 3 * 8 + BYTES) text = reader.text();
    else return false;
    return true;
  });
  return isText ? text : number;
}

function readRawJson(reader: Reader): Json {
  let raw: Uint8Array | undefined;
  readFields(reader, (key) => {
    if (key !== 1 * 8 + BYTES) return false;
    raw = reader.bytes();
    return true;
  });
  if (raw === undefined || raw.length === 0) return null;
  reader.countJson(raw);
  try {
    return decodeJson(raw).value;
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    throw new ProtobufError("an embedded document is not JSON");
  }
}

/** The three types differ in which field is the schema. */
function readSchemaOr(
  reader: Reader,
  scalar: "schemaOrBool" | "schemaOrArray" | "schemaOrStrings",
  depth: number,
): Json {
  const schemaTag = scalar === "schemaOrBool" ? 2 : 1;
  let schema: MutableObject | undefined;
  let allows = false;
  const list: Json[] = [];
  readFields(reader, (key) => {
    if (key >>> 3 === schemaTag) {
      schema ??= {};
      readNested(reader, key, schemaType(), schema, depth + 1);
    } else if (key === 1 * 8 + VARINT) allows = reader.bool();
    else if (key === 2 * 8 + BYTES && scalar === "schemaOrStrings") list.push(reader.text());
    else if (key === 2 * 8 + BYTES) {
      const item: MutableObject = {};
      readNested(reader, key, schemaType(), item, depth + 1);
      list.push(item);
    } else return false;
    return true;
  });
  if (list.length > 0) return list;
  return schema ?? (scalar === "schemaOrBool" ? allows : null);
}

function schemaType(): TypeDescription {
  const type = typeNamed("apiextensions.v1.JSONSchemaProps");
  if (type === undefined) throw new ProtobufError("schemas are not described");
  return type;
}
