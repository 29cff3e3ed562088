/**
 * How many Events one agent may write (T10). Events stay for an hour, and an agent has no other kind of which it can make as many
 * objects as it likes: without a limit one agent fills the memory of the control plane.
 *
 * A burst is enough for an agent that carries out hundreds of Works at once; an Event that is refused is dropped by its recorder.
 */

/** What an agent has left, at a time of the steady clock. */
export interface EventAllowance {
  readonly left: number;
  readonly at: number;
}

const BURST = 500;
const REFILL_MS = 1000;
/** Of an Event as JSON: longer than any that is for people. */
export const MAX_AGENT_EVENT = 8192;

/** What is left after one more Event; undefined: it is one too many. */
export function afterOneEvent(
  before: EventAllowance | undefined,
  now: number,
): EventAllowance | undefined {
  const { left, at } = before ?? { left: BURST, at: now };
  const refilled = Math.min(BURST, left + (now - at) / REFILL_MS);
  return refilled < 1 ? undefined : { left: refilled - 1, at: now };
}
