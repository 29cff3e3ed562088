/**
 * The record: which evacuation, which bindings are in it on which terms, in which slices, and what becomes of its taints.
 */
import { describe, expect, it } from "vitest";
import { ADDED, DOWN, makeBinding, makeEvacuation, NOW, recorded, SLOW } from "./makers.suite.ts";
import { digestOfResult } from "./own-result.ts";
import {
  currentOf,
  isOpen,
  judge,
  type JudgeOptions,
  nextEvacuation,
  numberOf,
  recordTaints,
  slicesFor,
  surplusOf,
} from "./record.ts";
import { identityOf, taintId } from "./taint-identity.ts";

const OPTIONS: JudgeOptions = {
  defaultPurgeMode: "Gracefully",
  isScripted: () => false,
  asksForApproval: () => false,
  priorityOf: () => 0,
};
const GONE = recorded(DOWN, { removedAt: ADDED });

describe("which evacuation", () => {
  it("the next number, also when clusters are named alike or people use the name", () => {
    expect(nextEvacuation("eu", []).metadata.name).toBe("eu-1");
    const some = ["eu-2", "eu-10", "eu-9"].map((name) => makeEvacuation(name));
    expect(nextEvacuation("eu", some).metadata.name).toBe("eu-11");
    const strange = { ...makeEvacuation("eu-x"), spec: { cluster: "eu", paused: false } };
    expect(numberOf(strange)).toBe(0);
    expect(nextEvacuation("eu", [strange]).metadata.name).toBe("eu-1");
    expect(nextEvacuation("eu-1", [makeEvacuation("eu-1-3")]).metadata.name).toBe("eu-1-4");
    const isTaken = (name: string): boolean => name === "eu-1";
    expect(nextEvacuation("eu", [], isTaken).metadata.name).toBe("eu-2");
  });

  it.each([
    ["new", undefined, true],
    ["with a taint", { taints: [recorded(DOWN)] }, true],
    ["completed, with a taint", { finishedAt: ADDED, taints: [recorded(DOWN)] }, true],
    ["one of two taints left", { taints: [GONE, recorded(SLOW)] }, true],
    ["without taints", { taints: [GONE] }, false],
    ["finished without taints", { finishedAt: ADDED, taints: [] }, false],
  ])("one that is %s", (_name, status, open) => {
    const one = makeEvacuation("eu-3", status);
    expect(isOpen(one)).toBe(open);
    expect(currentOf([makeEvacuation("eu-2"), one])).toBe(open ? one : undefined);
  });

  it("one being deleted is over", () => {
    expect(isOpen(makeEvacuation("eu-1", undefined, { deletionTimestamp: ADDED }))).toBe(false);
  });

  it("keeps the last ten, and whatever has not finished", () => {
    const done = { finishedAt: ADDED, taints: [GONE] };
    const all = Array.from({ length: 13 }, (_, i) =>
      makeEvacuation(`eu-${i + 1}`, i === 1 ? { taints: [GONE] } : done),
    );
    expect(surplusOf(all).map(({ metadata }) => metadata.name)).toEqual(["eu-1", "eu-3"]);
    expect(surplusOf(all.slice(0, 10))).toEqual([]);
  });
});

describe("an entry", () => {
  it("names the bindings, and on which terms each leaves", () => {
    const tolerant = makeBinding({
      placement: { clusterTolerations: [{ operator: "Exists", tolerationSeconds: 60 }] },
    });
    expect(judge(tolerant, "eu-1", DOWN, OPTIONS)).toEqual({
      binding: { kind: "ResourceBinding", namespace: "default", name: "web", uid: "u1" },
      resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      lane: "Workload",
      purgeMode: "Gracefully",
      toleratedUntil: "2026-01-01T00:01:00Z",
      result: digestOfResult(tolerant),
    });
  });

  it("records also a binding that stays, with the reason", () => {
    expect(judge(makeBinding(), "eu-1", SLOW, OPTIONS)).toMatchObject({ exempt: "NoFailover" });
    const binding = makeBinding();
    const annotations = { "lifeboat.dev/federated-shares": "not even readable" };
    const federated = { ...binding, metadata: { ...binding.metadata, annotations } };
    expect(judge(federated, "eu-1", DOWN, OPTIONS)).toMatchObject({
      exempt: "FederatedStatefulSet",
    });
  });

  const resource = (apiVersion: string, kind: string): object => ({
    replicas: 0,
    resource: { apiVersion, kind, name: "x" },
  });
  it.each([
    ["a Deployment without replicas", resource("apps/v1", "Deployment"), "Workload"],
    ["a Job", resource("batch/v1", "Job"), "Workload"],
    ["a ConfigMap", resource("v1", "ConfigMap"), "Passive"],
    ["a Role", resource("rbac.authorization.k8s.io/v1", "Role"), "Passive"],
    ["something of one's own", resource("ex.io/v1", "Widget"), "Passive"],
    [
      "something of one's own with replicas",
      { ...resource("ex.io/v1", "X"), replicas: 2 },
      "Workload",
    ],
  ])("%s is in the right lane", (_name, spec, lane) => {
    expect(judge(makeBinding(spec), "eu-1", DOWN, OPTIONS).lane).toBe(lane);
  });

  it("a kind whose health or replicas a script interprets is a workload", () => {
    const scripted = { ...OPTIONS, isScripted: () => true };
    const binding = makeBinding(resource("ex.io/v1", "Widget"));
    expect(judge(binding, "eu-1", DOWN, scripted).lane).toBe("Workload");
  });
});

