/** The record of notices and the log of deliveries as they are kept: two keys of a ConfigMap. What cannot be read is absent. */
import { formatTime, instantOf, parseTime } from "@lifeboat/base";
import { isFields, textAt } from "../fields.ts";
import { type Delivery, type Outcome, OUTCOMES } from "./attempts.ts";
import type { NoticeRecord, OpenState } from "./next-notice.ts";
import { NOTICE_EVENTS } from "./notice.ts";

export interface StoredNotices {
  /** undefined: no notice was ever considered. */
  readonly record: NoticeRecord | undefined;
  /** Oldest first. */
  readonly deliveries: readonly Delivery[];
}

export function formatStored(
  record: NoticeRecord,
  deliveries: readonly Delivery[],
): Readonly<Record<string, string>> {
  const open = Object.fromEntries(
    Object.entries(record.open).map(([key, { since, summary }]) => [
      key,
      { since: formatTime(since), summary },
    ]),
  );
  const log = deliveries.map((one) => ({ ...one, at: formatTime(one.at) }));
  return {
    record: JSON.stringify({ number: record.number, open }),
    deliveries: JSON.stringify(log),
  };
}

export function readStored(data: unknown): StoredNotices {
  if (!isFields(data)) return { record: undefined, deliveries: [] };
  const log = parsed(textAt(data, "deliveries"));
  return {
    record: readRecord(parsed(textAt(data, "record"))),
    deliveries: Array.isArray(log) ? log.flatMap(readDelivery) : [],
  };
}

function readRecord(value: unknown): NoticeRecord | undefined {
  if (!isFields(value) || typeof value["number"] !== "number") return undefined;
  const open: Record<string, OpenState> = {};
  for (const [key, one] of Object.entries(isFields(value["open"]) ? value["open"] : {})) {
    if (!isFields(one)) continue;
    open[key] = {
      since: parseTime(textAt(one, "since")) ?? instantOf(0),
      summary: textAt(one, "summary"),
    };
  }
  return { number: value["number"], open };
}

function readDelivery(value: unknown): readonly Delivery[] {
  if (!isFields(value)) return [];
  const at = parseTime(textAt(value, "at"));
  const event = NOTICE_EVENTS.find((one) => one === value["event"]);
  const outcome: Outcome | undefined = OUTCOMES.find((one) => one === value["outcome"]);
  if (at === undefined || event === undefined || outcome === undefined) return [];
  const attempts = typeof value["attempts"] === "number" ? value["attempts"] : 1;
  const text = (name: string): string => textAt(value, name);
  return [
    {
      at,
      event,
      outcome,
      attempts,
      id: text("id"),
      summary: text("summary"),
      message: text("message"),
    },
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
