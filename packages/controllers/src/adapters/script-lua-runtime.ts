/**
 * The Lua machine: fengari, made to behave like Lua 5.1 and to count what it is asked to make.
 *
 * fengari is Lua 5.3 with integers of 32 bits. Users' scripts are written for 5.1, where every number is a double, so
 * numerals and converted texts become doubles here and whole numbers are written without a fraction. Its modules take
 * each other's functions when they are loaded; a function is therefore replaced in its module before others load it, and
 * each machine loads modules of its own: those of another machine in the process would charge that one's meter.
 *
 * 1. Every text that a script makes is charged to the meter of the call under way before it can grow without bounds.
 * 2. `ScriptStopped` passes through every `pcall`: a script cannot go on when its meter has stopped it.
 */
import { createRequire } from "node:module";

/** A state of the machine; opaque. */
export interface LuaState {
  readonly opaque: unique symbol;
}

export type LuaFunction = (state: LuaState) => number;

/** The part of fengari's interface that we use. Texts are bytes. */
export interface Lua {
  readonly LUA_OK: 0;
  readonly LUA_ERRSYNTAX: number;
  readonly LUA_MASKCOUNT: number;
  readonly LUA_TNIL: number;
  readonly LUA_TBOOLEAN: number;
  readonly LUA_TNUMBER: number;
  readonly LUA_TSTRING: number;
  readonly LUA_TTABLE: number;
  readonly LUA_TFUNCTION: number;
  lua_atnativeerror(state: LuaState, handler: LuaFunction): void;
  lua_checkstack(state: LuaState, slots: number): boolean;
  lua_createtable(state: LuaState, list: number, fields: number): void;
  lua_getfield(state: LuaState, index: number, name: Uint8Array): number;
  lua_getglobal(state: LuaState, name: Uint8Array): number;
  lua_gettop(state: LuaState): number;
  lua_len(state: LuaState, index: number): void;
  lua_next(state: LuaState, index: number): number;
  lua_pcall(state: LuaState, parameters: number, results: number, handler: number): number;
  lua_pop(state: LuaState, values: number): void;
  lua_pushboolean(state: LuaState, value: boolean): void;
  lua_pushcfunction(state: LuaState, value: LuaFunction): void;
  lua_pushnil(state: LuaState): void;
  lua_pushnumber(state: LuaState, value: number): void;
  lua_pushstring(state: LuaState, value: Uint8Array): void;
  lua_pushvalue(state: LuaState, index: number): void;
  lua_rawget(state: LuaState, index: number): number;
  lua_rawset(state: LuaState, index: number): void;
  lua_rawseti(state: LuaState, index: number, at: number): void;
  lua_setfield(state: LuaState, index: number, name: Uint8Array): void;
  lua_setglobal(state: LuaState, name: Uint8Array): void;
  lua_sethook(state: LuaState, hook: () => void, mask: number, count: number): void;
  lua_settop(state: LuaState, index: number): void;
  lua_toboolean(state: LuaState, index: number): boolean;
  lua_tocfunction(state: LuaState, index: number): LuaFunction | null;
  lua_tonumber(state: LuaState, index: number): number;
  lua_topointer(state: LuaState, index: number): object;
  lua_tostring(state: LuaState, index: number): Uint8Array | null;
  lua_touserdata(state: LuaState, index: number): unknown;
  lua_type(state: LuaState, index: number): number;
  lua_typename(state: LuaState, type: number): Uint8Array;
}

export interface LuaAuxiliary {
  luaL_checknumber(state: LuaState, argument: number): number;
  luaL_checkstring(state: LuaState, argument: number): Uint8Array;
  luaL_error(state: LuaState, message: Uint8Array): number;
  luaL_loadbuffer(state: LuaState, text: Uint8Array, size: number | null, name: Uint8Array): number;
  luaL_newstate(): LuaState;
  luaL_optnumber(state: LuaState, argument: number, otherwise: number): number;
  luaL_requiref(state: LuaState, name: Uint8Array, open: LuaFunction, global: boolean): void;
}

export interface LuaLibraries {
  readonly luaopen_base: LuaFunction;
  readonly luaopen_table: LuaFunction;
  readonly luaopen_string: LuaFunction;
  readonly luaopen_math: LuaFunction;
}

/** Thrown through the machine when a call has used up what it may use. */
export class ScriptStopped extends Error {
  override readonly name = "ScriptStopped";
  readonly kind: "timeout" | "memory";

  constructor(kind: "timeout" | "memory") {
    super(kind);
    this.kind = kind;
  }
}

