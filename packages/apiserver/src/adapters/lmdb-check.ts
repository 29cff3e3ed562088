/**
 * Checks a store that was not closed in order before this process maps it: another process reads all of it first. lmdb
 * trusts its file; a page that is cut off or zeroed ends the process that touches it, without a message.
 *
 * 1. What the child found, or how it ended, is a sentence (lmdb-check-end.ts).
 * 2. It is bounded in time. One that is not finished then, or cannot be started, keeps no store closed: that is reported.
 * 3. A store that a living process has open is not checked: it will be refused for that.
 */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type CheckEnd, checkLimitMs, type CheckLine, judgeCheck } from "./lmdb-check-end.ts";
import { dataFileOf, DirectoryRefused } from "./lmdb-directory.ts";
import type { Owner } from "./lmdb-owner.ts";

export interface CheckOptions {
  readonly isAlive: (owner: Owner) => boolean;
  /** Called when the check could not find out whether the store is sound. */
  readonly warn: (sentence: string) => void;
  /** Absent: the one beside this file. */
  readonly program?: string | undefined;
}

const MAX_ERRORS = 10_000;

/** Resolves when the store may be opened; rejects with DirectoryRefused, with a sentence, when it is damaged. */
export async function checkInChild(directory: string, options: CheckOptions): Promise<void> {
  const file = dataFileOf(directory);
  const end = await runCheck(directory, checkLimitMs(statSync(file).size), options);
  if (end === "in use") return;
  const verdict = judgeCheck(file, end);
  if (verdict.verdict === "refused") throw new DirectoryRefused(verdict.why);
  if (verdict.verdict === "unfinished") options.warn(verdict.why);
}

/** The process that the store names as its owner, alive or not; undefined also when a damaged store names none. */
export async function ownerInChild(
  directory: string,
  program?: string,
): Promise<Owner | undefined> {
  let owner: Owner | undefined;
  const note = (found: Owner): boolean => {
    owner = found;
    return true;
  };
  await runCheck(directory, checkLimitMs(0), { isAlive: note, warn: () => undefined, program });
  return owner;
}

function runCheck(
  directory: string,
  limitMs: number,
  { isAlive, program = programBeside() }: CheckOptions,
): Promise<CheckEnd | "in use"> {
  const child = spawn(process.execPath, [...process.execArgv, program, directory], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: CheckLine[] = [];
  let errors = "";
  let isInUse = false;
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, limitMs);
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = parseLine(text);
    if (line === undefined) return;
    lines.push(line);
    if (!("owner" in line) || !isAlive(line.owner as Owner)) return;
    isInUse = true;
    child.kill("SIGKILL");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(0, MAX_ERRORS);
  });
  return new Promise((resolve) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
      clearTimeout(timer);
      if (isInUse) resolve("in use");
      else resolve({ lines, code, signal, errors, ...(timedOut && { timedOutMs: limitMs }) });
    };
    child.once("error", (error) => {
      errors = error.message;
      settle(null, null);
    });
    child.once("close", settle);
  });
}

function programBeside(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return fileURLToPath(new URL(`./lmdb-check-program.${extension}`, import.meta.url));
}

function parseLine(text: string): CheckLine | undefined {
  try {
    return JSON.parse(text) as CheckLine;
  } catch {
    // Cut off by a crash.
    return undefined;
  }
}