describe("slices", () => {
  const entry = (i: number) => ({
    ...judge(makeBinding({}, { name: `b-${i}`, uid: `u${i}` }), "eu-1", DOWN, OPTIONS),
  });
  const entries = Array.from({ length: 1001 }, (_, i) => entry(i));
  const evacuation = makeEvacuation("eu-1-1");

  it("hold 500 each, have names of their own, and belong to the evacuation", () => {
    const slices = slicesFor(evacuation, identityOf(DOWN), 3, entries);
    expect(slices.map(({ spec }) => spec.entries.length)).toEqual([500, 500, 1]);
    expect(slices.map(({ spec }) => spec.ordinal)).toEqual([3, 4, 5]);
    expect(new Set(slices.map(({ metadata }) => metadata.name)).size).toBe(3);
    expect(slices[0]?.metadata.ownerReferences).toMatchObject([{ uid: "uid of eu-1-1" }]);
    const others = slicesFor(evacuation, identityOf(SLOW), 3, entries.slice(0, 1));
    expect(others[0]?.metadata.name).not.toBe(slices[0]?.metadata.name);
  });

  it("are the same for the same set, in whatever order it comes", () => {
    const a = slicesFor(evacuation, identityOf(DOWN), 0, entries);
    expect(slicesFor(evacuation, identityOf(DOWN), 0, entries.toReversed())).toEqual(a);
    expect(slicesFor(evacuation, identityOf(DOWN), 0, [])).toEqual([]);
  });
});

describe("taints", () => {
  const slices = (...of: readonly [typeof DOWN, number][]): ReadonlyMap<string, number> =>
    new Map(of.map(([taint, count]) => [taintId(taint), count]));

  it("are added once all their slices exist, and not before", () => {
    expect(recordTaints([], { borne: [DOWN], slices: new Map() }, NOW)).toEqual([]);
    expect(recordTaints([], { borne: [DOWN], slices: slices([DOWN, 2]) }, NOW)).toEqual([
      recorded(DOWN, { slices: 2 }),
    ]);
  });

  it("are remembered when they go, with the time, once", () => {
    const list = [recorded(DOWN), recorded(SLOW)];
    const gone = recordTaints(list, { borne: [SLOW], slices: new Map() }, NOW);
    expect(gone).toEqual([recorded(DOWN, { removedAt: ADDED }), recorded(SLOW)]);
    expect(recordTaints(gone, { borne: [SLOW], slices: new Map() }, NOW)).toBe(gone);
  });

  it("that come back are others, because their time is another", () => {
    const again = { ...DOWN, timeAdded: "2026-01-01T01:00:00Z" };
    const list = [recorded(DOWN, { removedAt: ADDED })];
    expect(recordTaints(list, { borne: [again], slices: slices([again, 0]) }, NOW)).toEqual([
      ...list,
      recorded(again, { slices: 0 }),
    ]);
  });

  it("count slices that came later, and stay the same list when nothing changed", () => {
    const list = [recorded(DOWN)];
    expect(recordTaints(list, { borne: [DOWN], slices: slices([DOWN, 2]) }, NOW)).toEqual([
      recorded(DOWN, { slices: 2 }),
    ]);
    expect(recordTaints(list, { borne: [DOWN], slices: slices([DOWN, 1]) }, NOW)).toBe(list);
  });

  it("are in force while the cluster bears them, whatever a person wrote", () => {
    const right = recorded(DOWN);
    for (const wrong of [{ recorded: false }, { removedAt: "2026-01-01T00:00:00Z" }, { slices: 9 }])
      expect(
        recordTaints([{ ...right, ...wrong }], { borne: [DOWN], slices: slices([DOWN, 1]) }, NOW),
      ).toEqual([right]);
  });
});
