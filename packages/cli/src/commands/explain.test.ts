/** A person at a terminal sees why, cluster by cluster. */
import type { Cluster, Evacuation, ResourceBinding, Work } from "@lifeboat/api";
import { type Instant, instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { explainDocument, explainPlacement, type Found } from "./explain.ts";

const now = instantOf(Date.UTC(2026, 0, 1, 2));
const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

const CLAIMED = { "propagationpolicy.karmada.io/permanent-id": "p" };

function cluster(name: string, spec: Partial<Cluster["spec"]> = {}): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push", ...spec },
    status: {
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      ],
    },
  };
}

function binding(spec: Partial<ResourceBinding["spec"]>): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { ...metadata, name: "web-deployment", namespace: "default", labels: CLAIMED },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
      replicas: 2,
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

const NONE = {
  works: [],
  evacuations: [],
  settings: { "feature-gates": "Failover=true" },
};
const STAYS = [
  "Failover   leaves a cluster with a NoExecute taint at once, Gracefully; stays on",
  "           one with PreferNoExecute; stays where it is unhealthy.",
];

function explained(found: Found, at: Instant): string {
  return [...explainPlacement(found, at), ""].join("\n");
}

const failed = { taints: [{ key: "down", effect: "NoExecute" as const }] };
const tainted = { taints: [{ key: "down", effect: "NoSchedule" as const }] };

it("does not say that a workload runs where it was never dispatched", () => {
  const clusters = [{ name: "m1", replicas: 2 }];
  const found = binding({ placement: {}, clusters, suspension: { dispatching: true } });
  const all = { binding: found, bindings: [found], clusters: [cluster("m1")], ...NONE };
  const text = explained(all, now);
  expect(text).toContain("Runs on    no cluster");
  expect(text).toContain("Suspended  m1: placed there, but no copy exists");
  const work = {
    metadata: { ...metadata, name: "w", namespace: "karmada-es-m1" },
    status: { manifestStatuses: [{ identifier: {}, health: "Healthy" }] },
  } as unknown as Work;
  expect(explained({ ...all, works: [work] }, now)).toContain("Runs on    m1:2");
});

it("says where a workload runs, which clusters fit, and why others do not", () => {
  const placement = { clusterAffinity: { exclude: ["m3"] } };
  const found = binding({ placement, clusters: [{ name: "m1", replicas: 2 }] });
  const fleet = [cluster("m1", tainted), cluster("m2"), cluster("m3"), cluster("m4", tainted)];
  expect(explained({ binding: found, bindings: [found], clusters: fleet, ...NONE }, now)).toBe(
    [
      "Workload   Deployment default/web, 2 replicas",
      "Runs on    m1:2",
      "Decision   Placed: Every replica has a cluster.",
      "Would be   m1:2, m2:2 (The placement of the policy has not been carried out",
      "           yet.)",
      ...STAYS,
      "",
      "CLUSTER  FITS   WHY",
      "m1       keeps  holds a copy; gets no more, by TaintToleration: had untolerated",
      "                taint {down:NoSchedule}",
      "m2       yes",
      "m3       no     ClusterAffinity: did not match the placement cluster affinity",
      "                constraint",
      "m4       no     TaintToleration: had untolerated taint {down:NoSchedule}",
      "",
    ].join("\n"),
  );
});

it("says the same to programs", () => {
  const placement = { clusterAffinity: { exclude: ["m3"] } };
  const found = binding({ placement, clusters: [{ name: "m1", replicas: 2 }] });
  const fleet = [cluster("m1", tainted), cluster("m2"), cluster("m3")];
  const given = { binding: found, bindings: [found], clusters: fleet, ...NONE };
  const document = explainDocument(given, { ifDied: [], history: [] }, now);
  expect(document).toMatchObject({
    at: "2026-01-01T02:00:00Z",
    workload: { kind: "Deployment", name: "web" },
    replicas: 2,
    runsOn: [{ name: "m1", replicas: 2 }],
    decision: { reason: "Placed" },
    clusters: [
      { name: "m1", fits: true, filter: "TaintToleration", holdsCopy: true },
      { name: "m2", fits: true, holdsCopy: false },
      { name: "m3", fits: false, filter: "ClusterAffinity", holdsCopy: false },
    ],
    help: [],
  });
  const pending = binding({ suspension: { scheduling: true } });
  const none = explainDocument(
    { ...given, binding: pending, bindings: [pending] },
    { ifDied: [], history: [] },
    now,
  );
  expect(none["decision"]).toMatchObject({
    message: expect.stringContaining("scheduling is suspended") as string,
  });
});

const aggregated = {
  replicaScheduling: {
    replicaSchedulingType: "Divided" as const,
    replicaDivisionPreference: "Aggregated" as const,
  },
};

function told(spec: Partial<ResourceBinding["spec"]>, ...fleet: readonly Cluster[]): string {
  const found = binding(spec);
  return explained({ binding: found, bindings: [found], clusters: fleet, ...NONE }, now);
}

