/** Asks the person before something that is hard to take back. */
import { createInterface } from "node:readline/promises";
import { CommandFailed, UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";
import { print } from "./with-plane.ts";
import { hanging, paragraphs } from "./wrap.ts";

/** Of every command that asks. */
export const yesOption: OptionDefinition = {
  name: "yes",
  type: "switch",
  commandLineOnly: true,
  help: "Do not ask",
};

/**
 * Whether an order is carried out: its plan is shown, and the person is asked once unless `--yes` was given. With `--dry-run` the plan
 * is all that is printed.
 */
export async function mayGoOn(
  settings: Pick<Settings, "isOn">,
  plan: string,
  question: string,
): Promise<boolean> {
  if (settings.isOn("dry-run")) {
    print([...hanging("", plan), "nothing was changed (dry run)"]);
    return false;
  }
  if (!settings.isOn("yes")) await confirm(plan, question);
  return true;
}

/** The same with a plan of several lines, which stands above the question, or above the refusal where there is no terminal. */
export async function confirmPlan(
  plan: readonly string[],
  what: string,
  question: string,
): Promise<void> {
  print(plan);
  await confirm(what, question);
}

/** Goes on when the person says yes; throws CommandFailed when not, UsageError when there is no terminal. */
export async function confirm(what: string, question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError(`${what} There is no terminal to confirm on: add --yes to go on`);
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await Promise.race([
      prompt.question(`${paragraphs("", `${what} ${question} [y/N]`).join("\n")} `),
      // Ctrl-C and Ctrl-D close it without an answer.
      new Promise<string>((resolve) => prompt.once("close", () => resolve(""))),
    ]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed("nothing was changed");
  } finally {
    prompt.close();
  }
}
