/** How much oracles forgive, and when. */
import { describe, expect, it } from "vitest";
import { type Circumstances, circumstancesOf, PLAIN } from "./circumstances.ts";
import { judged } from "./judged.suite.ts";
import type { LinkConditions } from "../network/link.ts";
import type { Fault } from "../scenario/scenario.ts";

/** The truth so many seconds after a scenario with these faults began. */
function truthAt(seconds: number, faults: readonly Fault[]) {
  const scenario = { name: "", seed: 1, members: ["m1"], steps: [], faults };
  const { truth, pass } = judged({ ...PLAIN, ...circumstancesOf(scenario) });
  pass(seconds * 1000);
  return truth;
}

const SLOW: Fault = {
  fault: "link",
  link: "plane",
  from: 10,
  until: 40,
  conditions: { delayMs: [500, 5000] },
};
const PAUSE: Fault = { fault: "pause", at: 60, lasts: 20 };

describe("how old what a controller decides by may be", () => {
  it.each<[string, number, readonly Fault[], number]>([
    ["two seconds when nothing is wrong", 50, [], 2],
    ["two seconds before the trouble", 9, [SLOW], 2],
    ["as old as the trouble while it lasts", 30, [SLOW], 22],
    ["as old as the trouble until everybody is connected again", 65, [SLOW], 57],
    ["two seconds after that", 80, [SLOW], 2],
    ["as old as troubles that meet", 70, [SLOW, PAUSE], 62],
    ["two seconds while a member is slow", 30, [{ ...SLOW, link: "m1" }], 2],
  ])("is %s", (_what, at, faults, seconds) => {
    expect(truthAt(at, faults).lagMs).toBe(seconds * 1000);
  });

  it("is a round trip for what was just read", () => {
    expect(truthAt(30, [SLOW]).roundTripMs).toBe(10_000);
    expect(truthAt(90, [SLOW]).roundTripMs).toBe(0);
  });
});

describe("what a clock that jumps may cost", () => {
  const story = (circumstances: Partial<Circumstances>) => {
    const { truth, pass } = judged({ ...PLAIN, ...circumstances });
    truth.witness.begins(truth.witness.controllers);
    return { truth, pass: (seconds: number) => pass(seconds * 1000) };
  };

  it("is nothing before and after it, and a second for who waits meanwhile", () => {
    const { truth, pass } = story({ clockChanges: [20] });
    pass(19);
    expect(truth.clockSlackMs(0)).toBe(0);
    pass(11);
    expect(truth.clockSlackMs(0)).toBe(1000);
    expect(truth.clockSlackMs(25_000)).toBe(0);
  });

  it("is a second over a restart once it was written down, and unknown before", () => {
    for (const [lived, slackMs] of [
      [30, 1000],
      [22, Infinity],
    ] as const) {
      const { truth, pass } = story({ clockChanges: [20] });
      pass(lived);
      truth.witness.ended();
      truth.witness.begins(truth.witness.controllers);
      expect(truth.clockSlackMs(0)).toBe(slackMs);
    }
  });

  it("is unknown when it jumped while nothing ran, for what was written before and is seen after", () => {
    const { truth, pass } = story({ clockChanges: [20] });
    pass(10);
    truth.witness.ended();
    pass(30);
    truth.witness.begins(truth.witness.controllers);
    expect(truth.clockSlackMs(40_000)).toBe(Infinity);
    pass(1);
    expect(truth.clockSlackMs(41_000)).toBe(0);
  });

  it.each<[string, Partial<Circumstances>]>([
    ["two jumps are close", { clockChanges: [20, 25] }],
    ["two sets of controllers are at work", { clockChanges: [20], hasTwoLeaders: true }],
    [
      "it cannot be written down",
      { clockChanges: [20], lateTimes: [{ from: 15, until: 40, delayMs: 0 }] },
    ],
  ])("is unknown when %s", (_when, circumstances) => {
    const { truth, pass } = story(circumstances);
    pass(60);
    expect(truth.clockSlackMs(0)).toBe(Infinity);
  });

  it.each<[string, number, number]>([
    ["unknown for who began to wait while clocks differed", 30, Infinity],
    ["nothing for who began after that", 50, 0],
  ])("is %s", (_what, since, slackMs) => {
    const faults: readonly Fault[] = [
      { fault: "two-leaders", from: 10, until: 40 },
      { fault: "clock-step", at: 20, stepMs: -30_000 },
    ];
    expect(truthAt(60, faults).clockSlackMs(since * 1000)).toBe(slackMs);
  });
});

describe("where a write may arrive when nobody waits for it", () => {
  const TWO: Fault = { fault: "two-leaders", from: 0, until: 60 };
  const linkOf = (conditions: LinkConditions): Fault => ({ ...SLOW, link: "m1", conditions });
  it.each<[boolean, string, readonly Fault[]]>([
    [true, "writes are repeated", [linkOf({ duplicate: 0.5 })]],
    [false, "the only one who writes waits for what is late", [linkOf({ late: 0.5 })]],
    [true, "another one does not know what is late", [linkOf({ late: 0.5 }), TWO]],
    [true, "another one does not know what is slow", [linkOf({ delayMs: [500, 5000] }), TWO]],
    [false, "two write at once and nothing is late", [linkOf({ fail: 0.5 }), TWO]],
  ])("says %s when %s", (isSo, _when, faults) => {
    expect(truthAt(0, faults).circumstances.repeated.has("m1")).toBe(isSo);
  });
});
