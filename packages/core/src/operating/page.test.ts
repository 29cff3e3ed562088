/** The page about the fleet: its sentence, its exit code, and what waits for a person with the command for it. */
import type {
  Cluster,
  ClusterTaintPolicy,
  Condition,
  Evacuation,
  EvacuationBudget,
  ResourceBinding,
} from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { makeBinding, makeCluster, NOW } from "../placement/makers.suite.ts";
import { type Hidden, statusPage, type StatusPageView } from "./page.ts";

type Taints = NonNullable<Cluster["spec"]["taints"]>;
const LOST: Taints = [{ key: "lost", effect: "NoExecute" }];
const lastTransitionTime = "2025-12-31T23:58:00Z";
const condition = (type: string, status: Condition["status"], message = ""): Condition => ({
  type,
  status,
  reason: "R",
  message,
  lastTransitionTime,
});

interface Given {
  readonly taints?: Taints;
  readonly annotations?: Record<string, string>;
  readonly deleting?: boolean;
  readonly pull?: boolean;
}

function cluster(name: string, ready: Condition["status"] | "", given: Given = {}): Cluster {
  const { taints = [], annotations = {}, deleting = false, pull = false } = given;
  const conditions = ready === "" ? [] : [condition("Ready", ready)];
  const one = makeCluster(name, {
    spec: { taints, syncMode: pull ? "Pull" : "Push" },
    status: { conditions },
    deleting,
  });
  return { ...one, metadata: { ...one.metadata, annotations } };
}

function workload(name: string, on: string, health: "Healthy" | "Unhealthy" = "Healthy") {
  const one = makeBinding({
    replicas: 2,
    clusters: on === "" ? {} : { [on]: 2 },
    status: { aggregatedStatus: on === "" ? [] : [{ clusterName: on, health }] },
  });
  const resource = { ...one.spec.resource, name };
  return { ...one, metadata: { ...one.metadata, uid: name }, spec: { ...one.spec, resource } };
}

/** Leaves its cluster in mode Directly, so that a silent cluster must be proven off. */
function direct(name: string, from: string): ResourceBinding {
  const one = workload(name, "");
  const task = { fromCluster: from, purgeMode: "Directly" as const, reason: "", producer: "" };
  return { ...one, spec: { ...one.spec, gracefulEvictionTasks: [task] } };
}

function evacuation(status: NonNullable<Evacuation["status"]>): Evacuation {
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "a-1", uid: "a-1", resourceVersion: "1", creationTimestamp: "" },
    spec: { cluster: "a", paused: false },
    status,
  };
}
const NONE = { total: 3, queued: 0, held: 0, evicted: 0, done: 0, abandoned: 0, exempt: 0 };

function budget(spec: Partial<EvacuationBudget["spec"]>, ...conditions: Condition[]) {
  return {
    spec: { paused: false, ...spec },
    status: { conditions },
  } as unknown as EvacuationBudget;
}

const THREE = [cluster("a", "True"), cluster("b", "True"), cluster("c", "True")];
const view = (changes: Partial<StatusPageView> = {}): StatusPageView => ({
  controllers: { state: "Running" },
  clusters: THREE,
  policies: [],
  evacuations: [],
  bindings: [workload("web", "a"), workload("api", "b")],
  budget: undefined,
  trust: { trustFencedCondition: false },
  failover: true,
  heldNames: [],
  notAnswering: new Set(),
  ...changes,
});
const page = (changes: Partial<StatusPageView> = {}) => statusPage(view(changes), NOW);

