/**
 * JSON Patch as Kubernetes really does it, which is not quite RFC 6902:
 *
 * 1. `replace` of a missing key adds it; `copy` from a missing key adds null; a missing `value` is null.
 * 2. Negative list indices count from the end (`-1` is the last; for `add`, behind the last); leading zeros are fine.
 * 3. `test` of a missing key against null passes.
 * 4. Whatever stands before the first slash of a path is ignored.
 *
 * The patch is all or nothing. The document is never touched: a container is copied when first changed, later
 * operations of the same patch change that copy, so ten thousand operations cost ten thousand steps.
 */
import { type Json, isJsonObject, type JsonObject } from "../json.ts";
import { badRequest, failure, Refused } from "../status.ts";
import { exceedsDepth, MAX_DEPTH } from "../decode/depth.ts";
import { MAX_VALUES } from "../decode/limits.ts";
import { equalJson } from "../equal-json.ts";

export const MAX_OPERATIONS = 10_000;
/** How much `copy` may add in all, so that a small patch cannot double a document again and again; also in values: MAX_VALUES. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

type MutableObject = Record<string, Json>;
type Container = MutableObject | Json[];

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: Json;
}

/**
 * The patched document. Throws Refused: 400 when `operations` is no list of operations, 413 when it is too long, 422
 * when an operation cannot be applied.
 */
export function applyJsonPatch(document: Json, operations: unknown): Json {
  const list = checkOperations(operations);
  if (list.length === 0) return document;
  const draft = new Draft(document);
  for (const operation of list) draft.apply(operation);
  return draft.root;
}

function checkOperations(operations: unknown): readonly Operation[] {
  if (operations === null) return [];
  if (!Array.isArray(operations))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(operations)} into Go value of type []handlers.jsonPatchOp`,
    );
  for (const operation of operations as unknown[]) checkOperation(operation);
  if (operations.length > MAX_OPERATIONS)
    throw new Refused(
      failure(
        413,
        "RequestEntityTooLarge",
        `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
      ),
    );
  return operations as readonly Operation[];
}

function checkOperation(operation: unknown): void {
  if (operation === null) throw unprocessable();
  if (!isJsonObject(operation))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(operation)} into Go value of type handlers.jsonPatchOp`,
    );
  for (const field of ["op", "path", "from"]) {
    const value = operation[field] ?? "";
    if (typeof value !== "string")
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${goKind(value)} into Go struct field jsonPatchOp.${field} of type string`,
      );
  }
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

/** Servers answer every failed operation with this sentence. */
function unprocessable(): Refused {
  return new Refused(
    failure(422, "Invalid", "the server rejected our request due to an error in our request", {}),
  );
}

/** The document while it is being patched. */
class Draft {
  root: Json;
  /** The containers this patch has created, which it may therefore change. */
  readonly #mine = new Set<object>();
  #copiedBytes = 0;
  #copiedValues = 0;

  constructor(root: Json) {
    this.root = root;
  }

  apply(operation: Operation): void {
    const { op, path, from } = operation;
    if (typeof path !== "string") throw unprocessable();
    const value = operation.value ?? null;
    if (op === "add") this.#add(path, value);
    else if (op === "remove") this.#remove(path);
    else if (op === "replace") this.#replace(path, value);
    else if (op === "test") this.#test(path, value);
    else if (op === "move") this.#move(from, path);
    else if (op === "copy") this.#copy(from, path);
    else throw unprocessable();
  }

