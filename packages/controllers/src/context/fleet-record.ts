/**
 * The record of the fleet, `EvacuationBudget/fleet`: what must be one for the whole fleet and outlive every process.
 *
 *   spec                    what people order: a pause of all evacuations, the release of the mass-deletion brake
 *   status                  the rate, the last reservation of releases, the deletions of the last minute, conditions
 *   annotation clock-steps  steps of the wall clock, for the next process
 *
 * 1. It is created by the first write; nothing to write, no record.
 * 2. Every write is a compare and swap: it is decided on the record as the server has it, and decided again when another
 *    client wrote in between. An answer that was lost counts as written: nothing here repeats it.
 */
import {
  type EvacuationBudget,
  evacuationBudgets,
  FLEET_BUDGET,
  isRefused,
  type New,
  type ObjectKey,
  orNothing,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

export const FLEET_RECORD: ObjectKey = { namespace: "", name: FLEET_BUDGET };
const ATTEMPTS = 10;

type RecordStatus = NonNullable<EvacuationBudget["status"]>;

/** What a swap writes, and what it answers when the write went through; without a status nothing is written. */
export interface RecordSwap<T> {
  readonly status?: RecordStatus;
  readonly answer: T;
}

/** The parts of the record that `changeRecord` may change. */
export interface RecordParts {
  readonly spec: EvacuationBudget["spec"];
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RecordOptions {
  readonly signal?: AbortSignal;
}

/** The record as the server has it; undefined while nothing was ever written. */
export function readRecord(
  plane: Client,
  options: RecordOptions = {},
): Promise<EvacuationBudget | undefined> {
  return orNothing(plane.get(evacuationBudgets, FLEET_RECORD, options));
}

/** Swaps the status. `decide` may be asked several times, each time with the newest record. */
export function swapRecordStatus<T>(
  plane: Client,
  decide: (record: EvacuationBudget) => RecordSwap<T>,
  options: RecordOptions = {},
): Promise<T> {
  return untilNotOutrun(async () => {
    const record =
      (await readRecord(plane, options)) ??
      (await plane.create(
        evacuationBudgets,
        first({ spec: NOT_PAUSED, annotations: {} }),
        options,
      ));
    const { status, answer } = decide(record);
    if (status !== undefined)
      await plane.update(
        evacuationBudgets,
        { ...record, status },
        { ...options, subresource: "status" },
      );
    return answer;
  });
}

/** Changes spec or annotations; answers whether that was another thing than before. The same parts mean: nothing to write. */
export function changeRecord(
  plane: Client,
  change: (parts: RecordParts) => RecordParts,
  options: RecordOptions = {},
): Promise<boolean> {
  return untilNotOutrun(async () => {
    const record = await readRecord(plane, options);
    const { spec = NOT_PAUSED, metadata } = record ?? {};
    const parts: RecordParts = { spec, annotations: metadata?.annotations ?? {} };
    const changed = change(parts);
    if (changed === parts) return false;
    if (record === undefined) await plane.create(evacuationBudgets, first(changed), options);
    else {
      const { annotations } = changed;
      const next = { ...record, metadata: { ...record.metadata, annotations }, spec: changed.spec };
      await plane.update(evacuationBudgets, next, options);
    }
    return true;
  });
}

const NOT_PAUSED: EvacuationBudget["spec"] = { paused: false };

function first({ spec, annotations }: RecordParts): New<EvacuationBudget> {
  const { group, version, kind } = evacuationBudgets;
  const hasAnnotations = Object.keys(annotations).length > 0;
  const metadata = { name: FLEET_BUDGET, ...(hasAnnotations && { annotations }) };
  return { apiVersion: `${group}/${version}`, kind, metadata, spec };
}

/** Whether another client wrote the record in between. */
export function isOutrun(error: unknown): boolean {
  return isRefused(error, "Conflict") || isRefused(error, "AlreadyExists");
}

async function untilNotOutrun<T>(attemptOnce: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce();
    } catch (error) {
      if (!isOutrun(error) || attempt === ATTEMPTS) throw error;
    }
  }
}
