/**
 * `lifeboat agent` as a program of its own: the agent runs in every member, so it loads neither API server nor store nor
 * simulation (module-graph.test.ts). `bin/lifeboat.js` comes here when the first word is `agent`; `main.ts` lists the command in
 * the help of all.
 */
import { Command } from "commander";
import { addAgent } from "../commands/agent.ts";
import { helpFormat } from "../help.ts";
import { report } from "../report.ts";
import { requestProblem } from "../request-problem.ts";
import { tell } from "../tell.ts";

export async function main(args: readonly string[]): Promise<void> {
  const program = new Command("lifeboat")
    .configureHelp(helpFormat)
    .configureOutput({ outputError: (text) => tell(text.trimEnd(), "") })
    .exitOverride();
  addAgent(program.showHelpAfterError("(try --help)"));
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = report(error, requestProblem);
  }
}
