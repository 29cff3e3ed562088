/** What becomes of a workload if its cluster died: every precondition, by the control plane's own decisions. */
import type { Cluster } from "@lifeboat/api";
import { expect, it, test } from "vitest";
import { formatTime, addMs } from "@lifeboat/base";
import { DEFAULT_RATES } from "../failover/evacuation/rate.ts";
import { decideIfDied, type IfDiedView } from "./if-died.ts";
import { binding, cluster, NOW, pulling, rule } from "./makers.suite.ts";

function view(more: Partial<IfDiedView> = {}, given = binding()): IfDiedView {
  return {
    cluster: "m1",
    binding: given,
    work: undefined,
    template: {},
    policy: undefined,
    clusters: [cluster("m1"), cluster("m2"), cluster("m3", 1)],
    bindings: [given],
    taintPolicies: [rule("NoExecute", 20)],
    budget: undefined,
    rates: DEFAULT_RATES,
    settings: {
      failover: true,
      statefulFailoverInjection: false,
      purgeMode: "Gracefully",
      failureThresholdMs: 30_000,
      monitorGraceMs: 40_000,
      approval: "Policy",
    },
    ...more,
  };
}

const divided = {
  placement: {
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Aggregated",
    },
  },
};

it("moves after the threshold and the window, to where the scheduler would place it", () => {
  const found = decideIfDied(view({}, binding(divided)), NOW);
  expect(found.preconditions.filter(({ holds }) => !holds)).toEqual([]);
  expect(found).toMatchObject({ moves: true, leavesAfterMs: 50_000 });
  expect(found.targets).toEqual([{ name: "m2", replicas: 2 }]);
  expect(found.preconditions.map(({ name, holds }) => [name, holds])).toEqual([
    ["gate", true],
    ["rule", true],
    ["affected", true],
    ["rate", true],
    ["fence", true],
    ["target", true],
    ["state", true],
  ]);
});

it("moves from a Pull cluster after the grace period of its agent", () => {
  const clusters = [pulling(cluster("m1")), cluster("m2")];
  const taintPolicies = [rule("NoExecute", 20, ["Unknown"])];
  const found = decideIfDied(view({ clusters, taintPolicies }, binding(divided)), NOW);
  expect(found).toMatchObject({ moves: true, leavesAfterMs: 60_000 });
});

function failed(one: Cluster): Cluster {
  return { ...one, spec: { ...one.spec, taints: [{ key: "dead", effect: "NoExecute" }] } };
}

/** Of ten minutes from now. */
function override(perSecond: number) {
  return { perSecond, setAt: formatTime(NOW), until: formatTime(addMs(NOW, 600_000)), reason: "r" };
}

const settings = view().settings;
test.each<[string, Partial<IfDiedView>, object, readonly string[], number | undefined]>([
  ["the gate is off", { settings: { ...settings, failover: false } }, divided, ["gate"], undefined],
  [
    "the fleet asks for an approval",
    { settings: { ...settings, approval: "Required" } },
    divided,
    ["approval"],
    50_000,
  ],
  ["no policy taints it", { taintPolicies: [] }, divided, ["rule"], undefined],
  [
    "a taint that only repels",
    { taintPolicies: [rule("NoSchedule", 1)] },
    divided,
    ["rule"],
    undefined,
  ],
  [
    "no failover is wanted",
    { taintPolicies: [rule("PreferNoExecute", 1)] },
    divided,
    ["affected"],
    undefined,
  ],
  [
    "it tolerates the taint for ever",
    {},
    { placement: { ...divided.placement, clusterTolerations: [{ operator: "Exists" }] } },
    ["affected"],
    undefined,
  ],
  [
    "it tolerates the taint for a minute",
    {},
    {
      placement: {
        ...divided.placement,
        clusterTolerations: [{ operator: "Exists", tolerationSeconds: 60 }],
      },
    },
    [],
    110_000,
  ],
  [
    "purge mode Directly",
    {},
    { ...divided, failover: { cluster: { purgeMode: "Directly" } } },
    ["fence"],
    50_000,
  ],
  [
    "no other cluster has room",
    { clusters: [cluster("m1"), cluster("m2", 1)] },
    divided,
    ["target"],
    50_000,
  ],
  ["no cluster is left", { clusters: [cluster("m1")] }, divided, ["rate", "target"], undefined],
  [
    "one of three clusters has failed already",
    { clusters: [cluster("m1"), cluster("m2"), failed(cluster("m3"))] },
    divided,
    ["rate"],
    undefined,
  ],
  [
    "a person set the rate 0 for ten minutes",
    { budget: { paused: false, rateOverride: override(0) } },
    divided,
    [],
    600_000,
  ],
  [
    "a person set a rate although too much of the fleet has failed",
    {
      clusters: [cluster("m1"), cluster("m2"), failed(cluster("m3"))],
      budget: { paused: false, rateOverride: override(1) },
    },
    divided,
    [],
    50_000,
  ],
  ["the fleet is paused", { budget: { paused: true } }, divided, ["paused"], undefined],
  [
    "its cluster is paused",
    { budget: { paused: false, pausedClusters: ["m1"] } },
    divided,
    ["paused"],
    undefined,
  ],
  [
    "its namespace is paused",
    { budget: { paused: false, pausedNamespaces: ["default"] } },
    divided,
    ["paused"],
    undefined,
  ],
  [
    "another cluster is paused",
    { budget: { paused: false, pausedClusters: ["m2"] } },
    divided,
    [],
    50_000,
  ],
])("%s", (_name, more, spec, missing, after) => {
  const found = decideIfDied(view(more, binding(spec)), NOW);
  const not = found.preconditions.filter(({ holds }) => !holds).map(({ name }) => name);
  expect(not).toEqual(missing);
  expect(found.moves).toBe(missing.length === 0);
  expect(found.leavesAfterMs).toBe(after);
});

it("answers for a workload that is not there, and for a cluster that is not joined", () => {
  expect(decideIfDied(view({ cluster: "m2" }), NOW).moves).toBe(false);
  expect(decideIfDied(view({ cluster: "other" }), NOW).moves).toBe(false);
});