describe("the sentence and the exit code", () => {
  const down = [cluster("a", "False"), cluster("b", "True"), cluster("c", "True")];
  it.each<[string, Partial<StatusPageView>, number, string]>([
    ["all is well", {}, 0, "WELL: 2 workloads whole on 3 clusters"],
    [
      "one of each",
      { clusters: [cluster("a", "True")], bindings: [workload("web", "a")] },
      0,
      "WELL: 1 workload whole on 1 cluster",
    ],
    ["nothing runs yet", { bindings: [] }, 0, "WELL: no workloads on 3 clusters"],
    ["nothing is there", { bindings: [], clusters: [] }, 0, "EMPTY: no cluster is joined"],
    [
      "no cluster is left",
      { clusters: [] },
      3,
      "DEGRADED: 2 of 2 workloads short, no cluster is joined",
    ],
    [
      "a cluster was never probed",
      { clusters: [...THREE, cluster("d", "")] },
      0,
      "WELL: 2 workloads whole on 4 clusters, 1 of 4 clusters not probed yet",
    ],
    [
      "a cluster that counts as Ready does not answer; one that is down is named once",
      { notAnswering: new Set(["a", "d"]), clusters: [...THREE, cluster("d", "False")] },
      3,
      "DEGRADED: 2 workloads whole, 1 of 4 clusters down, 1 of 4 clusters not answering",
    ],
    [
      "nothing but a probe failed",
      { notAnswering: new Set(["a"]) },
      0,
      "WELL: 2 workloads whole on 3 clusters, 1 of 3 clusters not answering",
    ],
    [
      "whether clusters answer now is not known",
      { notAnswering: undefined },
      0,
      "WELL: 2 workloads whole on 3 clusters, probes not known here",
    ],
    [
      "that is not known, and a cluster is down anyway",
      { notAnswering: undefined, clusters: down },
      3,
      "DEGRADED: 1 of 2 workloads short, 1 of 3 clusters down",
    ],
    [
      "that is not known, and no cluster counts as Ready",
      { notAnswering: undefined, bindings: [], clusters: [cluster("d", "")] },
      0,
      "WELL: no workloads on 1 cluster, 1 of 1 cluster not probed yet",
    ],
    [
      "a cluster is down",
      { clusters: down },
      3,
      "DEGRADED: 1 of 2 workloads short, 1 of 3 clusters down",
    ],
    [
      "an idle cluster is silent",
      { clusters: [...THREE, cluster("d", "Unknown")] },
      3,
      "DEGRADED: 2 workloads whole, 1 of 4 clusters silent",
    ],
    [
      "a cluster has failed and answers",
      { clusters: [...THREE, cluster("d", "True", { taints: LOST })] },
      3,
      "DEGRADED: 2 workloads whole, 1 of 4 clusters failed",
    ],
    [
      "a person drains a cluster",
      {
        clusters: [
          ...THREE,
          cluster("d", "True", { taints: [{ key: "lifeboat.dev/drain", effect: "NoExecute" }] }),
        ],
      },
      0,
      "WELL: 2 workloads whole on 4 clusters",
    ],
    [
      "a workload is not healthy",
      { bindings: [workload("web", "a", "Unhealthy")] },
      3,
      "DEGRADED: 1 of 1 workload short",
    ],
    [
      "only a person is missing",
      { budget: budget({ paused: true }) },
      4,
      "WAITING: 2 workloads whole on 3 clusters, 1 decision waits for you",
    ],
    [
      "a workload waits for a fence",
      { clusters: down, bindings: [direct("web", "a"), workload("api", "b")] },
      4,
      "DEGRADED: 1 of 2 workloads short, 1 decision waits for you, 1 of 3 clusters down",
    ],
    [
      "no controllers ever ran",
      { controllers: { state: "Never" } },
      3,
      "UNKNOWN: no controllers have run on this control plane",
    ],
    [
      "the controllers are away",
      { controllers: { state: "Away", since: addMs(NOW, -300_000) } },
      3,
      "UNKNOWN: no controllers have run for 5m; what follows is as old as that",
    ],
    [
      "they are away, and something waits",
      { controllers: { state: "Away", since: undefined }, budget: budget({ paused: true }) },
      4,
      "UNKNOWN: no controllers have run for an unknown time; what follows is as old as that, 1 decision waits for you",
    ],
  ])("%s", (_name, changes, exitCode, sentence) => {
    expect(page(changes)).toMatchObject({ exitCode, sentence });
  });

  it("counts what the gauges count: objects without replicas are no workloads", () => {
    const one = workload("settings", "a", "Unhealthy");
    const { replicas: _none, ...spec } = one.spec;
    expect(page({ bindings: [{ ...one, spec }] })).toMatchObject({ workloads: 0, short: [] });
  });
});

