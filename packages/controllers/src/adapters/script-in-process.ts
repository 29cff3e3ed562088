/**
 * Scripts in the thread that asks: for tests and the simulation, where every run must be the same and nothing may wait
 * for another thread. Instructions are counted instead of time; a pattern that takes for ever is not stopped.
 */
import type { Json } from "@lifeboat/api";
import {
  SCRIPT_LIMITS,
  type ScriptCall,
  type ScriptEngine,
  type ScriptLimits,
} from "../context/scripts/script-engine.ts";
import { checkLua, runLua } from "./script-lua.ts";

/** An engine for scripts that are trusted not to be hostile. */
export function createInProcessScriptEngine(limits: Partial<ScriptLimits> = {}): ScriptEngine {
  const within = { ...SCRIPT_LIMITS, ...limits };
  return {
    // Asynchronous, so that what is thrown becomes a rejection.
    run: async (call: ScriptCall): Promise<readonly Json[]> => runLua(call, within),
    check: async (script: string): Promise<string | undefined> => checkLua(script, within),
  };
}
