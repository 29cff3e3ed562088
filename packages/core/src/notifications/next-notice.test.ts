/** Which notice comes next, for each entry of the history and for what waits. */
import type { LedgerEntry } from "@lifeboat/api";
import { addMs, formatMicroTime, instantOf } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NumberedEntry } from "../history/index.ts";
import {
  firstRecord,
  nextNotice,
  type NoticeRecord,
  type SeenWait,
  SETTLED_MS,
} from "./next-notice.ts";
import { type Notice, NOTICE_EVENTS, type NoticeEvent } from "./notice.ts";
import { formatStored, readStored } from "./stored.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1, 12));
const ALL: ReadonlySet<NoticeEvent> = new Set(NOTICE_EVENTS);
const EMPTY: NoticeRecord = { number: 0, open: {} };

function entry(number: number, action: string, about: Partial<LedgerEntry> = {}): NumberedEntry {
  return {
    number,
    at: formatMicroTime(addMs(NOW, number * 1000)),
    action,
    subject: { kind: "Cluster", name: "eu-1", uid: "c1" },
    fact: "ready",
    cluster: "eu-1",
    ...about,
  };
}

const FENCE: SeenWait = {
  reason: "Fence",
  message: "is eu-1 really off? Deployment shop/web waits for it",
  command: "lifeboat fence eu-1",
  seenAt: NOW,
};

/** Everything that is sent until there is nothing left, at one time. */
function sent(
  record: NoticeRecord,
  entries: readonly NumberedEntry[],
  waits: readonly SeenWait[] = [],
  at = addMs(NOW, 100_000),
  events = ALL,
): { readonly notices: readonly Notice[]; readonly record: NoticeRecord } {
  const notices: Notice[] = [];
  let known = record;
  for (;;) {
    const next = nextNotice(known, { entries, waits, events }, at);
    known = next.record;
    if (next.notice === undefined) return { notices, record: known };
    notices.push(next.notice);
  }
}

const events = (given: { readonly notices: readonly Notice[] }): readonly string[] =>
  given.notices.map(({ event, subject }) => `${event} ${subject}`);

describe("clusters and evacuations", () => {
  const evacuation = { evacuation: "eu-1-1", fact: "evacuation", message: "3 workloads" };
  const failure = [
    entry(1, "Joined"),
    entry(2, "Ready"),
    entry(3, "NotReady", { message: "Ready is Unknown" }),
    // The reason changed: the cluster is still down.
    entry(4, "NotReady", { message: "Ready is False" }),
    entry(5, "Tainted"),
    entry(6, "EvacuationBegan", evacuation),
    entry(7, "Evicted"),
    entry(8, "EvacuationEnded", { ...evacuation, message: "Completed: 3 of 3 moved" }),
    entry(9, "Ready"),
  ];

  it("are sent once when they begin and once when they end", () => {
    const all = sent(EMPTY, failure);
    expect(events(all)).toEqual([
      "ClusterFailed eu-1",
      "EvacuationBegan eu-1-1",
      "EvacuationEnded eu-1-1",
      "ClusterRecovered eu-1",
    ]);
    expect(all.record).toEqual({ number: 9, open: {} });
    expect(all.notices[0]).toMatchObject({
      id: "history-3",
      severity: "critical",
      status: "firing",
      summary: "eu-1 failed: Ready is Unknown",
      endsAt: undefined,
    });
    expect(all.notices[3]).toMatchObject({
      status: "resolved",
      startsAt: addMs(NOW, 3000),
      endsAt: addMs(NOW, 9000),
    });
  });

  it("end also when the cluster leaves the fleet", () => {
    const left = [...failure.slice(0, 4), entry(5, "Left")];
    expect(events(sent(EMPTY, left)).at(-1)).toBe("ClusterRecovered eu-1");
  });

  it("from before the first start are not sent, but what they began ends", () => {
    const record = firstRecord(failure.slice(0, 6));
    expect(events(sent(record, failure))).toEqual([
      "EvacuationEnded eu-1-1",
      "ClusterRecovered eu-1",
    ]);
  });

  it("that were not asked for are not sent, and are known nevertheless", () => {
    const only: ReadonlySet<NoticeEvent> = new Set(["ClusterRecovered"]);
    const all = sent(EMPTY, failure, [], NOW, only);
    expect(events(all)).toEqual(["ClusterRecovered eu-1"]);
  });

  it("are sent on after a restored backup, whose numbers begin lower", () => {
    const record: NoticeRecord = { number: 500, open: {} };
    const { record: after } = sent(record, failure);
    expect(after.number).toBe(9);
    expect(events(sent(after, [...failure, entry(10, "NotReady")]))).toEqual([
      "ClusterFailed eu-1",
    ]);
  });
});

describe("what waits for a person", () => {
  it("is sent once it has lasted, once, and when it is over", () => {
    const early = nextNotice(EMPTY, { entries: [], waits: [FENCE], events: ALL }, addMs(NOW, 1));
    expect(early).toMatchObject({ notice: undefined, checkAgainAt: addMs(NOW, SETTLED_MS) });
    const first = sent(EMPTY, [], [FENCE]);
    expect(first.notices).toHaveLength(1);
    expect(first.notices[0]).toMatchObject({
      event: "DecisionWaits",
      severity: "critical",
      command: "lifeboat fence eu-1",
    });
    // More workloads wait for the same decision.
    const more = { ...FENCE, message: "is eu-1 really off? 7 wait for it" };
    expect(sent(first.record, [], [more]).notices).toEqual([]);
    const over = sent(first.record, [], []);
    expect(over.notices).toHaveLength(1);
    expect(over.notices[0]).toMatchObject({ event: "DecisionMade", status: "resolved" });
    expect(sent(over.record, [], []).notices).toEqual([]);
  });

  it("and is gone before a person could read it is not sent", () => {
    const { record } = nextNotice(EMPTY, { entries: [], waits: [FENCE], events: ALL }, NOW);
    expect(sent(record, [], []).notices).toEqual([]);
  });
});

/**
 * A process may die after a delivery and before its record is written: the notice comes again, with the same id. Nothing else is
 * sent twice, nothing is left out, and the order is that of the history.
 */
it("loses nothing and repeats only the notice whose record was not written", () => {
  const action = fc.constantFrom(
    "NotReady",
    "Ready",
    "EvacuationBegan",
    "EvacuationEnded",
    "Tainted",
  );
  const cluster = fc.constantFrom("eu-1", "eu-2");
  fc.assert(
    fc.property(
      fc.array(fc.record({ action, cluster }), { maxLength: 30 }),
      fc.array(fc.boolean(), { maxLength: 60 }),
      (steps, crashes) => {
        const entries = steps.map((step, i) =>
          entry(i + 1, step.action, { cluster: step.cluster, evacuation: `${step.cluster}-1` }),
        );
        const wanted = sent(EMPTY, entries).notices.map(({ id }) => id);
        const got: string[] = [];
        let stored = formatStored(EMPTY, []);
        for (let i = 0; got.length < 200; i++) {
          const record = readStored(stored).record ?? EMPTY;
          const next = nextNotice(record, { entries, waits: [], events: ALL }, NOW);
          if (next.notice === undefined) break;
          got.push(next.notice.id);
          // The process dies before it writes the record.
          const dies = crashes[i] ?? false;
          if (!dies) stored = formatStored(next.record, []);
        }
        expect([...new Set(got)]).toEqual(wanted);
        expect(got.length - wanted.length).toBeLessThanOrEqual(crashes.filter(Boolean).length);
      },
    ),
  );
});
