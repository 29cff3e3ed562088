/**
 * The clock of the control plane, for times that a command writes for it or compares with its own: that of the machine on which the
 * command runs may be minutes behind or ahead, and then an order counts for other clusters than those that it was given for, or
 * for another time.
 *
 * 1. The API server is asked for its time once: a SelfSubjectReview, which every user may create and which is stored nowhere.
 * 2. Its answer has whole seconds. Where the machine's clock agrees with it, that is used, which is more precise.
 * 3. Where the answer has no time, or is a refusal, the machine's clock is all there is.
 */
import { Refused, selfSubjectReviews } from "@lifeboat/api";
import { addMs, type Clock, type Instant, parseTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";

const SECOND_MS = 1000;

/** `own`: the clock of this machine. */
export async function planeClock(
  plane: Pick<Client, "create">,
  own: Clock = createRealClock(),
): Promise<Clock> {
  const aheadMs = await aheadOf(plane, own);
  if (aheadMs === 0) return own;
  return {
    now: () => addMs(own.now(), aheadMs),
    monotonic: () => own.monotonic(),
    after: (delayMs, callback) => own.after(delayMs, callback),
  };
}

/** The time of the control plane now. */
export async function planeTime(plane: Pick<Client, "create">, own?: Clock): Promise<Instant> {
  return (await planeClock(plane, own)).now();
}

/** By how much the control plane's clock is ahead of this one; 0: they agree, as far as can be known. */
async function aheadOf(plane: Pick<Client, "create">, own: Clock): Promise<number> {
  const asked = own.now();
  const answered = await serverTime(plane);
  const heard = own.now();
  if (answered === undefined) return 0;
  // It was read within this second, at some time between the question and the answer.
  if (answered > heard) return answered - heard;
  return answered + SECOND_MS <= asked ? answered + SECOND_MS - 1 - asked : 0;
}

/** undefined: it cannot be asked. */
async function serverTime(plane: Pick<Client, "create">): Promise<Instant | undefined> {
  try {
    const { group, version, kind } = selfSubjectReviews;
    const review = { apiVersion: `${group}/${version}`, kind, metadata: {} };
    const { metadata } = await plane.create(selfSubjectReviews, review);
    return parseTime(metadata.creationTimestamp);
  } catch (error) {
    // An API server of an earlier version does not serve it, or the rights of all users were taken away.
    if (error instanceof Refused && UNASKED.has(error.status.code)) return undefined;
    throw error;
  }
}

const UNASKED: ReadonlySet<number> = new Set([403, 404, 405]);