/** What one call has used. */
export interface Meter {
  /** Set once the call has to end. */
  stopped: ScriptStopped | undefined;
  textBytes: number;
  instructions: number;
}

export interface LuaMachine {
  readonly lua: Lua;
  readonly auxiliary: LuaAuxiliary;
  readonly libraries: LuaLibraries;
  /** Runs something whose texts are charged to this meter. */
  metered<T>(meter: Meter, run: () => T): T;
  /** Counts bytes of text that are about to be made. Throws `ScriptStopped` when there are none left. */
  readonly charge: (bytes: number) => void;
}

interface LuaText {
  hash: string | null;
  readonly realstring: Uint8Array;
}

interface LuaValue {
  readonly value: number;
  ttisinteger(): boolean;
  setfltvalue(value: number): void;
  setsvalue(text: LuaText): void;
}

interface TextModule {
  luaS_hash: (bytes: Uint8Array) => string;
  luaS_hashlongstr: (text: LuaText) => string;
  luaS_bless: (state: LuaState, bytes: Uint8Array) => LuaText;
  luaS_new: (state: LuaState, bytes: Uint8Array) => LuaText;
}

interface ValueModule {
  luaO_str2num: (text: Uint8Array, value: LuaValue) => number;
  luaO_tostring: (state: LuaState, value: LuaValue) => void;
}

interface LuaBuffer {
  readonly n: number;
}

interface BufferModule extends LuaAuxiliary {
  luaL_addchar: (buffer: LuaBuffer, byte: number) => void;
  luaL_addlstring: (buffer: LuaBuffer, text: Uint8Array, length: number) => void;
  luaL_addstring: (buffer: LuaBuffer, text: Uint8Array) => void;
  luaL_addvalue: (buffer: LuaBuffer & { readonly L: LuaState }) => void;
  luaL_buffinitsize: (state: LuaState, buffer: LuaBuffer, size: number) => Uint8Array;
  luaL_prepbuffsize: (buffer: LuaBuffer, size: number) => Uint8Array;
  luaL_checkinteger: (state: LuaState, argument: number) => number;
  luaL_optinteger: (state: LuaState, argument: number, otherwise: number) => number;
  luaL_tolstring: (state: LuaState, index: number) => Uint8Array;
}

const encoder = new TextEncoder();

/** Bytes of a text as the machine takes them. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

const FENGARI = /[\\/]node_modules[\\/]fengari[\\/]/;

/** How deep calls may nest: thousands of levels, more than a sensible script ever needs. */
const STACK_SLOTS = 20_000;

let machine: LuaMachine | undefined;

/** The machine of this thread, loaded when it is first asked for. */
export function luaMachine(): LuaMachine {
  machine ??= withStackLimit(() => load(ownModules()));
  return machine;
}

/** Loads fengari's modules, none of which another copy of this module has loaded. */
function ownModules(): (path: string) => unknown {
  const require = createRequire(import.meta.url);
  for (const path of Object.keys(require.cache))
    if (FENGARI.test(path)) Reflect.deleteProperty(require.cache, path);
  return require;
}

function load(require: (path: string) => unknown): LuaMachine {
  let meter: Meter | undefined;
  const charge = (bytes: number): void => {
    if (meter === undefined) return;
    if (meter.stopped !== undefined) throw meter.stopped;
    meter.textBytes -= bytes;
    // Negated, so that a meter that is no number any more stops the call too.
    if (!(meter.textBytes >= 0)) throw stop(meter, "memory");
  };
  const text = require("fengari/src/lstring.js") as TextModule;
  meterTexts(text, charge);
  // The modules need each other in a circle, which holds only when it is entered here.
  const lua = require("fengari/src/lua.js") as Lua;
  numbersAreDoubles(require("fengari/src/lobject.js") as ValueModule, text);
  const auxiliary = require("fengari/src/lauxlib.js") as BufferModule;
  meterBuffers(auxiliary, charge);
  writeNumbers(auxiliary, lua);
  takeDoubles(auxiliary, lua);
  const libraries = require("fengari/src/lualib.js") as LuaLibraries;
  return {
    lua,
    auxiliary,
    libraries,
    charge,
    metered: (mine, run) => {
      const before = meter;
      meter = mine;
      try {
        return run();
      } finally {
        meter = before;
      }
    },
  };
}

/** Marks a call as ended; whatever catches the answer finds the mark. */
export function stop(meter: Meter, kind: ScriptStopped["kind"]): ScriptStopped {
  meter.stopped ??= new ScriptStopped(kind);
  return meter.stopped;
}