  #add(path: string, value: Json): void {
    const keys = splitPath(path);
    checkDepth(keys, value);
    const { parent, key } = this.#open(keys);
    if (!Array.isArray(parent)) {
      setKey(parent, key, value);
    } else if (key === "-") {
      parent.push(value);
    } else {
      // The list is about to have one more place: -1 is behind the last element.
      parent.splice(indexIn(parent.length + 1, key), 0, value);
    }
  }

  #remove(path: string): void {
    const { parent, key } = this.#open(splitPath(path));
    if (Array.isArray(parent)) {
      parent.splice(indexIn(parent.length, key), 1);
      return;
    }
    if (!Object.hasOwn(parent, key)) throw unprocessable();
    delete parent[key];
  }

  #replace(path: string, value: Json): void {
    if (path === "") {
      if (typeof value !== "object" || value === null) throw unprocessable();
      this.root = value;
      return;
    }
    const keys = splitPath(path);
    checkDepth(keys, value);
    const { parent, key } = this.#open(keys);
    if (Array.isArray(parent)) parent[indexIn(parent.length, key)] = value;
    else setKey(parent, key, value);
  }

  #test(path: string, value: Json): void {
    const found = path === "" ? this.root : this.#get(path);
    if (!equalJson(found ?? null, value)) throw unprocessable();
  }

  #move(from: unknown, path: string): void {
    if (typeof from !== "string") throw unprocessable();
    const value = this.#get(from) ?? null;
    this.#remove(from);
    this.#add(path, value);
  }

  #copy(from: unknown, path: string): void {
    if (typeof from !== "string") throw unprocessable();
    this.#add(path, this.#clone(this.#get(from) ?? null));
  }

  /** What a path leads to; undefined when only the last key is missing. */
  #get(path: string): Json | undefined {
    const keys = splitPath(path);
    let value: Json | undefined = this.root;
    for (let i = 0; i < keys.length; i++) {
      value = childOf(value, keys[i] as string);
      if (value === undefined && i < keys.length - 1) throw unprocessable();
    }
    return value;
  }

  /** The container that holds the last key, made changeable together with all that hold it. */
  #open(keys: readonly string[]): { readonly parent: Container; readonly key: string } {
    let parent = this.#owned(this.root);
    this.root = parent;
    for (let i = 0; i < keys.length - 1; i++) {
      const key = keys[i] as string;
      const child = this.#owned(childOf(parent, key));
      if (Array.isArray(parent)) parent[indexIn(parent.length, key)] = child;
      else parent[key] = child;
      parent = child;
    }
    return { parent, key: keys[keys.length - 1] as string };
  }

  #owned(value: Json | undefined): Container {
    if (typeof value !== "object" || value === null) throw unprocessable();
    if (this.#mine.has(value)) return value as Container;
    const copy = Array.isArray(value) ? [...(value as Json[])] : { ...(value as MutableObject) };
    this.#mine.add(copy);
    return copy;
  }

  /** A deep copy: the same container must not be changed in two places by a later operation. */
  #clone(value: Json): Json {
    this.#copiedBytes += sizeOfNode(value);
    this.#copiedValues += 1;
    if (this.#copiedBytes > MAX_COPIED_BYTES || this.#copiedValues > MAX_VALUES)
      throw unprocessable();
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: Json) => this.#clone(item));
    const copy: MutableObject = {};
    for (const [key, child] of Object.entries(value as JsonObject)) {
      this.#copiedBytes += key.length + 4;
      setKey(copy, key, this.#clone(child ?? null));
    }
    return copy;
  }
}

/** The keys of a path. What stands before the first slash does not count, and there must be a slash. */
function splitPath(path: string): string[] {
  const parts = path.split("/");
  if (parts.length < 2) throw unprocessable();
  const keys = parts.slice(1);
  return path.includes("~") ? keys.map(unescapeKey) : keys;
}

/** `~1` is a slash and `~0` a tilde; both are read in one go, so `~01` is `~1`. */
function unescapeKey(key: string): string {
  return key.replace(/~[01]/g, (escape) => (escape === "~1" ? "/" : "~"));
}

function checkDepth(keys: readonly string[], value: Json): void {
  if (exceedsDepth(value, MAX_DEPTH - keys.length)) throw unprocessable();
}

function childOf(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[indexIn(value.length, key)] as Json;
  if (typeof value !== "object" || value === null) throw unprocessable();
  return Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
}

/** The place a key means in a list of this length; refuses what is no number or out of range. */
function indexIn(length: number, key: string): number {
  if (!/^[+-]?[0-9]{1,18}$/.test(key)) throw unprocessable();
  const given = Number(key);
  const index = given < 0 ? given + length : given;
  if (index < 0 || index >= length) throw unprocessable();
  return index;
}

function setKey(object: MutableObject, key: string, value: Json): void {
  if (key === "__proto__") throw unprocessable();
  object[key] = value;
}

function sizeOfNode(value: Json): number {
  return typeof value === "string" ? value.length + 3 : 4;
}
