/** What commands that run for long take from the machine: directories, the level of logs, a seed. */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CommandFailed, UsageError } from "./failure.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export function parseLogLevel(text: string): (typeof LOG_LEVELS)[number] {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level === undefined) {
    throw new UsageError(
      `--log-level: "${text}" does not do: one of ${LOG_LEVELS.join(", ")} is needed`,
    );
  }
  return level;
}

/** `$XDG_DATA_HOME/lifeboat`. */
export function defaultDataDirectory(): string {
  const base = process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share");
  return join(base, "lifeboat");
}

/** Makes a directory that only its owner can read, with those above it. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot make the directory ${directory}: ${why}`);
  }
}

/** Jitter must differ from process to process; nothing secret comes from it. */
export function seedFromProcess(): number {
  return (process.pid * 2_654_435_761 + Math.floor(performance.timeOrigin)) >>> 0;
}
