/** Asks the person before something that is hard to take back. */
import { createInterface } from "node:readline/promises";
import { CommandFailed, UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";

/** Of every command that asks. */
export const yesOption: OptionDefinition = {
  name: "yes",
  type: "switch",
  commandLineOnly: true,
  help: "Do not ask",
};

/** Goes on when the person says yes; throws CommandFailed when not, UsageError when there is no terminal. */
export async function confirm(what: string, question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError(`${what} There is no terminal to confirm on: add --yes to go on`);
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await Promise.race([
      prompt.question(`${what} ${question} [y/N] `),
      // Ctrl-C and Ctrl-D close it without an answer.
      new Promise<string>((resolve) => prompt.once("close", () => resolve(""))),
    ]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed("nothing was changed");
  } finally {
    prompt.close();
  }
}