function meterTexts(text: TextModule, charge: (bytes: number) => void): void {
  const { luaS_bless, luaS_new } = text;
  // fengari's own key gives "\x01\x23" and "\x12\x03" the same place in a table.
  text.luaS_hash = (bytes) => `|${Buffer.from(bytes).toString("latin1")}`;
  text.luaS_hashlongstr = (given) => {
    given.hash ??= text.luaS_hash(given.realstring);
    return given.hash;
  };
  text.luaS_bless = (state, bytes) => {
    charge(bytes.length);
    return luaS_bless(state, bytes);
  };
  // A function of its own, not an arrow: fengari calls it with `new` in one place.
  text.luaS_new = function newText(state, bytes) {
    charge(bytes.length);
    return luaS_new(state, bytes);
  };
}

/** fengari reads its settings while it is loaded, from the environment. */
function withStackLimit<T>(read: () => T): T {
  const before = process.env["FENGARICONF"];
  process.env["FENGARICONF"] = JSON.stringify({ LUAI_MAXSTACK: STACK_SLOTS });
  try {
    return read();
  } finally {
    if (before === undefined) delete process.env["FENGARICONF"];
    else process.env["FENGARICONF"] = before;
  }
}

const HEXADECIMAL = /^\s*([-+]?)(0[xX][0-9a-fA-F]+)\s*$/;
const decoder = new TextDecoder("latin1");

function numbersAreDoubles(values: ValueModule, text: TextModule): void {
  const { luaO_str2num } = values;
  values.luaO_str2num = (given, value) => {
    const size = luaO_str2num(given, value);
    if (size === 0 || !value.ttisinteger()) return size;
    const hexadecimal = HEXADECIMAL.exec(decoder.decode(given.subarray(0, size - 1)));
    if (hexadecimal === null) value.setfltvalue(value.value);
    else value.setfltvalue(Number(hexadecimal[2]) * (hexadecimal[1] === "-" ? -1 : 1));
    return size;
  };
  values.luaO_tostring = (state, value) => {
    value.setsvalue(text.luaS_bless(state, bytesOf(writeNumber(value.value))));
  };
}

/** A number as scripts see it in texts: whole numbers without fraction and exponent. */
function writeNumber(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** `tostring` and `%s` write numbers by themselves. */
function writeNumbers(auxiliary: BufferModule, lua: Lua): void {
  const { luaL_tolstring } = auxiliary;
  auxiliary.luaL_tolstring = (state, index) => {
    if (lua.lua_type(state, index) !== lua.LUA_TNUMBER) return luaL_tolstring(state, index);
    const text = bytesOf(writeNumber(lua.lua_tonumber(state, index)));
    lua.lua_pushstring(state, text);
    return text;
  };
}

/** Functions that want an integer take any number in Lua 5.1, without its fraction. */
function takeDoubles(auxiliary: BufferModule, lua: Lua): void {
  const { luaL_checkinteger } = auxiliary;
  auxiliary.luaL_checkinteger = (state, argument) => {
    const whole = Math.trunc(auxiliary.luaL_checknumber(state, argument));
    return Number.isFinite(whole) ? whole : luaL_checkinteger(state, argument);
  };
  auxiliary.luaL_optinteger = (state, argument, otherwise) =>
    lua.lua_type(state, argument) <= lua.LUA_TNIL
      ? otherwise
      : auxiliary.luaL_checkinteger(state, argument);
}

/** What is gathered in a buffer becomes a text only at the end; it has to be charged while it grows. */
function meterBuffers(auxiliary: BufferModule, charge: (bytes: number) => void): void {
  const { luaL_addchar, luaL_addlstring, luaL_addstring, luaL_addvalue } = auxiliary;
  const { luaL_buffinitsize, luaL_prepbuffsize } = auxiliary;
  auxiliary.luaL_addchar = (buffer, byte) => {
    charge(1);
    luaL_addchar(buffer, byte);
  };
  auxiliary.luaL_addlstring = (buffer, bytes, length) => {
    charge(length);
    luaL_addlstring(buffer, bytes, length);
  };
  auxiliary.luaL_addstring = (buffer, bytes) => {
    charge(bytes.length);
    luaL_addstring(buffer, bytes);
  };
  auxiliary.luaL_addvalue = (buffer) => {
    const before = buffer.n;
    luaL_addvalue(buffer);
    charge(buffer.n - before);
  };
  auxiliary.luaL_buffinitsize = (state, buffer, size) => {
    charge(size);
    return luaL_buffinitsize(state, buffer, size);
  };
  auxiliary.luaL_prepbuffsize = (buffer, size) => {
    charge(size);
    return luaL_prepbuffsize(buffer, size);
  };
}
