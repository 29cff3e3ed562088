/**
 * JSON into Lua's tables and back.
 *
 * 1. What goes in and comes out untouched is what it was, but for fields that are null: Lua has no such fields.
 * 2. An empty table may be a list or an object. One that came in is what it was; a new one is what stood at the same
 *    place of an argument; of one that stood nowhere nothing is known, and its field is left out.
 * 3. What JSON cannot express (functions, cycles, holes, keys of two kinds, numbers that are none) is refused with its
 *    place.
 */
import type { Json, JsonObject } from "@lifeboat/api";
import { bytesOf, type Lua, type LuaMachine, type LuaState } from "./script-lua-runtime.ts";

/** A result that is no JSON, in one sentence. */
export class NoJson extends Error {
  override readonly name = "NoJson";
}

const MAX_DEPTH = 256;
const MAX_VALUES = 500_000;
/** Slots for a key, a value and what the machine itself needs. */
const SLOTS = 8;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A text of Lua; bytes that are no UTF-8 become U+FFFD. */
export function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? "" : decoder.decode(bytes);
}

/** What a table was when it came in; `nulls`: the places of a list that Lua does not show. */
type Shape =
  | { readonly isList: true; readonly nulls: ReadonlySet<number> }
  | { readonly isList: false };

const FIELDS: Shape = { isList: false };

/** The tables of one call, with what is known of their shapes. */
export class LuaValues {
  readonly #lua: Lua;
  readonly #state: LuaState;
  readonly #shapes = new WeakMap<object, Shape>();
  readonly #given: readonly Json[];
  #places: ReadonlyMap<string, boolean> | undefined;
  #left = MAX_VALUES;

  /** `given`: what empty tables are compared with. */
  constructor({ lua }: LuaMachine, state: LuaState, given: readonly Json[]) {
    this.#lua = lua;
    this.#state = state;
    this.#given = given;
  }

  /** Puts a value on the stack. */
  push(value: Json): void {
    this.#push(value, 0);
  }

  /** The value at a place of the stack. Throws `NoJson`. */
  read(index: number): Json {
    const absolute = index < 0 ? this.#lua.lua_gettop(this.#state) + 1 + index : index;
    this.#left = MAX_VALUES;
    const value = this.#read(absolute, []);
    return value === undefined ? {} : value;
  }

