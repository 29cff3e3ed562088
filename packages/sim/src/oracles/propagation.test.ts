/** What the oracles of propagation say of histories that break and keep their promises. */
import { wellKnown } from "@lifeboat/core";
import { executionNamespace, workName } from "@lifeboat/core/propagation/rendering";
import { type History, itJudges } from "./history.suite.ts";

function rendered(h: History, generation: number, image: string): void {
  h.template(1, { image: "a" });
  h.template(2, { image: "b" });
  const annotations = {
    [wellKnown.TEMPLATE_UID]: "uid-of-web",
    [wellKnown.TEMPLATE_GENERATION]: String(generation),
  };
  h.work("m1", { annotations, spec: { replicas: 5, image } });
}

/** Another Deployment in m1, so that somebody looks for those. */
function neighbour(h: History): void {
  const object = { kind: "Deployment", metadata: { name: "other", namespace: "default" } };
  const labels = { [wellKnown.MANAGED]: "true" };
  const { metadata } = object;
  const namespace = `${wellKnown.EXECUTION_NAMESPACE_PREFIX}m1`;
  h.put("m1", "apps/deployments/default/other", { ...object, metadata: { ...metadata, labels } });
  h.put("plane", `work.karmada.io/works/${namespace}/other`, {
    kind: "Work",
    metadata: { name: "other", namespace },
    spec: { workload: { manifests: [object] } },
  });
}

/** A workload that needs `web`: it leaves m2, may be nowhere but there, and its Works are in these clusters. */
function workloadOf(h: History, on: readonly string[], worksIn: readonly string[]): void {
  const resource = { kind: "StatefulSet", namespace: "default", name: "other" };
  h.put("plane", "work.karmada.io/resourcebindings/default/other", {
    kind: "ResourceBinding",
    metadata: {
      name: "other",
      namespace: "default",
      labels: { [wellKnown.BINDING_ID]: "other id" },
    },
    spec: {
      resource,
      clusters: on.map((name) => ({ name })),
      placement: { clusterAffinity: { clusterNames: ["m2"] } },
      gracefulEvictionTasks: [{ fromCluster: "m2", purgeMode: "Gracefully" }],
    },
    status: { aggregatedStatus: [{ clusterName: "m2" }] },
  });
  for (const cluster of worksIn) {
    const [namespace, name] = [executionNamespace(cluster), workName(resource)];
    h.put("plane", `work.karmada.io/works/${namespace}/${name}`, {
      kind: "Work",
      metadata: { name, namespace, labels: { [wellKnown.BINDING_ID]: "other id" } },
      spec: {},
    });
  }
}

