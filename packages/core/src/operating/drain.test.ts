/** What a drain would do is decided by the functions that the control plane asks. */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import type { EvictingTaint } from "../failover/evacuation/affected.ts";
import { decideDrain, decideTainted, drainRefusals, type TaintView } from "./drain.ts";

const now = instantOf(Date.UTC(2026, 0, 1));
const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function cluster(name: string, pods: number): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push" },
    status: {
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      ],
      resourceSummary: { allocatable: { cpu: "100", memory: "100Gi", pods: String(pods) } },
    },
  };
}

function binding(name: string, spec: Partial<ResourceBinding["spec"]> = {}): ResourceBinding {
  const labels = { "propagationpolicy.karmada.io/permanent-id": "p" };
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { ...metadata, name: `${name}-deployment`, namespace: "shop", labels },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name },
      replicas: 2,
      conflictResolution: "Abort",
      clusters: [{ name: "m1", replicas: 2 }],
      placement: {
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Aggregated",
        },
      },
      ...spec,
    },
  };
}

const fleet = [cluster("m1", 100), cluster("m2", 3), cluster("m3", 3)];

describe("decideDrain", () => {
  it("lets no two workloads count on the same room", () => {
    const bindings = [binding("a"), binding("b"), binding("c")];
    const plan = decideDrain({ cluster: "m1", clusters: fleet, bindings }, now);
    const targets = plan.map((step) => step.targets.map(({ name }) => name).join());
    expect(targets.slice(0, 2).toSorted()).toEqual(["m2", "m3"]);
    expect(plan[2]?.held).toMatch(/^NoTarget: /);
  });

  it("moves what tolerates every taint, and leaves alone what is elsewhere", () => {
    const placement = {
      clusterTolerations: [{ operator: "Exists" }],
      ...binding("a").spec.placement,
    };
    const elsewhere = binding("b", { clusters: [{ name: "m2", replicas: 2 }] });
    const bindings = [binding("a", { placement }), elsewhere];
    const plan = decideDrain({ cluster: "m1", clusters: fleet, bindings }, now);
    expect(plan.map(({ workload }) => workload)).toEqual(["Deployment shop/a"]);
    expect(plan[0]?.targets.map(({ name }) => name)).not.toContain("m1");
  });

  it("lets a copy go without a substitute when a healthy one stays", () => {
    const copies = binding("a", {
      placement: { clusterAffinity: { clusterNames: ["m1", "m2"] } },
      clusters: [
        { name: "m1", replicas: 2 },
        { name: "m2", replicas: 2 },
      ],
    });
    const healthy = {
      ...copies,
      status: { aggregatedStatus: [{ clusterName: "m2", health: "Healthy" as const }] },
    };
    const planOf = (one: ResourceBinding): ReturnType<typeof decideDrain> =>
      decideDrain({ cluster: "m1", clusters: fleet, bindings: [one] }, now);
    expect(planOf(healthy)).toEqual([
      { workload: "Deployment shop/a", targets: [{ name: "m2", replicas: 2 }] },
    ]);
    expect(planOf(copies)[0]?.held).toMatch(/^NoTarget: /);
  });

  it("counts on the room that a purge elsewhere will need, and does not wait for that purge", () => {
    // As the releaser: it lets go of such a workload, and the scheduler waits.
    const leaving = {
      fromCluster: "m3",
      replicas: 1,
      reason: "TaintUntolerated",
      producer: "TaintManager",
      purgeMode: "Directly" as const,
    };
    const purged = binding("a", {
      clusters: [{ name: "m1", replicas: 1 }],
      gracefulEvictionTasks: [leaving],
    });
    const plan = decideDrain({ cluster: "m1", clusters: fleet, bindings: [purged] }, now);
    expect(plan).toEqual([
      { workload: "Deployment shop/a", targets: [{ name: "m2", replicas: 2 }] },
    ]);
  });
});

