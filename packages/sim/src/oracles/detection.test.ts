/** Oracles of detection, on histories made up for them. */
import { wellKnown } from "@lifeboat/core";
import { describe, expect, it } from "vitest";
import { PLAIN } from "./circumstances.ts";
import { judged } from "./judged.suite.ts";

const POLICY = "policy.karmada.io/clustertaintpolicies//failed";
const CLUSTER = "cluster.karmada.io/clusters//m1";
const TAINT = { key: "failed", effect: "NoSchedule" };

const policy = {
  kind: "ClusterTaintPolicy",
  metadata: { name: "failed", uid: "p", generation: 1 },
  spec: {
    matchConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["False"] }],
    taintsToAdd: [{ ...TAINT, addOnMatchSeconds: 10, removeOnMismatchSeconds: 10 }],
  },
};

interface Parts {
  readonly ready: "True" | "False";
  readonly taints?: readonly object[];
  /** What the record of policies says. */
  readonly record?: object;
}

function cluster({ ready, taints = [], record }: Parts): object {
  const annotations =
    record === undefined ? {} : { [wellKnown.TAINT_POLICIES]: JSON.stringify({ p: record }) };
  return {
    kind: "Cluster",
    metadata: { name: "m1", uid: "m1", annotations },
    spec: { taints },
    status: { conditions: [{ type: "Ready", status: ready }] },
  };
}

const matching = { generation: 1, matchingSince: "2026-01-01T00:00:00Z" };
const mismatching = { generation: 1, mismatchingSince: "2026-01-01T00:00:00Z" };
const added = [TAINT];

/** A world with the policy, and a cluster that is not ready from now on. */
function notReady() {
  const world = judged();
  world.write("plane", POLICY, policy);
  world.write("plane", CLUSTER, cluster({ ready: "True", record: mismatching }));
  world.pass(60_000);
  world.write("plane", CLUSTER, cluster({ ready: "False", record: matching }), "MODIFIED");
  const change = (parts: Parts): void => world.write("plane", CLUSTER, cluster(parts), "MODIFIED");
  return { ...world, change };
}

describe("taints-wait-for-their-window", () => {
  it.each([
    [8000, true],
    [9500, false],
  ])("a taint after %i ms of ten seconds is too early: %s", (milliseconds, isBroken) => {
    const { said, pass, change } = notReady();
    pass(milliseconds);
    change({ ready: "False", taints: [TAINT], record: { ...matching, added } });
    expect(said.join().includes("taints-wait-for-their-window")).toBe(isBroken);
  });

  it("says nothing of a taint that was due and whose conditions ended in the same instant", () => {
    const { said, pass, change } = notReady();
    pass(10_000);
    change({ ready: "False", taints: [TAINT], record: { ...matching, added } });
    change({ ready: "True", taints: [TAINT], record: { ...matching, added } });
    expect(said.join()).not.toContain("taints-wait-for-their-window");
  });

  it("begins anew after a moment in which the conditions did not match", () => {
    const { said, pass, change } = notReady();
    pass(9000);
    change({ ready: "True", record: mismatching });
    change({ ready: "False", record: matching });
    pass(8000);
    expect(said).toEqual([]);
    change({ ready: "False", taints: [TAINT], record: { ...matching, added } });
    expect(said.join()).toContain("taints-wait-for-their-window");
  });
});

describe("taints-stay-for-their-window", () => {
  it.each([
    [8000, true],
    [9500, false],
  ])("a taint that leaves after %i ms of ten seconds leaves too early: %s", (ms, isBroken) => {
    const { said, pass, change } = notReady();
    pass(20_000);
    change({ ready: "False", taints: [TAINT], record: { ...matching, added } });
    change({ ready: "True", taints: [TAINT], record: { ...mismatching, added } });
    pass(ms);
    change({ ready: "True", record: { ...mismatching, generation: 1, seen: "x" } });
    expect(said.join().includes("taints-stay-for-their-window")).toBe(isBroken);
  });
});

