/**
 * The port behind which scripts of users run.
 *
 * 1. A call ends in the script's results or in `ScriptFailed`, within the engine's limits, whatever the script does.
 * 2. Calls share nothing: what one leaves behind, no other sees.
 * 3. A script sees its arguments, the time it is given, and nothing else of the world.
 */
import type { Json } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";

/** Why a script has no results. `busy`: it was not run, because too many calls wait. */
export type ScriptFailure = "syntax" | "runtime" | "timeout" | "memory" | "result" | "busy";

/** A script had no results; the message is one sentence for the script's author. */
export class ScriptFailed extends Error {
  override readonly name = "ScriptFailed";
  readonly kind: ScriptFailure;

  constructor(kind: ScriptFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface ScriptCall {
  /** Lua that defines the function. */
  readonly script: string;
  readonly function: string;
  readonly arguments: readonly Json[];
  /** How many results are wanted; missing ones are null. */
  readonly results: number;
  /** The present time as the script sees it. */
  readonly now: Instant;
}

export interface ScriptEngine {
  /** Runs the script, then calls its function. Rejects with `ScriptFailed` alone. */
  run(call: ScriptCall): Promise<readonly Json[]>;
  /** What is wrong with the syntax of a script, in the words of Lua; undefined when nothing is. It is not run. */
  check(script: string): Promise<string | undefined>;
}

export interface ScriptLimits {
  /** How long a call may take where time is measured. */
  readonly timeoutMs: number;
  /** How many instructions a call may take where they are counted instead. */
  readonly instructions: number;
  /** How many bytes of text a call may make. */
  readonly textBytes: number;
  /** The longest script that is read. */
  readonly scriptBytes: number;
}

export const SCRIPT_LIMITS: ScriptLimits = Object.freeze({
  timeoutMs: 1000,
  instructions: 1_000_000,
  textBytes: 64 * 1024 * 1024,
  scriptBytes: 1024 * 1024,
});