describe("decideTainted", () => {
  const dead = { key: "dead", effect: "NoExecute" as const };
  const plans = (view: Partial<TaintView>, ...bindings: ResourceBinding[]) =>
    decideTainted(
      {
        added: new Map([["m1", [dead]]]),
        clusters: fleet,
        bindings,
        purgeMode: "Gracefully",
        approval: "Policy",
        policyOf: () => undefined,
        ...view,
      },
      now,
    );
  const plan = (taint: EvictingTaint, ...bindings: ResourceBinding[]) =>
    plans({ added: new Map([["m1", [taint]]]) }, ...bindings).get("m1") ?? [];
  const tolerating = (more: object): ResourceBinding =>
    binding("a", {
      placement: {
        ...binding("a").spec.placement,
        clusterTolerations: [{ key: "dead", operator: "Exists", ...more }],
      },
    });

  it("moves what does not tolerate it, at once or when its time is over", () => {
    expect(plan(dead, tolerating({}))).toEqual([]);
    expect(plan(dead, binding("a"))).toMatchObject([{ targets: [{ replicas: 2 }] }]);
    expect(plan(dead, binding("a"))[0]).not.toHaveProperty("leavesAt");
    expect(plan(dead, tolerating({ tolerationSeconds: 90 }))).toMatchObject([
      { leavesAt: now + 90_000, targets: [{ replicas: 2 }] },
    ]);
  });

  it("with PreferNoExecute moves only what its policy wants moved", () => {
    const taint = { key: "dead", effect: "PreferNoExecute" as const };
    expect(plan(taint, binding("a"))).toEqual([]);
    const wish = binding("a", { failover: { cluster: { tolerationSeconds: 0 } } });
    expect(plan(taint, wish)).toHaveLength(1);
  });

  it("moves nothing for NoSchedule", () => {
    expect(plan({ key: "dead", effect: "NoSchedule" }, binding("a"))).toEqual([]);
  });

  it("names a workload once, however many of the taints move it, and by the first of them", () => {
    const soft = { key: "soft", effect: "PreferNoExecute" as const };
    const wish = binding("a", { failover: { cluster: { tolerationSeconds: 60 } } });
    const added = new Map([["m1", [soft, dead]]]);
    expect(plans({ added }, wish).get("m1")).toEqual([
      { workload: "Deployment shop/a", targets: [{ name: "m2", replicas: 2 }] },
    ]);
  });

  it("lets no workloads of two clusters count on the same room", () => {
    const on = (name: string, cluster: string) =>
      binding(name, { clusters: [{ name: cluster, replicas: 2 }] });
    const added = new Map([
      ["m1", [dead]],
      ["m2", [dead]],
    ]);
    const both = plans({ added }, on("a", "m1"), on("b", "m2"));
    expect(both.get("m1")).toMatchObject([{ targets: [{ name: "m3", replicas: 2 }] }]);
    expect(both.get("m2")).toMatchObject([
      { held: expect.stringMatching(/^NoTarget: /) as string },
    ]);
  });

  it("places a workload once that leaves two of the clusters", () => {
    const clusters = [
      { name: "m1", replicas: 1 },
      { name: "m2", replicas: 1 },
    ];
    const added = new Map([
      ["m1", [dead]],
      ["m2", [dead]],
    ]);
    const both = plans({ added }, binding("a", { clusters }));
    expect(both.get("m1")).toEqual(both.get("m2"));
    expect(both.get("m1")).toMatchObject([{ targets: [{ name: "m3", replicas: 2 }] }]);
  });

  it.each<[string, Partial<TaintView>, boolean]>([
    ["nothing asks for an approval", {}, false],
    ["the fleet asks for an approval", { approval: "Required" }, true],
    [
      "its policy asks for an approval",
      { policyOf: () => ({ metadata: { annotations: { "lifeboat.dev/approval": "Required" } } }) },
      true,
    ],
  ])("when %s", (_when, view, waits) => {
    const [step] = plans(view, binding("a")).get("m1") ?? [];
    expect(step?.targets).toEqual([{ name: "m2", replicas: 2 }]);
    expect(step?.awaitsApproval ?? false).toBe(waits);
  });
});

describe("drainRefusals", () => {
  const quorum = (shares: Record<string, number>): ResourceBinding => {
    const targets = Object.entries(shares).map(([name, replicas]) => ({ name, replicas }));
    const given = binding("store", { clusters: targets });
    const annotations = {
      "federation.kubernetes.io/quorum": "true",
      "lifeboat.dev/federated-shares": JSON.stringify(shares),
      "lifeboat.dev/federated-record": JSON.stringify({ replicas: 5, numbers: {} }),
    };
    const aggregatedStatus = targets.map(({ name, replicas }) => ({
      clusterName: name,
      status: { readyReplicas: replicas },
    }));
    return {
      ...given,
      metadata: { ...given.metadata, annotations },
      status: { aggregatedStatus },
    };
  };
  const ready = (name: string, taints: Cluster["spec"]["taints"] = []): Cluster => {
    const one = cluster(name, 9);
    const conditions = [
      { type: "Ready", status: "True" as const, reason: "", message: "", lastTransitionTime: "" },
    ];
    return { ...one, spec: { ...one.spec, taints }, status: { ...one.status, conditions } };
  };
  const all = [ready("m1"), ready("m2"), ready("m3")];

  it("names the quorums that would lose their majority, with the numbers", () => {
    const bindings = [quorum({ m1: 3, m2: 1, m3: 1 }), binding("a")];
    const refusals = drainRefusals({ cluster: "m1", clusters: all, bindings });
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toContain("5 of its 5 pods are up, 3 of them in m1, and 3 must stay up");
    expect(drainRefusals({ cluster: "m2", clusters: all, bindings })).toEqual([]);
  });

  it("counts what another drain took", () => {
    const bindings = [quorum({ m1: 1, m2: 1, m3: 1 })];
    expect(drainRefusals({ cluster: "m1", clusters: all, bindings })).toEqual([]);
    const drained = [ready("m1"), ready("m2"), ready("m3", [{ key: "d", effect: "NoExecute" }])];
    expect(drainRefusals({ cluster: "m1", clusters: drained, bindings })).toHaveLength(1);
    expect(drainRefusals({ cluster: "m3", clusters: drained, bindings })).toEqual([]);
  });
});
