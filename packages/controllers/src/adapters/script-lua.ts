/**
 * One call of a script, from its text to its results, in a state of its own that nothing survives.
 *
 * It runs in the thread that asks. Loops of Lua are stopped by counting instructions; loops inside the machine's own
 * functions (patterns) are not, so scripts of strangers run in a thread that can be ended: `script-workers.ts`.
 */
import type { Json } from "@lifeboat/api";
import {
  type ScriptCall,
  ScriptFailed,
  type ScriptLimits,
} from "../context/scripts/script-engine.ts";
import {
  bytesOf,
  luaMachine,
  type LuaMachine,
  type LuaState,
  type Meter,
  ScriptStopped,
  stop,
} from "./script-lua-runtime.ts";
import { fillWorld } from "./script-lua-sandbox.ts";
import { LuaValues, NoJson, textOf } from "./script-lua-values.ts";

/** How many instructions pass between two checks of the meter. */
const COUNT = 1000;
const MESSAGE_LENGTH = 500;
/** How errors name the script: `luaScript:3: …`. */
const CHUNK = bytesOf("=luaScript");

/** The results of a call. Throws `ScriptFailed`. */
export function runLua(call: ScriptCall, limits: ScriptLimits): readonly Json[] {
  const machine = luaMachine();
  const meter = newMeter(limits);
  return inMachine(machine, meter, limits, (state) => {
    const values = new LuaValues(machine, state, call.arguments);
    fillWorld({ machine, state, values, meter, now: call.now });
    machine.lua.lua_sethook(state, () => count(meter), machine.lua.LUA_MASKCOUNT, COUNT);
    load(machine, state, meter, call.script, limits);
    succeed(machine, state, meter, machine.lua.lua_pcall(state, 0, 0, 0));
    pushFunction(machine, state, call.function);
    for (const argument of call.arguments) values.push(argument);
    succeed(
      machine,
      state,
      meter,
      machine.lua.lua_pcall(state, call.arguments.length, call.results, 0),
    );
    return Array.from({ length: call.results }, (_, index) => values.read(index - call.results));
  });
}

/** Lua's error about the syntax of a script; undefined when it is valid. Nothing is run. */
export function checkLua(script: string, limits: ScriptLimits): string | undefined {
  const machine = luaMachine();
  const meter = newMeter(limits);
  try {
    inMachine(machine, meter, limits, (state) => load(machine, state, meter, script, limits));
    return undefined;
  } catch (error) {
    if (error instanceof ScriptFailed) return error.message;
    throw error;
  }
}

function newMeter({ textBytes, instructions }: ScriptLimits): Meter {
  return { stopped: undefined, textBytes, instructions };
}

function inMachine<T>(
  machine: LuaMachine,
  meter: Meter,
  limits: ScriptLimits,
  run: (state: LuaState) => T,
): T {
  try {
    return machine.metered(meter, () => {
      const state = machine.auxiliary.luaL_newstate();
      machine.lua.lua_atnativeerror(state, (at) => nativeError(machine, at));
      return run(state);
    });
  } catch (error) {
    if (error instanceof ScriptStopped) throw stopped(error, limits);
    if (error instanceof NoJson) throw new ScriptFailed("result", error.message);
    throw error;
  }
}

function count(meter: Meter): void {
  meter.instructions -= COUNT;
  if (meter.instructions < 0) throw stop(meter, "timeout");
}

function load(
  { auxiliary, lua }: LuaMachine,
  state: LuaState,
  meter: Meter,
  script: string,
  { scriptBytes }: ScriptLimits,
): void {
  const text = bytesOf(script);
  if (text.length > scriptBytes)
    throw new ScriptFailed("syntax", `the script is longer than ${scriptBytes} bytes`);
  // Compiled code begins with this byte; the machine would take it, and trust it.
  if (text[0] === 0x1b) throw new ScriptFailed("syntax", "the script is not text");
  const status = auxiliary.luaL_loadbuffer(state, text, text.length, CHUNK);
  if (status === lua.LUA_OK) return;
  if (meter.stopped !== undefined) throw meter.stopped;
  throw new ScriptFailed("syntax", messageOf(lua, state));
}

function pushFunction({ lua }: LuaMachine, state: LuaState, name: string): void {
  const type = lua.lua_getglobal(state, bytesOf(name));
  if (type === lua.LUA_TNIL)
    throw new ScriptFailed("runtime", `the script defines no function ${name}`);
  if (type === lua.LUA_TFUNCTION) return;
  const kind = textOf(lua.lua_typename(state, type));
  throw new ScriptFailed("runtime", `${name} in the script is a ${kind}, not a function`);
}

function succeed({ lua }: LuaMachine, state: LuaState, meter: Meter, status: number): void {
  if (meter.stopped !== undefined) throw meter.stopped;
  if (status !== lua.LUA_OK) throw new ScriptFailed("runtime", messageOf(lua, state));
}

/** Errors of JavaScript inside the machine: what stops a call goes on its way, others become errors of Lua. */
function nativeError({ lua }: LuaMachine, state: LuaState): number {
  const error = lua.lua_touserdata(state, 1);
  if (error instanceof ScriptStopped) throw error;
  const why = error instanceof Error ? error.message : "an error without a message";
  lua.lua_pushstring(state, bytesOf(why));
  return 1;
}

function messageOf(lua: LuaMachine["lua"], state: LuaState): string {
  const type = lua.lua_type(state, -1);
  if (type !== lua.LUA_TSTRING && type !== lua.LUA_TNUMBER)
    return `the script raised a ${textOf(lua.lua_typename(state, type))} instead of a message`;
  const message = textOf(lua.lua_tostring(state, -1));
  return message.length <= MESSAGE_LENGTH ? message : `${message.slice(0, MESSAGE_LENGTH)}…`;
}

function stopped({ kind }: ScriptStopped, limits: ScriptLimits): ScriptFailed {
  return kind === "timeout"
    ? new ScriptFailed(kind, `the script took more than ${limits.instructions} instructions`)
    : new ScriptFailed(kind, `the script made more than ${limits.textBytes} bytes of text`);
}
