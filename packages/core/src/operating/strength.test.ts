/** What a person is called for: workloads under strength, and those that wait for a person. */
import type { Cluster, Condition, Evacuation, ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { makeBinding, makeCluster } from "../placement/makers.suite.ts";
import { mattersForStrength, strengthOf, waitingIn } from "./strength.ts";

const TRUST = { trustFencedCondition: false };
const lastTransitionTime = "2026-01-01T00:00:00Z";

function cluster(name: string, status: Condition["status"], fenced = false): Cluster {
  const ready: Condition = { type: "Ready", status, reason: "", message: "", lastTransitionTime };
  const one = makeCluster(name, { status: { conditions: [ready] } });
  const annotations = fenced ? { "lifeboat.dev/fenced": "{}" } : {};
  return { ...one, metadata: { ...one.metadata, annotations } };
}

const FLEET = [
  cluster("up", "True"),
  cluster("also", "True"),
  cluster("down", "False"),
  cluster("off", "False", true),
];
const strength = (binding: ResourceBinding, fleet = FLEET) =>
  strengthOf(binding, (name) => fleet.find(({ metadata }) => metadata.name === name), TRUST);
const health = (reports: Readonly<Record<string, "Healthy" | "Unhealthy" | "Unknown">>) => ({
  aggregatedStatus: Object.entries(reports).map(([clusterName, one]) => ({
    clusterName,
    health: one,
  })),
});
const leaving = (fromCluster: string, purgeMode: "Directly" | "Gracefully") => ({
  gracefulEvictionTasks: [
    { fromCluster, purgeMode, reason: "TaintUntolerated", producer: "TaintManager" },
  ],
});

describe("strengthOf", () => {
  it.each<[string, Parameters<typeof makeBinding>[0], boolean]>([
    ["whole", { replicas: 2, clusters: { up: 2 }, status: health({ up: "Healthy" }) }, false],
    ["in no cluster", { replicas: 2 }, true],
    [
      "placed in part",
      { replicas: 2, clusters: { up: 1 }, status: health({ up: "Healthy" }) },
      true,
    ],
    ["unhealthy", { replicas: 1, clusters: { up: 1 }, status: health({ up: "Unhealthy" }) }, true],
    ["not reported yet", { replicas: 1, clusters: { up: 1 } }, true],
    [
      "last seen healthy in a cluster that is silent now",
      { replicas: 1, clusters: { down: 1 }, status: health({ down: "Healthy" }) },
      true,
    ],
    [
      "with one of its copies silent",
      { clusters: { up: 1, down: 1 }, status: health({ up: "Healthy", down: "Healthy" }) },
      true,
    ],
    [
      "in a cluster that is gone",
      { clusters: { gone: 1 }, status: health({ gone: "Healthy" }) },
      true,
    ],
    [
      "whole, while an old copy leaves",
      {
        clusters: { up: 1 },
        status: health({ up: "Healthy" }),
        spec: leaving("down", "Gracefully"),
      },
      false,
    ],
  ])("of a workload %s", (_name, given, isUnderStrength) => {
    expect(strength(makeBinding(given))).toEqual({ isUnderStrength, awaitsFence: false });
  });

  it("counts only what has replicas and is not being deleted", () => {
    expect(strength(makeBinding({ replicas: 0 }))).toBeUndefined();
    const components = [{ name: "a", replicas: 1 }];
    expect(strength(makeBinding({ replicas: 0, spec: { components } }))).toBeDefined();
    const one = makeBinding();
    const metadata = { ...one.metadata, deletionTimestamp: lastTransitionTime };
    expect(strength({ ...one, metadata })).toBeUndefined();
  });

  it.each([
    ["down", "Directly", true],
    ["down", "Gracefully", false],
    ["off", "Directly", false],
    ["up", "Directly", false],
    ["gone", "Directly", false],
  ] as const)("waits for a fence when it leaves %s %s: %s", (from, mode, awaitsFence) => {
    expect(strength(makeBinding({ spec: leaving(from, mode) }))).toMatchObject({ awaitsFence });
  });
});

describe("mattersForStrength", () => {
  it("is true for exactly those changes of a Cluster that change a strength", () => {
    const fleetWith = (one: Cluster | undefined): Cluster[] => (one === undefined ? [] : [one]);
    const states = [
      undefined,
      makeCluster("m"),
      ...(["True", "False", "Unknown"] as const).flatMap((status) => [
        cluster("m", status),
        cluster("m", status, true),
      ]),
    ];
    const bindings = [
      makeBinding({ clusters: { m: 1 }, status: health({ m: "Healthy" }) }),
      makeBinding({ spec: leaving("m", "Directly") }),
    ];
    const all = (one: Cluster | undefined) => bindings.map((b) => strength(b, fleetWith(one)));
    for (const old of states)
      for (const now of states)
        if (JSON.stringify(all(old)) !== JSON.stringify(all(now)))
          expect(mattersForStrength(old, now, TRUST)).toBe(true);
    const [, , up] = states;
    expect(mattersForStrength(up, { ...cluster("m", "True") }, TRUST)).toBe(false);
  });
});

describe("waitingIn", () => {
  const evacuation = (status: Evacuation["status"]): Evacuation => ({
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "m-1", uid: "e", resourceVersion: "1", creationTimestamp: "" },
    spec: { cluster: "m", paused: false },
    ...(status === undefined ? {} : { status }),
  });
  const entries = { total: 9, queued: 4, held: 3, evicted: 0, done: 2, abandoned: 0, exempt: 0 };

  it.each([
    ["Running", { NoTarget: 3 }],
    ["Paused", { NoTarget: 3, Paused: 4 }],
    ["Braked", { NoTarget: 3, Braked: 4 }],
  ] as const)("of one that is %s", (phase, expected) => {
    expect(Object.fromEntries(waitingIn(evacuation({ phase, entries })))).toEqual(expected);
  });

  it("counts what waits for an approval, and what a paused namespace keeps", () => {
    const counts = { ...entries, awaitingApproval: 5, paused: 1 };
    expect(
      Object.fromEntries(waitingIn(evacuation({ phase: "Running", entries: counts }))),
    ).toEqual({ NoTarget: 3, Approval: 5, Paused: 1 });
  });

  it("is nothing for one that is over", () => {
    const finishedAt = lastTransitionTime;
    expect(waitingIn(evacuation({ phase: "Completed", entries, finishedAt })).size).toBe(0);
    expect(Object.fromEntries(waitingIn(evacuation(undefined)))).toEqual({ NoTarget: 0 });
  });
});
