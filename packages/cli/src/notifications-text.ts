/** The log of deliveries for people, and what `lifeboat status` shows of it. */
import { humanDuration } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import type { Delivery, StoredNotices } from "@lifeboat/core/notifications";
import { columns } from "./wrap.ts";

const OUTCOMES: Readonly<Record<Delivery["outcome"], string>> = {
  Delivered: "delivered",
  Retry: "failing",
  Rejected: "rejected",
  Expired: "given up",
};

/** The deliveries, oldest first. */
export function deliveryLines(deliveries: readonly Delivery[]): readonly string[] {
  const rows = deliveries.map(({ at, event, outcome, attempts, summary, message }) => [
    formatTime(at),
    event,
    `${OUTCOMES[outcome]}${attempts > 1 ? ` (${attempts} attempts)` : ""}`,
    message === "" ? summary : `${summary}: ${message}`,
  ]);
  return columns(["AT", "EVENT", "RESULT", "NOTICE"], rows);
}

/** One text for the status; none while notices are off. */
export function notifyTexts(
  settings: PublishedSettings | undefined,
  notices: StoredNotices | undefined,
  now: Instant,
): readonly string[] {
  const destination = settings?.["notify"];
  if (destination === undefined) return [];
  const last = notices?.deliveries.at(-1);
  if (last === undefined) return [`${destination}; nothing was sent yet`];
  const age = humanDuration(now - last.at);
  if (last.outcome === "Delivered") return [`${destination}; the last one arrived ${age} ago`];
  const what = last.outcome === "Retry" ? "people are NOT reached" : "a notice was lost";
  return [
    `${destination}; ${what}: ${last.message} (attempt ${last.attempts}, ${age} ago); lifeboat notifications`,
  ];
}
