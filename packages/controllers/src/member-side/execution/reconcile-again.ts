/**
 * When execution reconciles a Work again without an event: at the earliest time that a manifest asks for, or after a pause
 * that doubles with each failure in a row.
 *
 * The first failure in a row is logged, the others are not: a member that is down fails every Work again and again.
 */
import type { Work } from "@lifeboat/api";
import { addMs, type Clock, type Instant } from "@lifeboat/base";
import { checkAgainAt, done, type Log, type Outcome } from "@lifeboat/kit";

export interface PausePorts {
  readonly clock: Clock;
  readonly log: Log;
}

const PAUSE_BASE_MS = 100;
const PAUSE_CAP_MS = 60_000;

/** Counts a failure; answers when to reconcile the Work again. */
export function pauseAfterFailure(
  { clock, log }: PausePorts,
  work: Work,
  memory: { failures: number },
  problem: string,
): Instant {
  const pauseMs = Math.min(PAUSE_BASE_MS * 2 ** memory.failures, PAUSE_CAP_MS);
  if (memory.failures === 0)
    log.warn("a Work cannot be carried out, trying again", { work: work.metadata.name, problem });
  memory.failures += 1;
  return addMs(clock.now(), pauseMs);
}

/** Reconciles at the earliest of these times; without one, at the next event only. */
export function againAtEarliest(times: readonly Instant[]): Outcome {
  return times.length === 0 ? done : checkAgainAt(times.reduce((a, b) => (b < a ? b : a)));
}
