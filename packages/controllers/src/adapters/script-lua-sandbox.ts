/**
 * What scripts find in their world: the functions of Lua 5.1 that only compute, the time they are given, and `kube`.
 *
 * 1. There is no way to files, processes, other modules or the machine itself, and none to code that was not checked
 *    when the script was stored. Functions that other control planes refuse are refused here too, with a sentence.
 * 2. The same arguments at the same time have the same results: there is no randomness.
 * 3. A script that was stopped stays stopped, whatever it wraps itself in.
 */
import type { Json } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { dateOf, timeOf } from "./script-lua-dates.ts";
import { KUBE_FUNCTIONS, Problem } from "./script-lua-kube.ts";
import {
  bytesOf,
  type LuaFunction,
  type LuaMachine,
  type LuaState,
  type Meter,
} from "./script-lua-runtime.ts";
import { type LuaValues, NoJson, textOf } from "./script-lua-values.ts";

/** A world to be filled, and what it is filled from. */
export interface World {
  readonly machine: LuaMachine;
  readonly state: LuaState;
  readonly values: LuaValues;
  readonly meter: Meter;
  readonly now: Instant;
}

/** There, but only to report that they are not for scripts. */
const REFUSED: readonly (readonly [library: string, name: string])[] = [
  ["_G", "collectgarbage"],
  ["_G", "dofile"],
  ["_G", "getfenv"],
  ["_G", "getmetatable"],
  ["_G", "load"],
  ["_G", "loadfile"],
  ["_G", "loadstring"],
  ["_G", "module"],
  ["_G", "newproxy"],
  ["_G", "rawequal"],
  ["_G", "rawget"],
  ["_G", "rawset"],
  ["_G", "setfenv"],
  ["_G", "setmetatable"],
  ["math", "random"],
  ["math", "randomseed"],
  ["string", "dump"],
];

/** What fengari has and Lua 5.1 has not. */
const LATER: readonly (readonly [library: string, name: string])[] = [
  ["_G", "rawlen"],
  ["string", "pack"],
  ["string", "packsize"],
  ["string", "unpack"],
  ["table", "move"],
  ["table", "pack"],
  ["math", "tointeger"],
  ["math", "type"],
  ["math", "ult"],
  ["math", "maxinteger"],
  ["math", "mininteger"],
];

/** Fills a new state with everything a script may use. */
export function fillWorld(world: World): void {
  const { machine, state } = world;
  const { auxiliary, libraries, lua } = machine;
  auxiliary.luaL_requiref(state, bytesOf("_G"), libraries.luaopen_base, true);
  auxiliary.luaL_requiref(state, bytesOf("table"), libraries.luaopen_table, true);
  auxiliary.luaL_requiref(state, bytesOf("string"), libraries.luaopen_string, true);
  auxiliary.luaL_requiref(state, bytesOf("math"), libraries.luaopen_math, true);
  lua.lua_createtable(state, 0, 2);
  lua.lua_setglobal(state, bytesOf("os"));
  lua.lua_settop(state, 0);
  for (const [library, name] of LATER) define(world, library, name, undefined);
  for (const [library, name] of REFUSED)
    define(world, library, name, () => raise(world, `a script may not call ${name}`));
  protectStops(world);
  defineOlder(world);
  defineNumbers(world);
  defineRepetition(world);
  defineTime(world);
  defineModules(world);
  // Scripts must not fill the output of the control plane.
  define(world, "_G", "print", () => 0);
}

function define(
  { machine: { lua }, state }: World,
  library: string,
  name: string,
  run: LuaFunction | undefined,
): void {
  lua.lua_getglobal(state, bytesOf(library));
  if (run === undefined) lua.lua_pushnil(state);
  else lua.lua_pushcfunction(state, run);
  lua.lua_setfield(state, -2, bytesOf(name));
  lua.lua_pop(state, 1);
}

function originalOf(
  { machine: { lua }, state }: World,
  library: string,
  name: string,
): LuaFunction {
  lua.lua_getglobal(state, bytesOf(library));
  lua.lua_getfield(state, -1, bytesOf(name));
  const run = lua.lua_tocfunction(state, -1);
  lua.lua_pop(state, 2);
  if (run === null) throw new Error(`fengari has no function ${library}.${name}`);
  return run;
}