itJudges([
  ["one-template-generation", "broken", "it shows another", (h) => rendered(h, 1, "b")],
  ["one-template-generation", "kept", "it shows the one it names", (h) => rendered(h, 2, "b")],
  [
    "gone-means-gone",
    "broken",
    "the member has the copy",
    (h) => {
      h.work("m1", { going: true });
      h.copy("m1", 1);
      h.noWork("m1");
    },
  ],
  [
    "gone-means-gone",
    "kept",
    "the member has none",
    (h) => {
      h.work("m1", { going: true });
      h.copy("m1", 1);
      h.noCopy("m1");
      h.noWork("m1");
    },
  ],
  ...(
    [
      ["kept", "a backup", 3, { restored: new Set(["m1"]) }],
      ["broken", "a backup", 60, { restored: new Set(["m1"]) }],
      ["kept", "a repeated write", 3, { repeated: new Set(["m1"]) }],
      ["broken", "nothing that went wrong", 3, { restored: new Set(["m2"]) }],
    ] as const
  ).map(
    ([verdict, what, seconds, circumstances]) =>
      [
        "gone-means-gone",
        verdict,
        `${what} brought the copy back ${seconds} s ago, while the plane is slow`,
        (h: History) => {
          h.work("m1", { going: true });
          h.copy("m1", 1);
          h.noCopy("m1");
          h.copy("m1", 1);
          h.pass(seconds);
          h.noWork("m1");
        },
        { ...circumstances, lateTimes: [{ from: 0, until: 120, delayMs: 5000 }] },
      ] as const,
  ),
  [
    "gone-means-gone",
    "kept",
    "the cluster is removed by force",
    (h) => {
      h.work("m1", { going: true });
      h.copy("m1", 1);
      h.cluster("m1", "False", { annotations: { [wellKnown.FORCE_REMOVAL]: "true" } });
      h.noWork("m1");
    },
  ],
  ...(
    [
      ["broken", 31],
      ["kept", 5],
    ] as const
  ).map(
    ([verdict, seconds]) =>
      [
        "forced-removal-ends",
        verdict,
        `it takes ${seconds} seconds`,
        (h: History) => {
          const annotations = { [wellKnown.FORCE_REMOVAL]: "true" };
          const deletionTimestamp = "2026-01-01T00:00:00Z";
          h.cluster("m1", "False", { annotations, deletionTimestamp });
          h.pass(seconds);
          h.noCluster("m1");
        },
      ] as const,
  ),
  [
    "removed-clusters-leave-nothing",
    "broken",
    "a result names a cluster that is gone",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.noCluster("m1");
    },
  ],
  [
    "removed-clusters-leave-nothing",
    "kept",
    "none does",
    (h) => {
      h.binding({ on: { m2: 2 } });
      h.noCluster("m1");
    },
  ],
  ["every-target-has-its-work", "broken", "one has none", (h) => h.binding({ on: { m1: 2 } })],
  [
    "every-target-has-its-work",
    "kept",
    "each has one",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.work("m1");
    },
  ],
  ["no-orphan-work", "broken", "no binding wants it", (h) => h.work("m1")],
  ...(["m1", "m2"] as const).flatMap((asked) =>
    (["no-orphan-work", "status-comes-back"] as const).map(
      (oracle) =>
        [
          oracle,
          asked === "m1" ? "kept" : "broken",
          `it is the last copy, in m1, of a binding that asks for ${asked}, which takes nothing`,
          (h: History) => {
            h.cluster(asked, "True", {}, { taints: [{ key: "faulty", effect: "NoExecute" }] });
            h.binding({ placement: { clusterAffinity: { clusterNames: [asked] } }, shown: ["m1"] });
            h.work("m1");
          },
        ] as const,
    ),
  ),
  ...([1, 2] as const).flatMap((minGroups) =>
    (["no-orphan-work", "status-comes-back"] as const).map(
      (oracle) =>
        [
          oracle,
          minGroups === 2 ? "kept" : "broken",
          `it is the last copy, in m1, of a binding that asks for ${minGroups} of the one cluster m2`,
          (h: History) => {
            const clusterAffinity = { clusterNames: ["m2"] };
            const spreadConstraints = [{ spreadByField: "cluster", minGroups }];
            h.binding({ placement: { clusterAffinity, spreadConstraints }, shown: ["m1"] });
            h.work("m1");
          },
        ] as const,
    ),
  ),
  ...(["faulty", "well"] as const).map(
    (state) =>
      [
        "no-orphan-work",
        state === "faulty" ? "kept" : "broken",
        `an eviction waits beside it, and the only cluster that is asked for is ${state}`,
        (h: History) => {
          const taints = state === "faulty" ? [{ key: "faulty", effect: "NoExecute" }] : [];
          h.cluster("m1", "True");
          h.cluster("m2", "True", {}, { taints });
          h.binding({
            placement: { clusterAffinity: { clusterNames: ["m2"] } },
            tasks: [{ fromCluster: "m2", purgeMode: "Gracefully" }],
          });
          h.work("m1");
        },
      ] as const,
  ),
  ...(["the cluster leaves", "its eviction waits"] as const).flatMap((why) =>
    (
      [
        ["kept", "a workload that needs it has its last copy there", [], ["m1"]],
        ["broken", "a workload that needs it has no copy there", [], ["m2"]],
        ["broken", "a workload that needs it is elsewhere", ["m3"], ["m1", "m3"]],
      ] as const
    ).map(
      ([verdict, when, on, worksIn]) =>
        [
          "no-orphan-work",
          verdict,
          `${when}, because ${why}`,
          (h: History) => {
            const deletionTimestamp = "2026-01-01T00:00:00Z";
            h.cluster("m1", "True", why === "the cluster leaves" ? { deletionTimestamp } : {});
            h.cluster("m2", "True", {}, { taints: [{ key: "faulty", effect: "NoExecute" }] });
            h.binding({ on: { m3: 0 }, requiredIn: ["m2"] });
            h.work("m1");
            workloadOf(h, on, worksIn);
          },
        ] as const,
    ),
  ),
  ...(["m1", "m2"] as const).map(
    (where) =>
      [
        "status-comes-back",
        where === "m1" ? "kept" : "broken",
        `it shows m1, and a workload that needs it has its last copy in ${where}`,
        (h: History) => {
          h.cluster("m2", "True", {}, { taints: [{ key: "faulty", effect: "NoExecute" }] });
          h.binding({ on: { m3: 0 }, requiredIn: ["m2"], shown: ["m1", "m2", "m3"] });
          h.work("m1");
          workloadOf(h, [], [where]);
        },
      ] as const,
  ),
  [
    "members-hold-what-works-say",
    "broken",
    "a copy is missing",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.work("m1");
    },
  ],
  [
    "members-hold-what-works-say",
    "broken",
    "a copy has no Work",
    (h) => {
      h.binding({ on: { m2: 2 } });
      h.copy("m1", 2);
    },
  ],
  ...(
    [
      ["broken", "the one that is asked for is there", ["m2"], ["m2"]],
      ["kept", "one that is asked for is not there", ["m2", "m3"], ["m2"]],
      ["kept", "none is asked for", [], []],
    ] as const
  ).map(
    ([verdict, when, asked, there]) =>
      [
        "members-hold-what-works-say",
        verdict,
        `a backup brought a copy back, and ${when}`,
        (h: History) => {
          h.binding({ on: Object.fromEntries(asked.map((cluster) => [cluster, 2])) });
          for (const cluster of there) {
            h.work(cluster, { spec: {} });
            h.copy(cluster, 2);
          }
          h.copy("m1", 2);
          neighbour(h);
        },
        { restored: new Set(["m1"]) },
      ] as const,
  ),
  [
    "members-hold-what-works-say",
    "kept",
    "each copy has its Work",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.work("m1", { spec: {} });
      h.copy("m1", 2);
    },
  ],
  ["status-comes-back", "broken", "a cluster is not shown", (h) => h.binding({ on: { m1: 2 } })],
  ...([undefined, [{ fromCluster: "m1", purgeMode: "Gracefully" }]] as const).map(
    (tasks) =>
      [
        "status-comes-back",
        "kept",
        `it is where another workload needs it${tasks === undefined ? "" : ", and leaves otherwise"}`,
        (h: History) => {
          const taints = [{ key: "faulty", effect: "NoExecute" }];
          h.cluster("m1", "True", {}, { taints });
          h.binding({
            placement: { clusterAffinity: { clusterNames: ["m1"] } },
            requiredIn: ["m1"],
            shown: ["m1"],
            ...(tasks !== undefined && { tasks }),
          });
          h.work("m1");
        },
      ] as const,
  ),
  ["status-comes-back", "kept", "there is none to show", (h) => h.binding({})],
  ["nothing-is-left-going", "broken", "a copy is", (h) => h.copy("m1", 0, { going: true })],
  ["nothing-is-left-going", "kept", "none is", (h) => h.copy("m1", 2)],
  [
    "nothing-is-left-going",
    "broken",
    "a cluster is that nobody needs",
    (h) => h.cluster("m1", "True", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ],
  [
    "nothing-is-left-going",
    "kept",
    "a cluster is on which a workload without another place was placed at the last moment",
    (h) => {
      h.cluster("m1", "True", { deletionTimestamp: "2026-01-01T00:00:00Z" });
      h.binding({ on: { m1: 2 }, placement: { clusterAffinity: { clusterNames: ["m1"] } } });
    },
  ],
  [
    "works-live-in-their-namespace",
    "broken",
    "its copy is marked as another cluster's",
    (h) => h.put("plane", "work.karmada.io/works/elsewhere/web", workIn("elsewhere")),
  ],
  ["works-live-in-their-namespace", "kept", "it is in its cluster's", (h) => h.work("m1")],
]);

function workIn(namespace: string): object {
  return { kind: "Work", metadata: { name: "web", namespace }, spec: {} };
}
