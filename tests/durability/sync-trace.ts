/**
 * Reads a trace of system calls (`strace -f -y`) of a process that commits one write at a time and says `ack N` on its
 * standard output, and tells for each answer whether the write was on the disk before it.
 *
 * On the disk means: pages written to the data file, then a completed sync of that file, then its header written through
 * a descriptor that was opened for synchronous writes; all since the answer before.
 */

type Step = "data written" | "data synced" | "header written" | "answered";

const NEXT: Readonly<Record<Step, readonly Step[]>> = {
  answered: ["data written"],
  "data written": ["data written", "data synced"],
  "data synced": ["header written"],
  "header written": ["answered"],
};

export interface TraceVerdict {
  readonly answers: number;
  /** One sentence for each answer that came too early; empty when all is well. */
  readonly violations: readonly string[];
}

export function judgeTrace(trace: string, dataFile: string): TraceVerdict {
  const violations: string[] = [];
  const synchronous = new Set<string>();
  let answers = 0;
  let state: Step | "opening" = "opening";
  for (const line of wholeCalls(trace)) {
    const opened = /^openat\(.*O_DSYNC.*\) = (\d+)<(.*)>$/.exec(line);
    if (opened?.[1] !== undefined && opened[2] === dataFile) synchronous.add(opened[1]);
    if (/^write\(1<.*"ready\\n"/.test(line)) {
      state = "answered";
      continue;
    }
    const step = stepOf(line, dataFile, synchronous);
    if (step === undefined || state === "opening") continue;
    if (step === "answered") answers += 1;
    if (!NEXT[state].includes(step)) violations.push(`${step} right after ${state}: ${line}`);
    state = step;
  }
  return { answers, violations };
}

function stepOf(
  line: string,
  dataFile: string,
  synchronous: ReadonlySet<string>,
): Step | undefined {
  if (/^write\(1<.*"ack /.test(line)) return "answered";
  const call = /^(\w+)\((\d+)<([^>]*)>.* = (-?\d+)/.exec(line);
  if (call === null || call[3] !== dataFile) return undefined;
  const [, name = "", descriptor = "", , result = ""] = call;
  if (name === "fdatasync" || name === "fsync") return result === "0" ? "data synced" : undefined;
  if (!name.includes("write")) return undefined;
  return synchronous.has(descriptor) ? "header written" : "data written";
}

/**
 * Joins what strace splits when threads overlap. An answer counts from when it began, everything else from when it was
 * complete: the doubt is always to the disadvantage of the process.
 */
function wholeCalls(trace: string): string[] {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of trace.split("\n")) {
    const parts = /^(\d+)\s+(.*)$/.exec(line);
    if (parts === null) continue;
    const [, thread = "", text = ""] = parts;
    if (text.endsWith(" <unfinished ...>")) {
      const beginning = text.slice(0, -" <unfinished ...>".length);
      if (beginning.startsWith("write(1<")) calls.push(beginning);
      else begun.set(thread, beginning);
    } else if (text.startsWith("<... ")) {
      const beginning = begun.get(thread);
      begun.delete(thread);
      const end = text.slice(text.indexOf("resumed>") + "resumed>".length);
      if (beginning !== undefined) calls.push(beginning + end.replace(/\)\s+= /, ") = "));
    } else {
      calls.push(text.replace(/\)\s+= /, ") = "));
    }
  }
  return calls;
}