function raise({ machine: { auxiliary }, state }: World, message: string): number {
  return auxiliary.luaL_error(state, bytesOf(message.replaceAll("%", "%%")));
}

function protectStops(world: World): void {
  for (const name of ["pcall", "xpcall"]) {
    const original = originalOf(world, "_G", name);
    define(world, "_G", name, (state) => {
      const results = original(state);
      if (world.meter.stopped !== undefined) throw world.meter.stopped;
      return results;
    });
  }
}

/** What Lua 5.1 has, and fengari not or under another name. */
function defineOlder(world: World): void {
  const { lua, auxiliary } = world.machine;
  define(world, "_G", "unpack", originalOf(world, "table", "unpack"));
  define(world, "math", "mod", originalOf(world, "math", "fmod"));
  define(world, "math", "pow", (state) => {
    const base = auxiliary.luaL_checknumber(state, 1);
    lua.lua_pushnumber(state, base ** auxiliary.luaL_checknumber(state, 2));
    return 1;
  });
  define(world, "table", "getn", (state) => {
    lua.lua_len(state, 1);
    return 1;
  });
}

/** fengari's own answer with integers of 32 bits. */
function defineNumbers(world: World): void {
  const { lua, auxiliary } = world.machine;
  const rounding = [
    ["floor", Math.floor],
    ["ceil", Math.ceil],
  ] as const;
  for (const [name, round] of rounding)
    define(world, "math", name, (state) => {
      lua.lua_pushnumber(state, round(auxiliary.luaL_checknumber(state, 1)));
      return 1;
    });
}

/** The original takes all memory, or for an empty text all time, before it can be stopped. */
function defineRepetition(world: World): void {
  const { lua, auxiliary, charge } = world.machine;
  const original = originalOf(world, "string", "rep");
  define(world, "string", "rep", (state) => {
    const { length } = auxiliary.luaL_checkstring(state, 1);
    const times = auxiliary.luaL_checknumber(state, 2);
    // What is no number is refused by the original.
    if (times > 0) charge(times * Math.max(1, length));
    lua.lua_settop(state, 2);
    return original(state);
  });
}

function defineTime(world: World): void {
  const { lua, auxiliary } = world.machine;
  const seconds = Math.floor(world.now / 1000);
  define(world, "os", "time", (state) => {
    const isGiven = lua.lua_type(state, 1) === lua.LUA_TTABLE;
    return answer(world, () => (isGiven ? timeOf(world.values.read(1)) : seconds));
  });
  define(world, "os", "date", (state) => {
    const isGiven = lua.lua_gettop(state) > 0;
    const format = isGiven ? textOf(auxiliary.luaL_checkstring(state, 1)) : "%c";
    const at = auxiliary.luaL_optnumber(state, 2, seconds);
    return answer(world, () => dateOf(format, at));
  });
}

function defineModules(world: World): void {
  const { lua, auxiliary } = world.machine;
  define(world, "_G", "require", (state) => {
    const name = textOf(auxiliary.luaL_checkstring(state, 1));
    if (name !== "kube") return raise(world, `there is no module '${name}'`);
    lua.lua_createtable(state, 0, KUBE_FUNCTIONS.size);
    for (const [called, run] of KUBE_FUNCTIONS) {
      lua.lua_pushcfunction(state, (at) => answer(world, () => run(readArguments(world, at))));
      lua.lua_setfield(state, -2, bytesOf(called));
    }
    return 1;
  });
}

function readArguments({ machine: { lua }, values }: World, state: LuaState): readonly Json[] {
  const given: Json[] = [];
  for (let at = 1; at <= lua.lua_gettop(state); at += 1) given.push(values.read(at));
  return given;
}

/** The result of a function of ours, or an error in Lua. */
function answer(world: World, ask: () => Json): number {
  try {
    world.values.push(ask());
    return 1;
  } catch (error) {
    if (error instanceof NoJson || error instanceof Problem) return raise(world, error.message);
    throw error;
  }
}