it("says what would help when no cluster fits", () => {
  expect(told({}, cluster("m1", tainted), cluster("m2", tainted))).toBe(
    [
      "Workload   Deployment default/web, 2 replicas",
      "Runs on    no cluster",
      "Decision   NoClusterFit: No cluster passes every filter; what runs stays where",
      "           it is.",
      ...STAYS,
      "",
      "CLUSTER  FITS  WHY",
      "m1       no    TaintToleration: had untolerated taint {down:NoSchedule}",
      "m2       no    TaintToleration: had untolerated taint {down:NoSchedule}",
      "",
      "What would let more clusters in:",
      "  - remove the taint {down:NoSchedule} from the cluster, or tolerate it in the",
      "    policy",
      "",
    ].join("\n"),
  );
});

it("says how much room there is when there is too little", () => {
  const member = cluster("m1");
  const resourceSummary = { allocatable: { pods: "5" } };
  const small = { ...member, status: { ...member.status, resourceSummary } };
  expect(told({ replicas: 9, placement: aggregated }, small)).toContain(
    [
      "Decision   Unschedulable: The clusters that fit have no room for all replicas.",
      "           Clusters available replicas 5 are not enough to schedule.",
      ...STAYS,
      "",
      "CLUSTER  FITS  WHY",
      "m1       yes   room for 5 more",
    ].join("\n"),
  );
});

it("says that the old copy must go first", () => {
  const task = { fromCluster: "m1", purgeMode: "Directly" as const, replicas: 2 };
  const gracefulEvictionTasks = [{ ...task, reason: "TaintUntolerated", producer: "TaintManager" }];
  expect(told({ gracefulEvictionTasks }, cluster("m1", failed), cluster("m2"))).toBe(
    [
      "Workload   Deployment default/web, 2 replicas",
      "Runs on    no cluster",
      "Leaving    m1, 2 replicas: TaintUntolerated, the old copy must be gone before",
      "           the new one is placed",
      "           CopyGone: The old copy is gone, with its pods.",
      "Decision   AwaitingPurge: The missing part is placed once the old copy is gone",
      "           (purge mode Directly).",
      ...STAYS,
      "",
      "CLUSTER  FITS  WHY",
      "m1       no    an old copy is leaving; TaintToleration: had untolerated taint",
      "               {down:NoExecute}",
      "m2       yes",
      "",
    ].join("\n"),
  );
});

function work(name: string, changes: Partial<Work["metadata"]> = {}): Work {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { ...metadata, name: "web", namespace: `karmada-es-${name}`, ...changes },
    spec: {},
  };
}

function silent(name: string): Cluster {
  const given = cluster(name, failed);
  const ready = { type: "Ready", status: "Unknown" as const, reason: "", message: "" };
  const conditions = [{ ...ready, lastTransitionTime: "" }];
  return { ...given, status: { ...given.status, conditions } };
}

