import { addMs, instantOf, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { makeBinding } from "../placement/makers.suite.ts";
import { FEDERATED_SHARES } from "../well-known.ts";
import { decideLetGo } from "./let-go.ts";
import { type FederatedRecord, NO_RECORD, withFederated } from "./record.ts";
import { decideShares } from "./shares.ts";

const counts = (given: Record<string, number>) => new Map(Object.entries(given));
const T0 = instantOf(0);
const FIVE: FederatedRecord = {
  ...NO_RECORD,
  shares: counts({ c1: 2, c2: 2, c3: 1 }),
  started: counts({ c1: 2, c2: 2, c3: 1 }),
  numbers: counts({ c1: 1, c2: 2, c3: 3 }),
  replicas: 5,
};
const C3 = ["c1", "c2", "c3"];

interface Given {
  readonly letGo?: string;
  readonly living?: readonly string[];
  readonly ready?: Record<string, number>;
  readonly present?: Record<string, number>;
  readonly limitMs?: number;
  readonly atMs?: number;
}

function decide(record: FederatedRecord, replicas: number, given: Given = {}) {
  const sharing = (given.living ?? C3).map((name) => ({ name, weight: 1 }));
  const decision = decideShares({
    replicas,
    record,
    growing: sharing,
    shrinking: sharing,
    quorum: {
      set: "store",
      letGo: given.letGo ?? "",
      limitMs: given.limitMs ?? 0,
      ready: counts(given.ready ?? { c1: 2, c2: 2, c3: 1 }),
      present: counts(given.present ?? {}),
      moment: plainMoment(addMs(T0, given.atMs ?? 0)),
    },
  });
  return { ...decision, shares: Object.fromEntries(decision.record.shares) };
}

const LEAVING = decide(FIVE, 3).record;

describe("a replica leaves a quorum", () => {
  it("after the application let it go, and not before", () => {
    expect(LEAVING.leaving).toEqual({ cluster: "c2", ordinal: 1, number: 1, since: T0 });
    expect(decide(LEAVING, 3)).toMatchObject({ reason: "AwaitingLetGo", missing: -2 });
    for (const letGo of [
      "store-c2-1",
      "store-c2-1/2",
      "store-c2-0/1",
      "store-c2-1/11",
      "other-c2-1/1",
      "1",
    ])
      expect(decide(LEAVING, 3, { letGo }).shares).toEqual({ c1: 2, c2: 2, c3: 1 });
    const gone = decide(LEAVING, 3, { letGo: "x, store-c2-1/1" });
    expect(gone.shares).toEqual({ c1: 2, c2: 1, c3: 1 });
    expect(gone.record.leaving).toBeUndefined();
    expect(gone.record.departures).toBe(1);
  });

  it("one after the other: the next is chosen when the pod of the last is gone", () => {
    const gone = decide(LEAVING, 3, { letGo: "store-c2-1/1" }).record;
    const started = { ...gone, started: counts({ c1: 2, c2: 1, c3: 1 }) };
    const going = decide(started, 3, { letGo: "store-c2-1/1", present: { c1: 2, c2: 2, c3: 1 } });
    expect(going).toMatchObject({ reason: "ReplicaGoing", shares: { c1: 2, c2: 1, c3: 1 } });
    expect(going.record.leaving).toBeUndefined();
    const next = decide(going.record, 3, { present: { c1: 2, c2: 1, c3: 1 } }).record;
    expect(next.leaving).toMatchObject({ cluster: "c1", ordinal: 1, number: 2 });
    // A cluster that does not answer is not waited for.
    const dead = decide(started, 3, { present: { c1: 2, c2: 2, c3: 1 }, living: ["c1", "c3"] });
    expect(dead.record.leaving?.cluster).toBe("c1");
  });

  it("a confirmation of a former departure does not count for a replica of the same name", () => {
    const gone = decide(LEAVING, 4, { letGo: "store-c2-1/1" }).record;
    const again = decide({ ...gone, started: gone.shares }, 5, { letGo: "store-c2-1/1" }).record;
    expect(Object.fromEntries(again.shares)).toEqual({ c1: 2, c2: 2, c3: 1 });
    const same = decide({ ...again, started: again.shares }, 4, { letGo: "store-c2-1/1" }).record;
    expect(same.leaving).toMatchObject({ cluster: "c2", ordinal: 1, number: 2 });
    expect(decide(same, 4, { letGo: "store-c2-1/1" }).shares).toEqual({ c1: 2, c2: 2, c3: 1 });
    expect(decide(same, 4, { letGo: "store-c2-1/2" }).shares).toEqual({ c1: 2, c2: 1, c3: 1 });
  });

  it("scaling back withdraws it, unless the application has let it go", () => {
    const back = decide(LEAVING, 5);
    expect(back).toMatchObject({ reason: "Complete", shares: { c1: 2, c2: 2, c3: 1 } });
    expect(back.record.leaving).toBeUndefined();
    expect(decide(back.record, 4).record.leaving?.number).toBe(2);
    const late = decide(LEAVING, 5, { letGo: "store-c2-1/1" });
    expect(late.shares).toEqual({ c1: 2, c2: 1, c3: 1 });
    // The one that comes instead is a matter of the next step: the old pod must be gone before.
    const filled = decide({ ...late.record, started: late.record.shares }, 5);
    expect(filled).toMatchObject({ reason: "Complete", shares: { c1: 2, c2: 2, c3: 1 } });
  });

  it("a dead cluster keeps it, and no other replica is chosen instead", () => {
    const living = ["c1", "c3"];
    expect(decide(LEAVING, 4, { living }).record.leaving).toEqual(LEAVING.leaving);
    const dead = decide(LEAVING, 4, { living, letGo: "store-c2-1/1" });
    expect(dead).toMatchObject({ reason: "SurplusWaits", shares: { c1: 2, c2: 2, c3: 1 } });
    expect(decide(dead.record, 4, { letGo: "store-c2-1/1" }).shares).toEqual({
      c1: 2,
      c2: 1,
      c3: 1,
    });
  });

  it("losing clusters may make the scale-down one of a majority: it is withdrawn", () => {
    const held = decide(LEAVING, 3, { living: ["c2", "c3"] });
    expect(held).toMatchObject({ reason: "MajorityKept", shares: { c1: 2, c2: 2, c3: 1 } });
    expect(held.record.leaving).toBeUndefined();
  });

  it("a replica that was never started goes at once", () => {
    const young = { ...FIVE, started: counts({ c1: 2, c2: 1 }) };
    const decision = decide(young, 3);
    expect(decision).toMatchObject({ reason: "AwaitingLetGo", shares: { c1: 2, c2: 1, c3: 1 } });
    expect(decision.record.leaving).toMatchObject({ cluster: "c1", ordinal: 1 });
  });

  it.each([
    ["before the limit", 59_999, { c1: 2, c2: 2, c3: 1 }, 2],
    ["after it", 60_000, { c1: 2, c2: 2, c3: 1 }, 1],
    ["after it, the others are a majority", 60_000, { c1: 2, c2: 2, c3: 0 }, 1],
    ["after it, but too few are ready", 60_000, { c1: 2, c2: 1, c3: 0 }, 2],
  ])("with a time limit: %s", (_what, atMs, ready, left) => {
    const decision = decide(LEAVING, 3, { limitMs: 60_000, atMs, ready });
    expect(decision.shares["c2"]).toBe(left);
    expect(decision.again).toBe(atMs < 60_000 ? addMs(T0, 60_000) : undefined);
  });

  it("with a time limit it is looked at again when that is over", () => {
    expect(decide(FIVE, 3, { limitMs: 60_000 }).again).toBe(addMs(T0, 60_000));
    expect(decide(FIVE, 3).again).toBeUndefined();
  });
});

describe("let-go", () => {
  const bound = (record: FederatedRecord) => {
    const given = makeBinding({ annotations: { [FEDERATED_SHARES]: "{}" } });
    const resource = { ...given.spec.resource, kind: "StatefulSet", name: "store" };
    return withFederated({ ...given, spec: { ...given.spec, resource } }, record);
  };

  it.each([
    ["store-c2-1", LEAVING, { outcome: "confirm", value: "store-c2-1/1" }],
    [
      "store-c2-0",
      LEAVING,
      { outcome: "refused", message: "store-c2-0 does not leave now; store-c2-1 does" },
    ],
    ["store-c2-1", FIVE, { outcome: "refused", message: "no replica of store leaves now" }],
  ] as const)("%s", (pod, record, expected) => {
    expect(decideLetGo(bound(record), pod)).toEqual(expected);
  });

  it("of another workload it is refused", () => {
    expect(decideLetGo(makeBinding({}), "store-c2-1").outcome).toBe("refused");
  });
});
