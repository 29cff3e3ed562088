/**
 * When a certificate is renewed, and how soon its end deserves a word. Both go by the share of its life that is over, so that
 * they hold for a certificate of a day and for one of ten years.
 */
import { addMs, type Instant } from "@lifeboat/base";

export interface Life {
  readonly notBefore: Instant;
  readonly notAfter: Instant;
}

/** After this share of its life a certificate is renewed. */
const RENEW_AT = 0.8;
/** At most this much sooner, by chance, so that certificates made together are not renewed together. */
const EARLIER = 0.1;

/**
 * When to renew a certificate; a time that has passed: now. `chance` (0 to 1) is drawn once per certificate.
 */
export function decideRenewal({ notBefore, notAfter }: Life, chance: number): Instant {
  const life = Math.max(0, notAfter - notBefore);
  return addMs(notBefore, Math.floor(life * (RENEW_AT - EARLIER * chance)));
}

/** The share of its life that a certificate has left, 0 to 1. */
export function shareLeft({ notBefore, notAfter }: Life, now: Instant): number {
  const life = notAfter - notBefore;
  if (!(life > 0)) return 0;
  return Math.min(1, Math.max(0, (notAfter - now) / life));
}

export type ExpiryStage = "fine" | "ending" | "last" | "ended";

const ENDING = 0.3;
const LAST = 0.1;

/** How near its end a certificate is: an Event reports each stage once. */
export function expiryStage(life: Life, now: Instant): ExpiryStage {
  const left = shareLeft(life, now);
  if (left <= 0) return "ended";
  if (left <= LAST) return "last";
  return left <= ENDING ? "ending" : "fine";
}

/** When the next stage begins; undefined when none is left. */
export function nextStageAt(life: Life, now: Instant): Instant | undefined {
  const span = life.notAfter - life.notBefore;
  return [ENDING, LAST, 0]
    .map((share) => addMs(life.notAfter, -Math.floor(span * share)))
    .find((at) => at > now);
}
