/** What the demonstration tells is what the objects say. */
import type { Cluster, Evacuation, ResourceBinding, Work } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { milestonesOf, type Story } from "./milestones.ts";
import { isWell, oldCopies, type Snapshot, tableLines } from "./snapshot.ts";

const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const FAILED = [{ key: "demo/unreachable", effect: "NoExecute" as const }];

function cluster(
  name: string,
  ready: "True" | "False",
  taints: Cluster["spec"]["taints"],
): Cluster {
  const condition = { type: "Ready", status: ready, reason: "", message: "" };
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push", taints: taints ?? [] },
    status: { conditions: [{ ...condition, lastTransitionTime: "" }] },
  };
}

function binding(on: string, ready: number, leaving?: string): ResourceBinding {
  const annotations = {
    "lifeboat.dev/preserved-state": '{"from":"m1","labels":{"demo/ready":"2"}}',
  };
  const task = { fromCluster: leaving ?? "", replicas: 2, reason: "R", producer: "P" };
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      ...metadata,
      name: "cart-deployment",
      namespace: "demo",
      labels: { "resourcebinding.karmada.io/permanent-id": "id" },
      ...(on === "m1" ? {} : { annotations }),
    },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "demo", name: "cart" },
      replicas: 2,
      conflictResolution: "Abort",
      clusters: [{ name: on, replicas: 2 }],
      gracefulEvictionTasks: leaving === undefined ? [] : [task],
    },
    status: {
      aggregatedStatus: [
        {
          clusterName: on,
          health: ready === 2 ? "Healthy" : "Unhealthy",
          status: { readyReplicas: ready },
        },
      ],
    },
  };
}

const work: Work = {
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: {
    ...metadata,
    name: "cart",
    namespace: "karmada-es-m1",
    labels: { "resourcebinding.karmada.io/permanent-id": "id" },
  },
  spec: {},
};
const evacuation: Evacuation = {
  apiVersion: "lifeboat.dev/v1alpha1",
  kind: "Evacuation",
  metadata: { ...metadata, name: "m1-1" },
  spec: { cluster: "m1", paused: false },
  status: {
    phase: "Running",
    entries: { total: 1, queued: 0, evicted: 1, done: 0, held: 0, abandoned: 0, exempt: 0 },
  },
};

const snapshot = (changes: Partial<Snapshot>): Snapshot => ({
  clusters: [cluster("m1", "True", []), cluster("m2", "True", [])],
  bindings: [binding("m1", 2)],
  works: [work],
  evacuations: [],
  ...changes,
});
const down = [cluster("m1", "False", FAILED), cluster("m2", "True", [])];
const story: Story = { doomed: "m1", affected: ["cart"], hasReturned: false };
const ids = (one: Snapshot, changes: Partial<Story> = {}): readonly string[] =>
  milestonesOf(one, { ...story, ...changes }).map(({ id }) => id);

describe("milestonesOf", () => {
  it.each([
    ["nothing has happened", snapshot({}), []],
    ["it has failed", snapshot({ clusters: down }), ["not-ready", "tainted"]],
    [
      "a workload is on its way",
      snapshot({ clusters: down, bindings: [binding("m2", 1, "m1")], evacuations: [evacuation] }),
      ["not-ready", "tainted", "evacuation", "left-cart"],
    ],
    [
      "everything has moved",
      snapshot({ clusters: down, bindings: [binding("m2", 2)], evacuations: [evacuation] }),
      ["not-ready", "tainted", "evacuation", "left-cart", "well-cart", "all-well"],
    ],
  ])("when %s", (_what, one, expected) => {
    expect(ids(one)).toEqual(expected);
  });

  it("tells a return only when the old copies are gone and the taint is off", () => {
    const moved = { bindings: [binding("m2", 2)] };
    expect(ids(snapshot(moved), { hasReturned: true })).toEqual(["ready", "untainted"]);
    const clean = snapshot({ ...moved, works: [] });
    expect(ids(clean, { hasReturned: true })).toEqual(["ready", "clean", "untainted", "open"]);
    const tainted = { ...clean, clusters: [cluster("m1", "True", FAILED)] };
    expect(ids(tainted, { hasReturned: true })).toEqual(["ready", "clean"]);
  });

  it("says which state a workload carries", () => {
    const texts = milestonesOf(snapshot({ bindings: [binding("m2", 1, "m1")] }), story);
    expect(texts.map(({ text }) => text)).toEqual(["cart leaves m1 with its state (demo/ready=2)"]);
  });
});

it("calls a workload well only when every replica is placed and ready", () => {
  expect(isWell(binding("m1", 2))).toBe(true);
  expect(isWell(binding("m1", 1))).toBe(false);
  const { spec, ...rest } = binding("m1", 2);
  expect(isWell({ ...rest, spec: { ...spec, clusters: [] } })).toBe(false);
});

it("counts copies that nobody needs any more", () => {
  expect(oldCopies(snapshot({}), "m1")).toBe(0);
  expect(oldCopies(snapshot({ bindings: [binding("m2", 2)] }), "m1")).toBe(1);
});

it("shows who runs where, who is leaving and how far it is", () => {
  const one = snapshot({
    clusters: down,
    bindings: [binding("m2", 1, "m1")],
    evacuations: [evacuation],
  });
  expect(tableLines(one)).toEqual([
    "CLUSTER   READY    STATE    cart",
    "m1        False    failed   (2)",
    "m2        True              1/2",
    "m1-1 [....................] Running: 0/1 moved, 1 moving",
  ]);
});
