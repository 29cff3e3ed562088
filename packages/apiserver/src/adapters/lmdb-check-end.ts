/** What the end of the process that checked a store means: decided here, apart from starting it (lmdb-check.ts). */

/** One line of the check's output. */
export type CheckLine =
  /** Which process last had the store open, if it did not close it in order. */
  | { readonly owner: unknown }
  /** Everything was read, and is as it was written. */
  | { readonly sound: true }
  /** A sentence about what was found. */
  | { readonly refused: string };

export interface CheckEnd {
  readonly lines: readonly CheckLine[];
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was ended because it took longer than this many milliseconds. */
  readonly timedOutMs?: number;
  /** What it wrote to standard error. */
  readonly errors: string;
}

export type CheckVerdict =
  | { readonly verdict: "sound" }
  | { readonly verdict: "refused"; readonly why: string }
  /** The check did not finish: the store is opened nevertheless, because a slow machine must not keep a sound store closed. */
  | { readonly verdict: "unfinished"; readonly why: string };

/** How a process ends that touches a page which is not there, or in which lmdb finds what cannot be. */
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGBUS",
  "SIGSEGV",
  "SIGABRT",
  "SIGILL",
  "SIGFPE",
  "SIGTRAP",
]);

const BASE_MS = 10_000;
const MS_PER_GB = 5000;
const GB = 1024 ** 3;

/** How long a check may take: five seconds for each GB, and ten for starting on a busy machine. */
export function checkLimitMs(fileBytes: number): number {
  return BASE_MS + Math.ceil((fileBytes / GB) * MS_PER_GB);
}

export function judgeCheck(file: string, end: CheckEnd): CheckVerdict {
  const refused = end.lines.find((line) => "refused" in line);
  if (refused !== undefined) return { verdict: "refused", why: refused.refused };
  if (end.signal !== null && CRASHES.has(end.signal))
    return {
      verdict: "refused",
      why: `${file} is damaged (a process that read it was ended by ${end.signal}): restore the directory from a backup`,
    };
  if (end.code === 0 && end.lines.some((line) => "sound" in line)) return { verdict: "sound" };
  return { verdict: "unfinished", why: `${file} was not checked: ${reasonOf(end)}` };
}

function reasonOf({ timedOutMs, signal, code, errors }: CheckEnd): string {
  if (timedOutMs !== undefined) return `that took longer than ${timedOutMs / 1000} s`;
  if (signal !== null) return `the process that checks it was ended by ${signal}`;
  const said = errors.split("\n").find((line) => line.includes("Error")) ?? errors.split("\n")[0];
  return `the process that checks it ended with code ${code}${said === "" ? "" : `: ${said?.trim()}`}`;
}