  #push(value: Json, depth: number): void {
    const lua = this.#lua;
    const state = this.#state;
    if (depth > MAX_DEPTH || !lua.lua_checkstack(state, SLOTS))
      throw new NoJson(`an argument is nested deeper than ${MAX_DEPTH} levels`);
    if (value === null) lua.lua_pushnil(state);
    else if (typeof value === "string") lua.lua_pushstring(state, bytesOf(value));
    else if (typeof value === "number") lua.lua_pushnumber(state, value);
    else if (typeof value === "boolean") lua.lua_pushboolean(state, value);
    else if (isList(value)) this.#pushList(value, depth);
    else this.#pushFields(value, depth);
  }

  #pushList(list: readonly Json[], depth: number): void {
    const lua = this.#lua;
    lua.lua_createtable(this.#state, list.length, 0);
    const nulls = new Set<number>();
    this.#remember({ isList: true, nulls });
    list.forEach((item, index) => {
      if (item === null) {
        nulls.add(index + 1);
        return;
      }
      this.#push(item, depth + 1);
      lua.lua_rawseti(this.#state, -2, index + 1);
    });
  }

  #pushFields(fields: JsonObject, depth: number): void {
    const lua = this.#lua;
    lua.lua_createtable(this.#state, 0, 0);
    this.#remember(FIELDS);
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || value === null) continue;
      lua.lua_pushstring(this.#state, bytesOf(name));
      this.#push(value, depth + 1);
      lua.lua_rawset(this.#state, -3);
    }
  }

  #remember(shape: Shape): void {
    this.#shapes.set(this.#lua.lua_topointer(this.#state, -1), shape);
  }

  /** undefined: an empty table of which nothing is known. */
  #read(index: number, path: readonly string[]): Json | undefined {
    const lua = this.#lua;
    this.#left -= 1;
    if (this.#left < 0) throw new NoJson(`the result holds more than ${MAX_VALUES} values`);
    const type = lua.lua_type(this.#state, index);
    switch (type) {
      case lua.LUA_TNIL:
        return null;
      case lua.LUA_TBOOLEAN:
        return lua.lua_toboolean(this.#state, index);
      case lua.LUA_TSTRING:
        return textOf(lua.lua_tostring(this.#state, index));
      case lua.LUA_TNUMBER:
        return finite(lua.lua_tonumber(this.#state, index), path);
      case lua.LUA_TTABLE:
        return this.#readTable(index, path);
      default: {
        const name = textOf(lua.lua_typename(this.#state, type));
        throw new NoJson(`${placeOf(path)} is a ${name}, which is no JSON`);
      }
    }
  }

  #readTable(index: number, path: readonly string[]): Json | undefined {
    const lua = this.#lua;
    if (path.length > MAX_DEPTH || !lua.lua_checkstack(this.#state, SLOTS))
      throw new NoJson(`the result is nested deeper than ${MAX_DEPTH} levels, or without end`);
    const items = new Map<number, Json>();
    const fields = new Map<string, Json | undefined>();
    lua.lua_pushnil(this.#state);
    while (lua.lua_next(this.#state, index) !== 0) {
      const top = lua.lua_gettop(this.#state);
      const key = this.#readKey(top - 1, path);
      if (typeof key === "number") items.set(key, this.#read(top, [...path, `[${key}]`]) ?? {});
      else fields.set(key, this.#read(top, [...path, key]));
      lua.lua_pop(this.#state, 1);
    }
    if (items.size > 0 && fields.size > 0)
      throw new NoJson(`${placeOf(path)} has both numbers and names as keys`);
    const shape = this.#shapes.get(lua.lua_topointer(this.#state, index));
    if (items.size > 0) return listOf(items, shape, path);
    if (fields.size > 0) return fieldsOf(fields);
    return this.#empty(shape, path);
  }

  #readKey(index: number, path: readonly string[]): number | string {
    const lua = this.#lua;
    const type = lua.lua_type(this.#state, index);
    if (type === lua.LUA_TNUMBER) return lua.lua_tonumber(this.#state, index);
    if (type === lua.LUA_TSTRING) return textOf(lua.lua_tostring(this.#state, index));
    const name = textOf(lua.lua_typename(this.#state, type));
    throw new NoJson(`${placeOf(path)} has a key that is a ${name}, which is no JSON`);
  }

  #empty(shape: Shape | undefined, path: readonly string[]): Json | undefined {
    const wasList = shape?.isList ?? this.#shapeOfPlace(path);
    if (wasList === undefined) return undefined;
    return wasList ? [] : {};
  }

  /** What stands at a place of the arguments, list or not; undefined where nothing does. */
  #shapeOfPlace(path: readonly string[]): boolean | undefined {
    this.#places ??= placesOf(this.#given);
    return this.#places.get(JSON.stringify(path.filter((name) => !LIST_PLACE.test(name))));
  }
}

const LIST_PLACE = /^\[.*\]$/;

/** Fields in the order of their coming, which is that of the argument they came from. */
function fieldsOf(fields: ReadonlyMap<string, Json | undefined>): JsonObject {
  return Object.fromEntries([...fields].filter(([, value]) => value !== undefined));
}

function listOf(
  items: ReadonlyMap<number, Json>,
  shape: Shape | undefined,
  path: readonly string[],
): Json {
  const nulls = shape?.isList === true ? shape.nulls : NO_NULLS;
  const list: Json[] = [];
  let found = 0;
  for (let at = 1; found < items.size; at += 1) {
    const item = items.get(at);
    if (item !== undefined) found += 1;
    else if (!nulls.has(at)) throw holes(path);
    list.push(item ?? null);
  }
  return list;
}

const NO_NULLS: ReadonlySet<number> = new Set();

function holes(path: readonly string[]): NoJson {
  return new NoJson(`${placeOf(path)} has numbers as keys that are not 1, 2, 3 and so on`);
}

function finite(value: number, path: readonly string[]): number {
  if (!Number.isFinite(value)) throw new NoJson(`${placeOf(path)} is no finite number`);
  return value === 0 ? 0 : value;
}

function placeOf(path: readonly string[]): string {
  return path.length === 0 ? "the result" : `${path.join(".")} in the result`;
}

/** Where lists and objects stand in some values; places in lists count as one. */
function placesOf(values: readonly Json[]): ReadonlyMap<string, boolean> {
  const places = new Map<string, boolean>();
  const visit = (value: Json, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null || path.length > MAX_DEPTH) return;
    const key = JSON.stringify(path);
    if (!places.has(key)) places.set(key, isList(value));
    if (isList(value)) for (const item of value) visit(item, path);
    else
      for (const [name, item] of Object.entries(value))
        if (item !== undefined) visit(item, [...path, name]);
  };
  for (const value of values) visit(value, []);
  return places;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
