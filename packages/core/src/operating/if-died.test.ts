/** What becomes of a workload if its cluster died: every precondition, by the control plane's own decisions. */
import type { Cluster, ClusterTaintPolicy, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { expect, it, test } from "vitest";
import { decideIfDied, type IfDiedView } from "./if-died.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const CREATED = "2025-12-01T00:00:00Z";

function cluster(name: string): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: CREATED },
    spec: { syncMode: "Push" },
    status: {
      resourceSummary: { allocatable: { pods: "50" }, allocated: {}, allocating: {} },
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      ],
      conditions: [
        { type: "Ready", status: "True", reason: "", message: "", lastTransitionTime: CREATED },
      ],
    },
  } as unknown as Cluster;
}

function rule(effect: string, seconds: number): ClusterTaintPolicy {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "dead", uid: effect, generation: 1, creationTimestamp: CREATED },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["False"] }],
      taintsToAdd: [{ key: "dead", effect, addOnMatchSeconds: seconds }],
    },
  } as unknown as ClusterTaintPolicy;
}

function binding(spec: object = {}): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name: "web-deployment",
      namespace: "default",
      uid: "b",
      generation: 1,
      labels: { "propagationpolicy.karmada.io/permanent-id": "p" },
      annotations: {
        "propagationpolicy.karmada.io/namespace": "default",
        "propagationpolicy.karmada.io/name": "p",
      },
    },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
      replicas: 2,
      placement: {},
      clusters: [{ name: "m1", replicas: 2 }],
      schedulerName: "default-scheduler",
      ...spec,
    },
  } as unknown as ResourceBinding;
}

function view(more: Partial<IfDiedView> = {}, given = binding()): IfDiedView {
  return {
    cluster: "m1",
    binding: given,
    work: undefined,
    template: {},
    policy: undefined,
    clusters: [cluster("m1"), cluster("m2")],
    bindings: [given],
    taintPolicies: [rule("NoExecute", 20)],
    settings: {
      failover: true,
      statefulFailoverInjection: false,
      purgeMode: "Gracefully",
      failureThresholdMs: 30_000,
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
    ["fence", true],
    ["target", true],
    ["state", true],
  ]);
});

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
  ["there is no other cluster", { clusters: [cluster("m1")] }, divided, ["target"], 50_000],
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
