/** How a command that failed ends: a sentence for the person, and the exit code. */
import { CommanderError } from "commander";
import { CommandFailed, UsageError } from "./failure.ts";
import { tell } from "./tell.ts";

/** 0 done (help was asked for), 2 called wrongly, 1 could not be carried out. */
export function report(error: unknown, sentenceOf: (error: unknown) => string | undefined): number {
  // Its sentence is written already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    tell(error.message);
    return 2;
  }
  const sentence = error instanceof CommandFailed ? error.message : sentenceOf(error);
  if (sentence !== undefined) tell(sentence);
  else {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`lifeboat: this is a bug, please report it: ${detail}\n`);
  }
  return 1;
}