it("says that a cluster must answer or be fenced, and how", () => {
  const task = { fromCluster: "m1", purgeMode: "Directly" as const, reason: "TaintUntolerated" };
  const found = binding({ gracefulEvictionTasks: [{ ...task, producer: "TaintManager" }] });
  const going = work("m1", { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const given = { binding: found, bindings: [], clusters: [silent("m1"), cluster("m2")] };
  expect(explained({ ...given, ...NONE, works: [going] }, now)).toContain(
    [
      "Leaving    m1: TaintUntolerated, the old copy must be gone before the new one is",
      "           placed",
      "           AwaitingFence: The cluster cannot be reached, so the old copy may",
      "           still run there. The workload is placed again once the cluster",
      "           answers, or once a person declares the cluster off: lifeboat fence m1",
    ].join("\n"),
  );
});

it("says where the last copy is of a workload that has no cluster", () => {
  const found = { binding: binding({}), bindings: [], clusters: [silent("m1")] };
  const text = explained({ ...found, ...NONE, works: [work("m1")] }, now);
  expect(text).toContain(
    "Runs on    no cluster\nAlso on    m1: a copy stays there until another one is healthy\n",
  );
});

it("says what holds a workload in a failed cluster", () => {
  const found = binding({ clusters: [{ name: "m1" }] });
  const held = { uid: "u", kind: "ResourceBinding" as const, name: "web-deployment" };
  const evacuation: Evacuation = {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { ...metadata, name: "m1-1" },
    spec: { cluster: "m1", paused: false },
    status: { held: [{ binding: held, reason: "NoTarget", message: "0/1 clusters fit" }] },
  };
  const given = { binding: found, bindings: [], clusters: [cluster("m1", tainted)] };
  expect(explained({ ...given, ...NONE, evacuations: [evacuation] }, now)).toContain(
    "Held       leaving m1 (evacuation m1-1), NoTarget: 0/1 clusters fit\n",
  );
});

it("says how a workload would leave a failed cluster", () => {
  const clusterTolerations = [
    { key: "net", operator: "Exists" as const, tolerationSeconds: 60 },
    { key: "disk", value: "slow", effect: "NoExecute" as const },
    { key: "new", operator: "Exists" as const, effect: "NoSchedule" as const },
  ];
  const failover = {
    cluster: { purgeMode: "Directly" as const, tolerationSeconds: 100 },
    application: { decisionConditions: { tolerationSeconds: 30 } },
  };
  const found = binding({ placement: { clusterTolerations }, failover });
  const given = { ...NONE, binding: found, bindings: [], clusters: [], settings: {} };
  expect(explained(given, now)).toContain(
    [
      "Failover   leaves a cluster with a NoExecute taint at once, Directly, but",
      "           tolerates net for 1m, disk=slow for ever; leaves one with",
      "           PreferNoExecute after 1m40s; leaves where it is unhealthy for 30s.",
      "           Now, only on a person's order: the feature gate Failover is off.",
    ].join("\n"),
  );
});

it("says that scheduling is suspended, and what would be otherwise", () => {
  expect(told({ suspension: { scheduling: true } }, cluster("m1"))).toContain(
    [
      "Decision   none: scheduling is suspended by spec.suspension.scheduling of the",
      "           binding, and goes on when that is no longer true.",
      "Would be   m1:2 (The placement of the policy has not been carried out yet.)",
    ].join("\n"),
  );
});

it("says that no policy claims a workload, and which cluster cannot leave because of it", () => {
  const { metadata: named, ...rest } = binding({ clusters: [{ name: "m1", replicas: 2 }] });
  const found = { ...rest, metadata: { ...named, labels: {} } };
  const m1 = cluster("m1");
  const deletionTimestamp = "2026-01-01T01:00:00Z";
  const going = { ...m1, metadata: { ...m1.metadata, deletionTimestamp } };
  const given = { binding: found, bindings: [found], clusters: [going], ...NONE };
  expect(explained(given, now)).toContain(
    [
      "Stuck      keeps m1 from leaving the fleet; no policy claims it, so it is not",
      "           placed again: let a policy claim it, or delete it.",
      "Decision   none: no policy claims the workload. Its copies stay where they are,",
      "           and it is not placed again until a policy claims it.",
    ].join("\n"),
  );
  expect(explained(given, now)).toContain("m1       no    holds a copy; Deletion: is being");
});

it("shows the stored condition, and its message where the answer is another one by now", () => {
  const conditions = [
    {
      type: "Scheduled",
      status: "False" as const,
      reason: "NoClusterFit",
      message: "0/1 clusters are available.",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ];
  const found = { ...binding({}), status: { conditions } };
  const given = { binding: found, bindings: [found], ...NONE };
  expect(explained({ ...given, clusters: [cluster("m1")] }, now)).toContain(
    "Scheduled  False since 2026-01-01T00:00:00Z, NoClusterFit: 0/1 clusters are\n           available.",
  );
  expect(explained({ ...given, clusters: [] }, now)).toContain(
    "Scheduled  False since 2026-01-01T00:00:00Z, NoClusterFit\n",
  );
});

it.each([
  [0, "10s"],
  [10, "10s"],
  [120, "2m"],
])("shows that a copy may be unhealthy for as long as core waits (%i s)", (seconds, span) => {
  const application = { decisionConditions: { tolerationSeconds: seconds } };
  const found = binding({ failover: { application } });
  const text = explained(
    { binding: found, bindings: [found], clusters: [cluster("m1")], ...NONE },
    now,
  );
  expect(text.replaceAll(/\s+/g, " ")).toContain(`leaves where it is unhealthy for ${span}.`);
});

it("stays within 80 columns whatever the names are", () => {
  const long = "a".repeat(48);
  const key = `${"b".repeat(63)}/${"c".repeat(63)}`;
  const fleet = [cluster(long, { taints: [{ key, value: "d".repeat(63), effect: "NoExecute" }] })];
  const found = binding({ clusters: [{ name: long }, { name: "z".repeat(90) }] });
  const lines = explained({ binding: found, bindings: [], clusters: fleet, ...NONE }, now).split(
    "\n",
  );
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

it("says so when there are no clusters", () => {
  const found = binding({});
  expect(explained({ binding: found, bindings: [], clusters: [], ...NONE }, now)).toContain(
    "No clusters are joined",
  );
});

it("tells how old its knowledge is of a copy on a cluster that does not answer (17.15)", () => {
  const found = binding({ clusters: [{ name: "m1", replicas: 2 }] });
  const lastTransitionTime = "2026-01-01T01:55:00Z";
  const ready = { type: "Ready", status: "Unknown" as const, reason: "", message: "" };
  const silent = cluster("m1");
  const m1 = {
    ...silent,
    status: { ...silent.status, conditions: [{ ...ready, lastTransitionTime }] },
  };
  const given = { binding: found, bindings: [found], clusters: [m1, cluster("m2")], ...NONE };
  expect(explained(given, now)).toContain(
    "holds a copy (not seen for 5m: the cluster does not answer)",
  );
});
