/**
 * Reads a trace of system calls (`strace -f -y`) of a process that commits one write at a time and says `ack N` on its
 * standard output, and tells for each answer whether the write was on the disk before it: a whole commit (store-steps.ts)
 * since the answer before. An answer counts from when it began.
 */
import { commitFault, stepsBegunBetween, storeSteps } from "./store-steps.ts";
import { parseTrace } from "./trace-calls.ts";

export interface TraceVerdict {
  readonly answers: number;
  /** One sentence for each answer that came too early; empty when all is well. */
  readonly violations: readonly string[];
}

export function judgeTrace(trace: string, dataFile: string): TraceVerdict {
  const calls = parseTrace(trace);
  const steps = storeSteps(calls, dataFile);
  const violations: string[] = [];
  let answers = 0;
  let since = Infinity;
  for (const { text, begun } of calls) {
    if (/^write\(1<.*"ready\\n"/.test(text)) since = begun;
    if (!/^write\(1<.*"ack /.test(text)) continue;
    answers += 1;
    const fault = commitFault(stepsBegunBetween(steps, since, begun), begun);
    if (fault !== undefined) violations.push(`${fault} before ${text}`);
    since = begun;
  }
  return { answers, violations };
}
