/**
 * What becomes of a notice after an attempt, and the log of deliveries.
 *
 *   Delivered   the receiver answered 2xx
 *   Retry       it did not answer, or refused for now; the next attempt follows
 *   Rejected    it refused this notice three times for what is in it: others follow
 *   Expired     it was tried for a day
 */
import type { Instant } from "@lifeboat/base";
import type { Notice, NoticeEvent } from "./notice.ts";

/** How a receiver answered one attempt. */
export type Answer =
  | {
      readonly kind: "answered";
      readonly code: number;
      readonly text: string;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: "failed"; readonly message: string };

export const OUTCOMES = ["Delivered", "Retry", "Rejected", "Expired"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One attempt, or several of one notice, in the log. */
export interface Delivery {
  readonly at: Instant;
  readonly id: string;
  readonly event: NoticeEvent;
  readonly summary: string;
  readonly outcome: Outcome;
  readonly attempts: number;
  /** The receiver's words, of attempts that failed. */
  readonly message: string;
}

const MAX_REJECTIONS = 3;
const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** Answers that are about the body of this notice. All others are about the receiver, and the next notice would meet them, too. */
const BODY_AT_FAULT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** `triedSince`: when the first attempt was made. */
export function outcomeOf(
  answer: Answer,
  attempts: number,
  triedSince: Instant,
  now: Instant,
): Outcome {
  if (answer.kind === "answered") {
    if (answer.code >= 200 && answer.code < 300) return "Delivered";
    if (BODY_AT_FAULT.has(answer.code) && attempts >= MAX_REJECTIONS) return "Rejected";
  }
  return now - triedSince >= MAX_AGE_MS ? "Expired" : "Retry";
}

/** An answer in words; "" for one that was taken. */
export function answerText(answer: Answer): string {
  if (answer.kind === "failed") return answer.message;
  if (answer.code >= 200 && answer.code < 300) return "";
  return answer.text === "" ? `HTTP ${answer.code}` : `HTTP ${answer.code}: ${answer.text}`;
}

/** How many deliveries the log keeps. */
export const MAX_DELIVERIES = 50;

/** The log with this delivery; further attempts of the newest notice replace its line. */
export function withDelivery(
  log: readonly Delivery[],
  notice: Notice,
  delivery: Pick<Delivery, "at" | "outcome" | "attempts" | "message">,
): readonly Delivery[] {
  const last = log.at(-1);
  const isSame = last?.id === notice.id && last.outcome === "Retry";
  const kept = isSame ? log.slice(0, -1) : log;
  const { id, event } = notice;
  const line = { id, event, summary: shortened(notice.summary), ...delivery };
  return [...kept, { ...line, message: shortened(delivery.message) }].slice(-MAX_DELIVERIES);
}

const MAX_TEXT = 300;

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