describe("a taint of a new policy that leaves again", () => {
  it.each([
    ["breaks it", "there is one set of controllers", false, 1000],
    ["keeps it", "there are two, and one may not know the policy", true, 1000],
    ["breaks it", "there are two, and both know it", true, 10_000],
  ])("%s when %s", (verdict, _when, hasTwoLeaders, milliseconds) => {
    const { said, write, pass } = judged({ ...PLAIN, hasTwoLeaders });
    const change = (parts: Parts): void => write("plane", CLUSTER, cluster(parts), "MODIFIED");
    write("plane", CLUSTER, cluster({ ready: "False" }));
    pass(60_000);
    write("plane", POLICY, policy);
    change({ ready: "False", taints: [TAINT], record: { ...matching, added } });
    pass(milliseconds);
    change({ ready: "False", record: { ...matching, seen: "x" } });
    const isBroken = said.join().includes("taints-stay-for-their-window");
    expect(isBroken).toBe(verdict === "breaks it");
  });
});

describe("the record of the policies", () => {
  it("says what the conditions say", () => {
    const { said, change } = notReady();
    expect(said).toEqual([]);
    change({ ready: "False", record: mismatching });
    expect(said.join()).toContain("policies-match-as-they-say");
  });
});

describe("taints that nobody set", () => {
  it("are told, and those that somebody else set are not taken off", () => {
    const { said, change } = notReady();
    const other = { key: "other", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };
    change({ ready: "False", record: matching, taints: [other] });
    expect(said.join()).toContain("taints-have-an-author");
    change({ ready: "False", record: matching });
    expect(said.join()).toContain("foreign-taints-are-left-alone");
  });
});

describe("a taint of a policy that no longer asks for it", () => {
  const moving = { key: "moving", effect: "NoExecute" };

  it.each([
    [0, false],
    [10_000, true],
  ])("%i ms after the edit is told: %s", (milliseconds, isBroken) => {
    const { said, pass, change, write } = notReady();
    const asking = (generation: number, taintsToAdd: readonly object[]): object => ({
      ...policy,
      metadata: { ...policy.metadata, generation },
      spec: { ...policy.spec, taintsToAdd },
    });
    write("plane", POLICY, asking(2, [{ ...moving, addOnMatchSeconds: 5 }]), "MODIFIED");
    pass(20_000);
    write("plane", POLICY, asking(3, []), "MODIFIED");
    pass(milliseconds);
    change({ ready: "False", taints: [moving], record: { ...matching, added: [moving] } });
    expect(said.join().includes("no policy asks for it")).toBe(isBroken);
  });
});

describe("taints-keep-their-time", () => {
  it("speaks when a taint becomes younger", () => {
    const { said, change } = notReady();
    const taint = (timeAdded: string): object => ({ ...TAINT, timeAdded });
    change({ ready: "False", record: matching, taints: [taint("2026-01-01T00:00:00Z")] });
    expect(said.join()).not.toContain("taints-keep-their-time");
    change({ ready: "False", record: matching, taints: [taint("2026-01-01T00:00:05Z")] });
    expect(said.join()).toContain("taints-keep-their-time");
  });
});

describe("ready-follows-the-probes", () => {
  it.each([
    [29_000, true],
    [30_000, false],
  ])("after %i ms of silence Ready=False is too early: %s", (milliseconds, isBroken) => {
    const { said, truth, write, pass } = judged();
    truth.witness.heard("m1", "plane", "/readyz", false);
    write("plane", CLUSTER, cluster({ ready: "True" }));
    pass(milliseconds);
    truth.witness.heard("m1", "plane", "/readyz", false);
    write("plane", CLUSTER, cluster({ ready: "False" }), "MODIFIED");
    expect(said.join().includes("ready-follows-the-probes")).toBe(isBroken);
  });
});
