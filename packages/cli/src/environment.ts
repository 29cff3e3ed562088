/** What commands that run for long take from the machine: directories, the level of logs, a seed. */
import { homedir } from "node:os";
import { join } from "node:path";
import { fileProblem, makePrivateDirectory } from "@lifeboat/apiserver/adapters";
import { CommandFailed, UsageError } from "./failure.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export function parseLogLevel(text: string): (typeof LOG_LEVELS)[number] {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level === undefined) {
    throw new UsageError(
      `--log-level: "${text}" is not valid: one of ${LOG_LEVELS.join(", ")} is needed`,
    );
  }
  return level;
}

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

/** Jitter must differ from process to process; nothing secret comes from it. */
export function seedFromProcess(): number {
  return (process.pid * 2_654_435_761 + Math.floor(performance.timeOrigin)) >>> 0;
}
