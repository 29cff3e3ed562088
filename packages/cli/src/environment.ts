/** What commands that run for long take from the machine: directories, the level of logs, a seed. */
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { fileProblem, makePrivateDirectory } from "@lifeboat/apiserver/adapters";
import { CommandFailed } from "./failure.ts";

export { parseLogLevel, seedFromProcess } from "./process-settings.ts";

/** `$XDG_DATA_HOME/lifeboat`. */
export function defaultDataDirectory(): string {
  const base = process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share");
  return join(base, "lifeboat");
}

/** Makes a directory that only its owner can read, with those above it; throws CommandFailed where that cannot be. */
export function makeDirectory(directory: string): void {
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    const why = fileProblem(error) ?? (error instanceof Error ? error.message : String(error));
    throw new CommandFailed(`cannot make the directory ${directory}: ${why}`);
  }
}

/** Whether kubectl runs this as its plugin: `kubectl lifeboat …` calls a program named `kubectl-lifeboat`. */
export function isKubectlPlugin(argv: readonly string[]): boolean {
  return basename(argv[1] ?? "").startsWith("kubectl-lifeboat");
}
