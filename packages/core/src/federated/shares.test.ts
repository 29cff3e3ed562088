import { instantOf, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { NO_RECORD, type FederatedRecord } from "./record.ts";
import { decideShares, forgetShare } from "./shares.ts";

const clusters = (...names: string[]) =>
  names.map((text) => {
    const [name = "", weight = "1"] = text.split("*");
    return { name, weight: Number(weight) };
  });
const plain = ({ shares }: FederatedRecord): Record<string, number> => Object.fromEntries(shares);
const scale = (record: FederatedRecord, replicas: number, ...living: string[]) =>
  decideShares({ replicas, record, growing: clusters(...living), shrinking: clusters(...living) });
/** Scales step by step, with all clusters living. */
function scaled(living: readonly string[], ...steps: readonly number[]): FederatedRecord {
  return steps.reduce((record, n) => scale(record, n, ...living).record, NO_RECORD);
}
const C3 = ["c1", "c2", "c3"];

describe("shares", () => {
  it.each([
    ["the seed's example", C3, [11], { c1: 4, c2: 4, c3: 3 }],
    ["the order of clusters does not matter", ["c3", "c1", "c2"], [11], { c1: 4, c2: 4, c3: 3 }],
    ["fewer replicas than clusters: at most one each", C3, [2], { c1: 1, c2: 1 }],
    ["as many as clusters", C3, [3], { c1: 1, c2: 1, c3: 1 }],
    ["none", C3, [0], {}],
    ["step by step is as at once", C3, [1, 5, 11], { c1: 4, c2: 4, c3: 3 }],
    ["scaling back takes back", C3, [11, 14, 11], { c1: 4, c2: 4, c3: 3 }],
    ["one by one down", C3, [11, 10], { c1: 4, c2: 3, c3: 3 }],
    ["down to nothing", C3, [11, 0], {}],
    [
      "30 over 10",
      Array.from({ length: 10 }, (_, i) => `k${i}`),
      [30],
      Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 3])),
    ],
    ["100 over 5", ["a", "b", "c", "d", "e"], [100], { a: 20, b: 20, c: 20, d: 20, e: 20 }],
    ["weights", ["a*2", "b*1"], [9], { a: 6, b: 3 }],
    ["weights: fewer than clusters", ["a*5", "b*1"], [2], { a: 1, b: 1 }],
    ["a weight of nothing", ["a*1", "b*0"], [3], { a: 3 }],
  ] as const)("%s", (_what, living, steps, expected) => {
    expect(plain(scaled(living, ...steps))).toEqual(expected);
  });

  it("a dead cluster keeps its share, and neither grows nor shrinks", () => {
    const placed = scaled(C3, 11);
    expect(plain(scale(placed, 11, "c1", "c2").record)).toEqual({ c1: 4, c2: 4, c3: 3 });
    expect(plain(scale(placed, 13, "c1", "c2").record)).toEqual({ c1: 5, c2: 5, c3: 3 });
    expect(plain(scale(placed, 5, "c1", "c2").record)).toEqual({ c1: 1, c2: 1, c3: 3 });
  });

  it("a surplus in dead clusters waits for one that lives", () => {
    const placed = scaled(C3, 11);
    const down = scale(placed, 2, "c1", "c2");
    expect(down).toMatchObject({ reason: "SurplusWaits", missing: -1 });
    expect(plain(down.record)).toEqual({ c3: 3 });
    const back = scale(down.record, 2, ...C3);
    expect(back.reason).toBe("Complete");
    expect(plain(back.record)).toEqual({ c3: 2 });
  });

  it("a cluster that joins takes part from the next scale-up", () => {
    const placed = scaled(["c1", "c2"], 4);
    expect(plain(scale(placed, 4, "c1", "c2", "c3").record)).toEqual({ c1: 2, c2: 2 });
    expect(plain(scale(placed, 6, "c1", "c2", "c3").record)).toEqual({ c1: 2, c2: 2, c3: 2 });
  });

  it("without a living cluster a scale-up waits, and is carried out when one comes", () => {
    const waiting = scale(NO_RECORD, 3);
    expect(waiting).toMatchObject({ reason: "NoLivingCluster", missing: 3 });
    expect(plain(scale(waiting.record, 3, "c1").record)).toEqual({ c1: 3 });
  });

  it("a forgotten share comes back with the next scale-up, elsewhere, and never to the same cluster", () => {
    const forgotten = forgetShare(scaled(C3, 11), "c1");
    const same = scale(forgotten, 11, ...C3);
    expect(same).toMatchObject({ reason: "ShareGivenUp", missing: 4 });
    expect(plain(same.record)).toEqual({ c2: 4, c3: 3 });
    const down = scale(same.record, 9, ...C3);
    expect(down).toMatchObject({ reason: "ShareGivenUp", missing: 2 });
    expect(plain(down.record)).toEqual({ c2: 4, c3: 3 });
    const up = scale(down.record, 12, ...C3);
    expect(up.reason).toBe("Complete");
    expect(plain(up.record)).toEqual({ c2: 6, c3: 6 });
  });

  it("every cluster keeps the number it was given first", () => {
    const placed = scaled(["b", "c"], 2);
    const grown = scale(placed, 4, "a", "b", "c");
    expect(Object.fromEntries(grown.record.numbers)).toEqual({ b: 1, c: 2, a: 3 });
    const emptied = scale(grown.record, 0, "a", "b", "c");
    expect(emptied.record.numbers).toEqual(grown.record.numbers);
  });

  it.each([
    [5, 3, "AwaitingLetGo"],
    [5, 2, "MajorityKept"],
    [3, 2, "AwaitingLetGo"],
    [3, 1, "MajorityKept"],
    [1, 0, "MajorityKept"],
    [3, 5, "Complete"],
  ])("of a quorum %i to %i: %s", (from, to, reason) => {
    const record = scaled(C3, from);
    const living = clusters(...C3);
    const none = new Map<string, number>();
    const moment = plainMoment(instantOf(0));
    const quorum = { set: "store", letGo: "", limitMs: 0, ready: none, present: none, moment };
    const view = { replicas: to, record, growing: living, shrinking: living };
    const decision = decideShares({ ...view, quorum });
    expect(decision.reason).toBe(reason);
    if (to < from) expect(decision.record.shares).toEqual(record.shares);
    if (reason === "MajorityKept") {
      expect(decision.record.replicas).toBe(from);
      expect(decision.record.held).toEqual({ reason, living: from, removed: from - to });
    }
    expect(decideShares(view).reason).toBe("Complete");
  });

  it("an absurd number of replicas is bounded", () => {
    expect(scale(NO_RECORD, 2_147_483_647, "c1").record.shares.get("c1")).toBe(10_000);
  });
});
