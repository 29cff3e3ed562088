import { describe, expect, it } from "vitest";
import { instantOf } from "@lifeboat/base";
import { type FederatedRecord, NO_RECORD } from "./record.ts";
import { decideStart, joiningState } from "./start.ts";

const counts = (given: Record<string, number>) => new Map(Object.entries(given));
const record = {
  ...NO_RECORD,
  shares: counts({ a: 1, b: 2, c: 2 }),
  numbers: counts({ b: 1, a: 2, c: 3 }),
};
const ALL = new Set(["a", "b", "c"]);
const start = (
  started: Record<string, number> | undefined,
  ready: Record<string, number>,
  living: ReadonlySet<string> = ALL,
  running: Record<string, number> = {},
  present: Record<string, number> = {},
) =>
  Object.fromEntries(
    decideStart({
      record: started === undefined ? record : { ...record, started: counts(started) },
      running: counts(running),
      ready: counts(ready),
      present: counts(present),
      living,
    }).started,
  );

describe("the start of a quorum", () => {
  it.each([
    ["the first cluster whole, by number and not by name", undefined, {}, ALL, { b: 2 }],
    ["nothing joins before it is ready", { b: 2 }, { b: 1 }, ALL, { b: 2 }],
    ["then one pod", { b: 2 }, { b: 2 }, ALL, { b: 2, a: 1 }],
    ["the next waits for it", { b: 2, a: 1 }, { b: 2 }, ALL, { b: 2, a: 1 }],
    ["one after the other", { b: 2, a: 1 }, { b: 2, a: 1 }, ALL, { b: 2, a: 1, c: 1 }],
    ["until all are there", { b: 2, a: 1, c: 2 }, { b: 2, a: 1, c: 2 }, ALL, { b: 2, a: 1, c: 2 }],
    [
      "a dead cluster is not waited for",
      { b: 2, a: 1 },
      { b: 2 },
      new Set(["b", "c"]),
      { b: 2, a: 1, c: 1 },
    ],
    ["and gets no new pod", { b: 2 }, { b: 2 }, new Set(["b", "c"]), { b: 2, c: 1 }],
    ["a smaller share takes pods away", { b: 2, a: 1, c: 5 }, {}, ALL, { b: 2, a: 1, c: 2 }],
  ] as const)("%s", (_what, started, ready, living, expected) => {
    expect(start(started, ready, living)).toEqual(expected);
  });

  it("nothing starts while a pod that left is there, or another is asked to leave", () => {
    const [some, all] = [
      { b: 2, a: 1, c: 1 },
      { b: 2, a: 1, c: 2 },
    ];
    expect(start(some, some, ALL, {}, { b: 2, a: 1, c: 2 })).toEqual(some);
    expect(start(some, some, ALL, {}, some)).toEqual(all);
    const leaving = { cluster: "a", ordinal: 0, number: 1, since: instantOf(0) };
    const view = { running: counts({}), ready: counts(some), present: counts(some), living: ALL };
    const held = decideStart({ ...view, record: { ...record, started: counts(some), leaving } });
    expect(Object.fromEntries(held.started)).toEqual(some);
  });

  it("its founders count until they were ready together; a dead first cluster is waited for", () => {
    const step = (
      before: FederatedRecord,
      ready: Record<string, number>,
      living: ReadonlySet<string> = ALL,
    ): FederatedRecord => ({
      ...before,
      ...decideStart({
        record: before,
        running: counts({}),
        ready: counts(ready),
        present: counts({}),
        living,
      }),
    });
    const first = step(record, {});
    const states = (one: FederatedRecord) =>
      ["b 0", "b 1", "b 2", "a 0"].map((text) => {
        const [cluster = "", ordinal] = text.split(" ");
        return joiningState(one, cluster, Number(ordinal));
      });
    expect(states(first)).toEqual(["new", "new", "existing", "existing"]);
    const died = step(first, {}, new Set(["a", "c"]));
    expect(Object.fromEntries(died.started ?? [])).toEqual({ b: 2 });
    const formed = step(died, { b: 2 });
    expect(states(formed)).toEqual(["existing", "existing", "existing", "existing"]);
    expect(Object.fromEntries(formed.started ?? [])).toEqual({ b: 2, a: 1 });
    expect([...(formed.founders ?? [])]).toEqual([["b", 0]]);
    // It is never formed a second time, whatever is lost.
    expect(states(step(formed, {}))).toEqual(states(formed));
    expect(joiningState(NO_RECORD, "b", 0)).toBeUndefined();
  });

  it("what ran before goes on", () => {
    expect(start(undefined, {}, ALL, { a: 1, c: 2 })).toEqual({ a: 1, c: 2 });
  });
});