describe("what waits for a person", () => {
  const silent = (name: string) => cluster(name, "Unknown", { pull: true });
  const rows: [string, Partial<StatusPageView>, (readonly [string, string])[]][] = [
    ["nothing", {}, []],
    [
      "a proof",
      { clusters: [cluster("a", "False")], bindings: [direct("w1", "a"), direct("w2", "a")] },
      [["Fence", "lifeboat fence a"]],
    ],
    [
      "no proof: it is fenced",
      {
        clusters: [cluster("a", "False", { annotations: { "lifeboat.dev/fenced": "{}" } })],
        bindings: [direct("w1", "a")],
      },
      [],
    ],
    ["no proof: it answers", { bindings: [direct("w1", "a")] }, []],
    [
      "isolation",
      { clusters: [silent("a"), silent("b")], bindings: [] },
      [["Isolation", "lifeboat evacuations agree"]],
    ],
    [
      "the fleet's switch",
      {
        budget: budget({ paused: true }),
        evacuations: [
          evacuation({ phase: "Paused", reason: "BudgetPaused", entries: { ...NONE, queued: 2 } }),
        ],
      },
      [["AllPaused", "lifeboat evacuations resume --all"]],
    ],
    [
      "paused clusters and namespaces",
      { budget: budget({ pausedClusters: ["a"], pausedNamespaces: ["shop"] }) },
      [
        ["ClusterPaused", "lifeboat evacuations resume --cluster a"],
        ["NamespacePaused", "lifeboat evacuations resume --namespace shop"],
      ],
    ],
    [
      "an approval",
      {
        evacuations: [
          evacuation({ phase: "AwaitingApproval", entries: { ...NONE, awaitingApproval: 2 } }),
        ],
      },
      [["Approval", "lifeboat evacuations approve a-1"]],
    ],
    [
      "one evacuation's switch",
      {
        evacuations: [
          evacuation({
            phase: "Paused",
            reason: "PausedByPerson",
            entries: { ...NONE, queued: 2 },
          }),
        ],
      },
      [["Paused", "lifeboat evacuations resume a-1"]],
    ],
    [
      "the gate",
      {
        evacuations: [
          evacuation({ phase: "Paused", reason: "GateOff", entries: { ...NONE, queued: 2 } }),
        ],
      },
      [["GateOff", "lifeboat drain a"]],
    ],
    [
      "a rate of 0",
      {
        evacuations: [
          evacuation({
            phase: "Braked",
            reason: "FleetTooUnhealthy",
            entries: { ...NONE, queued: 2 },
          }),
        ],
      },
      [["Braked", "lifeboat evacuations rate"]],
    ],
    [
      "not a rate above 0",
      { evacuations: [evacuation({ phase: "Running", entries: { ...NONE, queued: 2 } })] },
      [],
    ],
    [
      "not an evacuation that is over",
      {
        evacuations: [
          evacuation({
            phase: "Held",
            finishedAt: lastTransitionTime,
            entries: { ...NONE, held: 2 },
          }),
        ],
      },
      [],
    ],
    [
      "several entries without a target",
      { evacuations: [evacuation({ phase: "Held", entries: { ...NONE, held: 2 } })] },
      [["Held", "lifeboat evacuations show a-1"]],
    ],
    [
      "one entry without a target",
      {
        evacuations: [
          evacuation({
            phase: "Held",
            entries: { ...NONE, held: 1 },
            held: [
              {
                binding: {
                  kind: "ResourceBinding",
                  namespace: "default",
                  name: "web-deployment",
                  uid: "web",
                },
                reason: "NoTarget",
              },
            ],
          }),
        ],
      },
      [["Held", "lifeboat explain deployment/web -n default"]],
    ],
    [
      "each brake",
      {
        budget: budget(
          {},
          condition("MassDeletion", "True", "many"),
          condition("RestoredFromBackup", "True"),
          condition("MassTrafficBlock", "True"),
        ),
      },
      [
        ["Restored", "lifeboat brake release"],
        ["MassDeletion", "lifeboat brake release"],
        ["TrafficBlocks", "lifeboat brake release"],
      ],
    ],
    ["no brake that is off", { budget: budget({}, condition("MassDeletion", "False")) }, []],
    ["names", { heldNames: ["one: a change is held"] }, [["Names", "lifeboat dns confirm"]]],
    [
      "a cluster that leaves out of reach",
      { clusters: [cluster("a", "False", { deleting: true })], bindings: [] },
      [["Leaving", "lifeboat unjoin a --force"]],
    ],
    [
      "not one that leaves in order",
      { clusters: [cluster("a", "True", { deleting: true })], bindings: [] },
      [],
    ],
    [
      "not one that a person gave up",
      {
        clusters: [
          cluster("a", "False", {
            deleting: true,
            annotations: { "lifeboat.dev/force-removal": "true" },
          }),
        ],
        bindings: [],
      },
      [],
    ],
  ];
  it.each(rows)("%s", (_name, changes, expected) => {
    const { waits, exitCode } = page(changes);
    expect(waits.map(({ reason, command }) => [reason, command])).toEqual(expected);
    expect(exitCode === 4).toBe(expected.length > 0);
  });

  it("a workload that keeps a cluster from leaving", () => {
    const one = workload("web", "a");
    const status = { ...one.status, conditions: [condition("Scheduled", "False")] };
    const { waits } = page({
      clusters: [cluster("a", "True", { deleting: true })],
      bindings: [{ ...one, status }],
    });
    expect(waits).toMatchObject([
      {
        reason: "Leaving",
        command: expect.stringMatching(/^lifeboat explain deployment\/web/) as string,
      },
    ]);
  });
});

