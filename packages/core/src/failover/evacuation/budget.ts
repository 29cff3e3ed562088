/**
 * Reserving the right to release: the arithmetic of `EvacuationBudget/fleet` (D6).
 *
 * Before workloads are released the budget is compared and swapped to a time up to which its tokens are used. So the rate
 * holds over all clusters, lanes, processes, leaders and restarts, and a write whose answer was lost counts as used.
 *
 *   reservedUntil = now + tokens / rate, once now has reached the former reservedUntil
 *
 * 1. Nothing is released before `reservedUntil`; tokens never accumulate beyond one: what was not used by then is lost.
 * 2. A reservation is for one release; at more than one per second it is for as many as a second allows, at most 100, so
 *    that the budget is written about once a second. Each of its tokens has a time of its own, so that releases stay apart.
 * 3. A rate of 0 reserves nothing. When it rises again the first release is due at once, but never earlier than the last
 *    reservation allows.
 * 4. A `reservedUntil` that no reservation can have written (a clock that was wrong) is replaced by one token from now,
 *    without a release: a mistake must not stop everything for ever, nor set anything free.
 */
import { addMs, type Instant } from "@lifeboat/base";

export interface BudgetView {
  /** `status.reservedUntil`; absent: nothing was ever released. */
  readonly reservedUntil: Instant | undefined;
  /** Releases per second at this moment. */
  readonly rate: number;
  /** How many releases are waiting. */
  readonly wanted: number;
}

export type TokenReservation =
  /** Write `reservedUntil`, then release up to `tokens`, one every `tokenMs`. */
  | {
      readonly kind: "reserve";
      readonly tokens: number;
      readonly tokenMs: number;
      readonly reservedUntil: Instant;
    }
  /** Nothing before this time. */
  | { readonly kind: "wait"; readonly until: Instant }
  /** Nothing until the rate or the queue changes. */
  | { readonly kind: "stop" };

const MAX_TOKENS = 100;
/** One reservation covers up to so long where the rate allows several releases in it. */
const BATCH_MS = 1000;
/**
 * No reservation reaches further, but for a single token at a rate that takes longer. One that does was written at a lower rate
 * or by another clock, and a whole token from now keeps the present rate whichever it was.
 */
const LONGEST_MS = 60_000;

/** What may be released now. */
export function reserve(view: BudgetView, now: Instant): TokenReservation {
  const { rate, wanted } = view;
  if (!(rate > 0) || wanted <= 0) return { kind: "stop" };
  const tokenMs = 1000 / rate;
  const reserved = view.reservedUntil ?? now;
  if (reserved - now > Math.max(LONGEST_MS, tokenMs))
    return { kind: "reserve", tokens: 0, tokenMs, reservedUntil: addMs(now, Math.ceil(tokenMs)) };
  if (reserved > now) return { kind: "wait", until: reserved };
  const tokens = Math.max(1, Math.min(wanted, MAX_TOKENS, Math.floor(BATCH_MS / tokenMs)));
  const reservedUntil = addMs(now, Math.ceil(tokens * tokenMs));
  return { kind: "reserve", tokens, tokenMs, reservedUntil };
}
