/**
 * `lifeboat agent` as a program of its own: the agent runs in every member, so it loads neither API server nor store nor
 * simulation (module-graph.test.ts). `bin/lifeboat.js` comes here when the first word is `agent`; `main.ts` lists the command in
 * the help of all.
 */
import { Command, CommanderError } from "commander";
import { addAgent } from "../commands/agent.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { helpFormat } from "../help.ts";

export async function main(args: readonly string[]): Promise<void> {
  const program = new Command("lifeboat").configureHelp(helpFormat).exitOverride();
  addAgent(program.showHelpAfterError("(try --help)"));
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const isKnown = error instanceof UsageError || error instanceof CommandFailed;
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text = isKnown ? error.message : `this is a bug, please report it: ${detail}`;
  process.stderr.write(`lifeboat: ${text}\n`);
  return error instanceof UsageError ? 2 : 1;
}
