/**
 * What traced calls did to the store's data file, and whether it is a commit that survives a power cut: pages written,
 * then a sync of that file, then its header written through a descriptor that was opened for synchronous writes; each
 * successful, and complete before the next began.
 */
import type { TracedCall } from "./trace-calls.ts";

const LETTERS = {
  "data written": "d",
  "data synced": "s",
  "header written": "h",
  "header written without a sync": "u",
  "call failed": "x",
} as const;
/** The store's pages are written whole; less is a header. */
const PAGE_BYTES = 4096;
const COMMITS = /^(?:d+sh)+$/;

export interface StoreStep {
  readonly kind: keyof typeof LETTERS;
  readonly begun: number;
  readonly ended: number;
}

export function storeSteps(calls: readonly TracedCall[], dataFile: string): readonly StoreStep[] {
  const synchronous = new Set<string>();
  const steps: StoreStep[] = [];
  for (const call of calls) {
    const opened = /^openat\(.*O_DSYNC.* = (\d+)<(.*)>$/.exec(call.text);
    if (opened?.[1] !== undefined && opened[2] === dataFile) synchronous.add(opened[1]);
    if (call.target !== dataFile) continue;
    const kind = kindOf(call, synchronous);
    if (kind !== undefined) steps.push({ kind, begun: call.begun, ended: call.ended });
  }
  return steps;
}

function kindOf(call: TracedCall, synchronous: ReadonlySet<string>): StoreStep["kind"] | undefined {
  const { name, descriptor, result } = call;
  const isSync = name === "fdatasync" || name === "fsync";
  if (!isSync && !name.includes("write")) return undefined;
  // One that did not return is not failed yet: that it never ended is what its judge will see.
  if (result !== undefined && result < 0) return "call failed";
  if (isSync) return "data synced";
  if (synchronous.has(descriptor)) return "header written";
  return result !== undefined && result % PAGE_BYTES !== 0
    ? "header written without a sync"
    : "data written";
}

export function stepsBegunBetween(
  steps: readonly StoreStep[],
  from: number,
  to: number,
): readonly StoreStep[] {
  return steps.filter(({ begun }) => begun > from && begun < to);
}

/** Why these steps, in the order in which they began, are not whole commits that ended before `end`; else undefined. */
export function commitFault(steps: readonly StoreStep[], end: number): string | undefined {
  if (!COMMITS.test(steps.map(({ kind }) => LETTERS[kind]).join(""))) {
    return `the store saw [${steps.map(({ kind }) => kind).join(", ")}]`;
  }
  for (const [i, step] of steps.entries()) {
    const next = steps[i + 1];
    if (step.ended < (next?.begun ?? end)) continue;
    return `"${step.kind}" was still under way at ${next === undefined ? "the answer" : `"${next.kind}"`}`;
  }
  return undefined;
}