describe("the clusters", () => {
  const policy: ClusterTaintPolicy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: {
      name: "p",
      uid: "p",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: lastTransitionTime,
    },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["True"] }],
      taintsToAdd: [
        { key: "dead", effect: "NoExecute", addOnMatchSeconds: 300, removeOnMismatchSeconds: 180 },
      ],
    },
  };
  const remembered = (key: string, more: object = {}) => ({
    "lifeboat.dev/taint-policies": JSON.stringify({
      p: { generation: 1, [key]: lastTransitionTime, ...more },
    }),
  });

  it("show what only time is missing for, and nothing that the gate forbids", () => {
    const clusters = [cluster("a", "False", { annotations: remembered("matchingSince") })];
    const pending = (failover: boolean) =>
      page({ clusters, policies: [policy], failover }).clusters[0]?.pending;
    expect(pending(true)).toEqual([
      { policy: "p", key: "dead", effect: "NoExecute", adds: true, due: addMs(NOW, 180_000) },
    ]);
    expect(pending(false)).toEqual([]);
  });

  it("show when a taint goes", () => {
    const taints: Taints = [{ key: "dead", effect: "NoExecute" }];
    const added = [{ key: "dead", effect: "NoExecute", value: "" }];
    const annotations = remembered("mismatchingSince", { added });
    const clusters = [cluster("a", "True", { taints, annotations })];
    expect(page({ clusters, policies: [policy] }).clusters[0]?.pending).toMatchObject([
      { adds: false, due: addMs(NOW, 60_000) },
    ]);
  });

  it.each<[string, Cluster, object]>([
    [
      "healthy",
      cluster("a", "True"),
      { health: "Ready", role: "takes work", workloads: 2, healthy: 1 },
    ],
    [
      "down: what it runs is unknown",
      cluster("a", "False"),
      { health: "NotReady", role: "closed", workloads: 2, healthy: undefined },
    ],
    [
      "silent: what it runs is unknown",
      cluster("a", "Unknown", { taints: LOST }),
      { health: "Silent", role: "failed", healthy: undefined },
    ],
    ["never probed", cluster("a", ""), { health: "Unprobed", role: "closed", healthy: undefined }],
    [
      "cordoned",
      cluster("a", "True", { taints: [{ key: "x", effect: "NoSchedule" }] }),
      { role: "closed" },
    ],
    [
      "drained",
      cluster("a", "True", { taints: [{ key: "lifeboat.dev/drain", effect: "NoExecute" }] }),
      { role: "drained" },
    ],
    ["leaving", cluster("a", "True", { deleting: true }), { role: "leaving" }],
    [
      "fenced",
      cluster("a", "False", { annotations: { "lifeboat.dev/fenced": "{}" } }),
      { role: "fenced" },
    ],
  ])("%s", (_name, one, expected) => {
    const bindings = [workload("web", "a"), workload("api", "a", "Unhealthy")];
    expect(page({ clusters: [one], bindings }).clusters).toMatchObject([expected]);
  });

  it("an evacuation under way shows", () => {
    const clusters = [cluster("a", "False", { taints: LOST })];
    const evacuations = [evacuation({ phase: "Running" })];
    expect(page({ clusters, evacuations }).clusters[0]?.role).toBe("evacuating");
  });
});

describe("what the user may not see", () => {
  const seen = (hidden: readonly Hidden[], changes: Partial<StatusPageView> = {}) =>
    page({
      clusters: [cluster("a", "True"), cluster("b", "True")],
      bindings: [workload("web", "a")],
      ...changes,
      hidden: new Set(hidden),
    });

  it.each<[string, readonly Hidden[], Partial<StatusPageView>, string, number]>([
    ["nothing", [], {}, "WELL: 1 workload whole on 2 clusters", 0],
    ["workloads", ["workloads"], { bindings: [] }, "UNKNOWN: you may not see workloads", 3],
    [
      "decisions",
      ["decisions"],
      {},
      "UNKNOWN: 1 workload whole on 2 clusters, you may not see decisions",
      3,
    ],
    [
      "workloads, while a cluster is down",
      ["workloads"],
      { bindings: [], clusters: [cluster("a", "False"), cluster("b", "True")] },
      "DEGRADED: 1 of 2 clusters down, you may not see workloads",
      3,
    ],
    [
      "clusters, without which nothing is judged",
      ["clusters"],
      { clusters: [] },
      "UNKNOWN: you may not see clusters and workloads and decisions",
      3,
    ],
    [
      "the settings",
      [],
      { controllers: { state: "Hidden" } },
      "UNKNOWN: 1 workload whole on 2 clusters, you may not see whether controllers run",
      3,
    ],
  ])("%s is never told as well", (_name, hidden, changes, sentence, exitCode) => {
    expect(seen(hidden, changes)).toMatchObject({ sentence, exitCode, short: [] });
  });

  it("is absent from the page", () => {
    expect(seen(["workloads"], { bindings: [] })).not.toHaveProperty("workloads");
    expect(seen(["workloads"])["hidden"]).toEqual(["workloads"]);
    expect(seen([])).not.toHaveProperty("hidden");
  });
});
