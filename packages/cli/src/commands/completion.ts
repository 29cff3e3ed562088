/** `lifeboat completion SHELL`: prints the script that completes verbs, flags and names of clusters. */
import { type Command, Argument } from "commander";
import { completedCommands, completionScript, type Shell, SHELLS } from "../completion.ts";

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("Print a script that completes this command in a shell")
    .addArgument(new Argument("<SHELL>", "bash, zsh or fish").choices(SHELLS))
    .addHelpText(
      "after",
      `
bash:  source <(lifeboat completion bash)
zsh:   source <(lifeboat completion zsh)
fish:  lifeboat completion fish | source`,
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, completedCommands(program)));
    });
}
