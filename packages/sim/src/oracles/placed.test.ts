/** What the oracles of placing say of worlds at rest. */
import { wellKnown } from "@lifeboat/core";
import { directTask, type History, itJudges } from "./history.suite.ts";

/** A policy that asks for m1 and m2, and where the workload is. */
const placed =
  (...on: readonly string[]) =>
  (h: History): void => {
    asked(h, { clusterAffinity: { clusterNames: ["m1", "m2"] } });
    h.binding({ on: Object.fromEntries(on.map((name) => [name, 2])) });
  };

/** A workload of two replicas, and its policy. */
function asked(h: History, placement: object): void {
  const at = { name: "web", namespace: "default" };
  const annotations = { [wellKnown.POLICY_NAME]: "web" };
  h.put("plane", "apps/deployments/default/web", {
    kind: "Deployment",
    metadata: { ...at, uid: "uid-of-web", annotations },
    spec: { replicas: 2 },
  });
  h.put("plane", "policy.karmada.io/propagationpolicies/default/web", {
    kind: "PropagationPolicy",
    metadata: { ...at, uid: "uid-of-policy" },
    spec: {
      resourceSelectors: [{ kind: "Deployment", name: "web" }],
      placement,
    },
  });
}

/** One replica of two is placed, in m2, which takes no more; `group`: the group of clusters that it is in. */
const halfPlaced =
  (rules: object, group?: string) =>
  (h: History): void => {
    const preference = { replicaDivisionPreference: "Aggregated" };
    const replicaScheduling = { replicaSchedulingType: "Divided", ...preference };
    asked(h, { replicaScheduling, ...rules });
    h.cluster("m2", "True", {}, { taints: [{ key: "k", effect: "NoSchedule" }] });
    h.binding({ on: { m2: 1 }, ...(group !== undefined && { group }) });
  };

const inGroups = {
  clusterAffinities: [
    { affinityName: "first", clusterNames: ["m1"] },
    { affinityName: "second", clusterNames: ["m2"] },
  ],
};

const atMost = (maxGroups: number): object => ({
  spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups }],
});

/** It leaves m1 in mode Directly, and another workload needs it in these clusters. */
const purged =
  (...requiredIn: readonly string[]) =>
  (h: History): void => {
    placed()(h);
    h.binding({ tasks: [directTask("m1")], requiredIn });
  };

/** It failed in m1, and is in these clusters now. */
const failedInM1 =
  (...on: readonly string[]) =>
  (h: History): void => {
    placed()(h);
    const annotations = { [wellKnown.FORMER_RESULT]: '[{"name":"m1"}]' };
    const failover = { application: {} };
    h.binding({ on: Object.fromEntries(on.map((name) => [name, 2])), annotations, failover });
  };

/** One copy, in m1, which is faulty or not; what is tolerated when the taint comes is not asked for any more at the end. */
const onFaulty =
  (effect: string, ...clusterTolerations: readonly object[]) =>
  (h: History): void => {
    const placement = { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1 }] };
    const parts = { on: { m1: 2 }, labels: { [wellKnown.POLICY_ID]: "policy" } };
    h.binding({ ...parts, placement: { ...placement, clusterTolerations } });
    h.pass(10);
    h.cluster("m1", "False", {}, { taints: [{ key: "test/faulty", effect }] });
    h.pass(10);
    h.binding({ ...parts, placement });
  };

itJudges([
  ["placed-as-asked", "kept", "it is on both", placed("m1", "m2")],
  ["placed-as-asked", "broken", "one is missing", placed("m1")],
  ["placed-as-asked", "broken", "it is on another, too", placed("m1", "m2", "m3")],
  ["placed-as-asked", "kept", "its copy is needed where it is purged", purged("m1")],
  ["placed-as-asked", "broken", "its copy is needed elsewhere", purged("m2")],
  ["placed-as-asked", "kept", "it is not where it failed", failedInM1("m2")],
  ["placed-as-asked", "broken", "it is nowhere since it failed", failedInM1()],
  [
    "placed-as-asked",
    "broken",
    "its group takes no more, and a later one does",
    halfPlaced({ clusterAffinities: inGroups.clusterAffinities.toReversed() }, "second"),
  ],
  [
    "placed-as-asked",
    "kept",
    "its group takes no more, and an earlier one does",
    halfPlaced(inGroups, "second"),
  ],
  ["placed-as-asked", "kept", "its one cluster takes no more", halfPlaced(atMost(1))],
  ["placed-as-asked", "broken", "it may take a second cluster", halfPlaced(atMost(2))],
  ...([1, 2] as const).map(
    (maxGroups) =>
      [
        "nobody-stays-on-a-faulty-cluster",
        maxGroups === 1 ? "kept" : "broken",
        `a cluster that takes no more stays, of at most ${maxGroups}`,
        (h: History) => {
          const preference = { replicaDivisionPreference: "Aggregated" };
          const replicaScheduling = { replicaSchedulingType: "Divided", ...preference };
          const placement = { replicaScheduling, ...atMost(maxGroups) };
          const labels = { [wellKnown.POLICY_ID]: "policy" };
          h.cluster("m1", "False", {}, { taints: [{ key: "k", effect: "NoExecute" }] });
          h.cluster("m2", "True", {}, { taints: [{ key: "k", effect: "NoSchedule" }] });
          h.binding({ on: { m1: 1, m2: 1 }, labels, placement });
        },
        { failover: true },
      ] as const,
  ),
  [
    "nobody-stays-on-a-faulty-cluster",
    "broken",
    "another is free",
    onFaulty("NoExecute"),
    { failover: true },
  ],
  [
    "nobody-stays-on-a-faulty-cluster",
    "kept",
    "only new ones are kept away",
    onFaulty("NoSchedule"),
    { failover: true },
  ],
  ["nobody-stays-on-a-faulty-cluster", "kept", "the gate is off", onFaulty("NoExecute")],
  [
    "nobody-stays-on-a-faulty-cluster",
    "kept",
    "it tolerated the taint when that came",
    onFaulty("NoExecute", { operator: "Exists" }),
    { failover: true },
  ],
  [
    "nobody-stays-on-a-faulty-cluster",
    "broken",
    "it tolerated the taint for a while",
    onFaulty("NoExecute", { operator: "Exists", tolerationSeconds: 5 }),
    { failover: true },
  ],
  ["members-that-answer-are-ready", "broken", "one is not", (h) => h.cluster("m1", "False")],
  ["members-that-answer-are-ready", "kept", "all are", (h) => h.cluster("m1", "True")],
]);
