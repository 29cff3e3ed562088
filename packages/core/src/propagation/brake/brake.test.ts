import type { Condition } from "@lifeboat/api";
import { addMs, formatTime, instantOf, plainMoment, SteadyTime } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  brakeCondition,
  decideDeletion,
  type DeletionCause,
  type DeletionView,
  isExempt,
  type LetThrough,
  releaseTime,
} from "./brake.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1, 12));
const at = (seconds: number): string => formatTime(addMs(NOW, seconds * 1000));
const letThrough = (seconds: number, count: number, works = 100): LetThrough => ({
  at: at(seconds),
  count,
  works,
});
const braked = (seconds: number): Condition => ({
  type: "MassDeletion",
  status: "True",
  reason: "TooManyDeletions",
  message: "",
  lastTransitionTime: at(seconds),
});
const view = (changes: Partial<DeletionView> = {}): DeletionView => ({
  asked: 1,
  works: 100,
  recent: [],
  conditions: [],
  ...changes,
});

it.each([
  ["TemplateDeleted", true],
  ["ClusterDeleted", true],
  ["Evicted", true],
  ["WorkloadMoved", true],
  ["BindingDeleted", false],
  ["Descheduled", false],
] as [DeletionCause, boolean][])("%s is exempt: %s", (cause, expected) => {
  expect(isExempt(cause)).toBe(expected);
});

describe("decideDeletion", () => {
  it.each([
    ["one of few", { works: 3 }, 1, "WithinAllowance"],
    ["all of twenty", { asked: 20, works: 20 }, 20, "WithinAllowance"],
    ["twenty of twenty-one", { asked: 21, works: 21 }, 20, "TooManyDeletions"],
    ["a tenth of many", { asked: 100, works: 1000 }, 100, "WithinAllowance"],
    ["a tenth of many and no more", { asked: 101, works: 1000 }, 100, "TooManyDeletions"],
    [
      "what is left of the minute",
      { asked: 9, recent: [letThrough(-30, 15)] },
      5,
      "TooManyDeletions",
    ],
    [
      "all when the minute is over",
      { asked: 20, recent: [letThrough(-62, 20)] },
      20,
      "WithinAllowance",
    ],
    [
      "a tenth of what there was before deletions began",
      { asked: 10, works: 910, recent: [letThrough(-5, 90, 1000)] },
      10,
      "WithinAllowance",
    ],
    [
      "as if moments of the near future counted",
      { recent: [letThrough(30, 20)] },
      0,
      "TooManyDeletions",
    ],
    ["nothing while braked", { conditions: [braked(-600)] }, 0, "TooManyDeletions"],
    [
      "nothing for a release of before",
      { conditions: [braked(-600)], releasedAt: at(-601) },
      0,
      "TooManyDeletions",
    ],
    [
      "nothing for a release to come",
      { conditions: [braked(-600)], releasedAt: at(5) },
      0,
      "TooManyDeletions",
    ],
    [
      "everything after a release",
      { asked: 500, conditions: [braked(-600)], releasedAt: at(0), recent: [letThrough(-1, 20)] },
      500,
      "BrakeReleased",
    ],
    ["everything for ten minutes", { asked: 500, releasedAt: at(-599) }, 500, "BrakeReleased"],
    ["a normal measure afterwards", { asked: 500, releasedAt: at(-601) }, 20, "TooManyDeletions"],
    [
      "nothing for no release at all",
      { conditions: [braked(0)], releasedAt: "x" },
      0,
      "TooManyDeletions",
    ],
  ] as [string, Partial<DeletionView>, number, string][])(
    "lets through %s",
    (_what, changes, granted, reason) => {
      expect(decideDeletion(view(changes), plainMoment(NOW))).toMatchObject({ granted, reason });
    },
  );

  it("reports that it brakes, once", () => {
    const first = decideDeletion(view({ asked: 25 }), plainMoment(NOW));
    expect(first).toMatchObject({
      granted: 20,
      condition: { type: "MassDeletion", status: "True", reason: "TooManyDeletions" },
      events: [{ type: "Warning", reason: "MassDeletion" }],
    });
    const again = decideDeletion(view({ asked: 25, conditions: [braked(0)] }), plainMoment(NOW));
    expect(again).toMatchObject({ granted: 0, events: [] });
    expect(again.condition).toBeUndefined();
  });

  it.each([
    ["forward", 600],
    ["back", -600],
  ])("counts a minute that has passed, not one that the clock jumped %s over", (_way, seconds) => {
    let [monotonic, offset] = [0, NOW as number];
    const time = new SteadyTime({
      now: () => instantOf(offset + monotonic),
      monotonic: () => monotonic,
    });
    const recent = [letThrough(0, 20)];
    const granted = (): number => decideDeletion(view({ recent }), time.moment()).granted;
    expect(granted()).toBe(0);
    offset += seconds * 1000;
    expect(granted()).toBe(0);
    monotonic += 60_999;
    expect(granted()).toBe(0);
    monotonic += 1;
    expect(granted()).toBe(1);
  });

  it("keeps one record a second, and only of the last minute", () => {
    const recent = [letThrough(-120, 3), letThrough(-10, 1), letThrough(0, 2)];
    expect(decideDeletion(view({ asked: 4, recent }), plainMoment(NOW)).recent).toEqual([
      letThrough(-10, 1),
      letThrough(0, 6),
    ]);
  });

  it("lets through no more than is allowed within any minute, however often it is asked", () => {
    let recent: readonly LetThrough[] = [];
    const granted: { readonly at: number; readonly count: number }[] = [];
    for (let second = 0; second < 600; second += 7) {
      const now = addMs(NOW, second * 1000 + ((second * 131) % 1000));
      // The condition is ignored on purpose: the record alone must hold.
      const plan = decideDeletion(view({ asked: 3, recent }), plainMoment(now));
      recent = plan.recent;
      granted.push({ at: now, count: plan.granted });
    }
    for (const { at: end } of granted) {
      const minute = granted.filter((one) => one.at <= end && one.at > end - 60_000);
      expect(minute.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(20);
    }
    expect(granted.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(100);
  });
});

it.each([
  ["a release", [braked(-5)], at(-1), "False"],
  ["nothing while braked", [braked(-5)], undefined, undefined],
  ["nothing when it is not braked", [], at(-1), undefined],
] as [string, Condition[], string | undefined, string | undefined][])(
  "shows %s",
  (_what, conditions, releasedAt, status) => {
    expect(brakeCondition({ conditions, releasedAt }, NOW)?.status).toBe(status);
  },
);

it.each([
  ["an hour later", Date.UTC(2026, 0, 1, 1), "2026-01-01T01:00:00Z"],
  ["by a clock that is behind", Date.UTC(2026, 0, 1), "2026-01-01T00:00:10Z"],
  ["in the same second", Date.UTC(2026, 0, 1, 0, 0, 10, 900), "2026-01-01T00:00:10Z"],
])("releases a brake %s at a time that counts", (_what, now, expected) => {
  const condition: Condition = {
    type: "MassDeletion",
    status: "True",
    reason: "TooManyDeletions",
    message: "21 of 100 Works",
    lastTransitionTime: "2026-01-01T00:00:10Z",
  };
  expect(releaseTime(condition, instantOf(now))).toBe(expected);
});
