/** What the oracles of placement say of histories that break and keep their promises. */
import { wellKnown } from "@lifeboat/core";
import { type BindingParts, type History, itJudges, task } from "./history.suite.ts";

const DIVIDED = { replicaScheduling: { replicaSchedulingType: "Divided" } };
const ONE = { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }] };
const ONLY_M1 = { clusterAffinity: { clusterNames: ["m1"] } };

/** Placed anew, as a second generation. */
function placed(h: History, parts: BindingParts): void {
  h.binding({ ...parts, on: {}, generation: 2, seen: 1 });
  h.binding({ ...parts, generation: 2 });
}

/** The result goes from one to the other and back. */
function thereAndBack(h: History, between: () => void): void {
  h.binding({ on: { m1: 2 } });
  h.binding({ on: { m2: 2 } });
  between();
  h.binding({ on: { m1: 2 } });
}

/** A workload on a tainted cluster is evicted after so many seconds, and placed there again. */
function evictedAndBack(
  h: History,
  seconds: number,
  placement: NonNullable<BindingParts["placement"]>,
): void {
  h.cluster("m1", "True", {}, { taints: [{ key: "k", effect: "NoExecute" }] });
  h.binding({ on: { m1: 2 }, placement });
  h.pass(seconds);
  h.binding({ on: {}, tasks: [task("m1")], placement });
  h.binding({ on: { m1: 2 }, tasks: [task("m1")], placement });
}

/** The task of an application that failed there. */
function failed(fromCluster: string, more: object = {}): ReturnType<typeof task> {
  const producer = "resource-binding-application-failover-controller";
  return task(fromCluster, { reason: "ApplicationFailure", producer, ...more });
}

const FOR_A_MINUTE = {
  clusterTolerations: [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
};

const TAINTED = { taints: [{ key: "faulty", effect: "PreferNoExecute" }] };

/** Divided replicas in a tainted cluster go on to the next group, after something befell the other cluster of theirs, m1. */
const toLaterGroup =
  (
    befall: (h: History) => void,
    annotations: NonNullable<BindingParts["annotations"]> = {},
    spreadConstraints: readonly object[] = [],
  ) =>
  (h: History): void => {
    const clusterAffinities = [{ clusterNames: ["m1", "m3"] }, { clusterNames: ["m2"] }];
    const placement = { ...DIVIDED, clusterAffinities, spreadConstraints };
    const parts = { replicas: 5, annotations, placement };
    h.pass(60);
    h.cluster("m3", "True", {}, TAINTED);
    befall(h);
    h.binding({ ...parts, on: { m3: 3 } });
    h.binding({ ...parts, on: { m2: 5 } });
  };

itJudges([
  [
    "clusters-that-are-there-stay",
    "broken",
    "one is exchanged",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.binding({ on: { m2: 2 } });
    },
  ],
  [
    "clusters-that-are-there-stay",
    "broken",
    "one has fewer replicas although more are asked for",
    (h) => {
      h.binding({ on: { m1: 3, m2: 3 }, replicas: 7, placement: DIVIDED });
      h.binding({ on: { m1: 2, m2: 5 }, replicas: 7, placement: DIVIDED });
    },
  ],
  [
    "clusters-that-are-there-stay",
    "kept",
    "it is evicted",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.binding({ on: {}, tasks: [task("m1")] });
    },
  ],
  [
    "clusters-that-are-there-stay",
    "kept",
    "the policy asks for another",
    (h) => {
      h.binding({ on: { m2: 2 } });
      h.binding({ on: { m1: 2 }, placement: ONLY_M1 });
    },
  ],
  [
    "clusters-that-are-there-stay",
    "kept",
    "it had no replicas, and the few that are asked for now need fewer clusters",
    (h) => {
      h.binding({ on: { m1: 0, m2: 0 }, replicas: 1, placement: DIVIDED });
      h.binding({ on: { m1: 1 }, replicas: 1, placement: DIVIDED });
    },
  ],
  ...(["m1", "m2"] as const).map(
    (other) =>
      [
        "clusters-that-are-there-stay",
        other === "m1" ? "kept" : "broken",
        `its result was in m3 and ${other}, and the groups are m1 and m2 with m3`,
        (h: History) => {
          const clusterAffinities = [{ clusterNames: ["m1"] }, { clusterNames: ["m2", "m3"] }];
          const parts = { replicas: 5, placement: { ...DIVIDED, clusterAffinities } };
          h.binding({ ...parts, on: { [other]: 2, m3: 3 } });
          h.binding({ ...parts, on: { [other]: 5 } });
        },
      ] as const,
  ),
  [
    "clusters-that-are-there-stay",
    "broken",
    "the first group has an open cluster",
    toLaterGroup(() => undefined),
  ],
  [
    "clusters-that-are-there-stay",
    "kept",
    "all of the first group bear a taint",
    toLaterGroup((h) => h.cluster("m1", "True", {}, TAINTED)),
  ],
  [
    "clusters-that-are-there-stay",
    "kept",
    "the other of the first group has stale copies",
    toLaterGroup((h) => {
      const metadata = { name: "m1", uid: "uid-of-m1" };
      const conditions = [{ type: "StaleCopiesRemoved", status: "False" }];
      const cluster = { kind: "Cluster", metadata, spec: {}, status: { conditions } };
      h.put("plane", "cluster.karmada.io/clusters//m1", cluster);
    }),
  ],
  ...([0, 60] as const).map(
    (seconds) =>
      [
        "clusters-that-are-there-stay",
        seconds === 0 ? "kept" : "broken",
        `the first group has had an open cluster for ${seconds} s`,
        toLaterGroup((h) => {
          h.cluster("m1", "True", {}, TAINTED);
          h.cluster("m1");
          h.pass(seconds);
        }),
      ] as const,
  ),
  ...([1, 2] as const).map(
    (minGroups) =>
      [
        "clusters-that-are-there-stay",
        minGroups === 1 ? "broken" : "kept",
        `the first group has one open cluster, and it needs ${minGroups}`,
        toLaterGroup(() => undefined, {}, [{ spreadByField: "cluster", minGroups }]),
      ] as const,
  ),
  [
    "clusters-that-are-there-stay",
    "kept",
    "it failed in the other of the first group",
    toLaterGroup(() => undefined, { [wellKnown.EVICTED_FROM]: '["m1"]' }),
  ],
  [
    "results-fit-the-placement",
    "broken",
    "a cluster is not named by the policy",
    (h) => placed(h, { on: { m2: 2 }, placement: ONLY_M1 }),
  ],
  [
    "results-fit-the-placement",
    "broken",
    "there are more clusters than asked for",
    (h) => placed(h, { on: { m1: 2, m2: 2 }, placement: ONE }),
  ],
  [
    "results-fit-the-placement",
    "kept",
    "they are as asked for",
    (h) => placed(h, { on: { m1: 2 }, placement: { ...ONE, ...ONLY_M1 } }),
  ],
  [
    "divided-replicas-add-up",
    "broken",
    "one is missing",
    (h) => placed(h, { on: { m1: 1, m2: 1 }, replicas: 3, placement: DIVIDED }),
  ],
  [
    "divided-replicas-add-up",
    "broken",
    "equal clusters get unequal shares",
    (h) => placed(h, { on: { m1: 3, m2: 1 }, replicas: 4, placement: DIVIDED }),
  ],
  [
    "divided-replicas-add-up",
    "kept",
    "they do",
    (h) => placed(h, { on: { m1: 2, m2: 1 }, replicas: 3, placement: DIVIDED }),
  ],
  [
    "seen-only-when-placed",
    "broken",
    "there is no result",
    (h) => {
      h.binding({ generation: 2, seen: 1 });
      h.binding({ generation: 2 });
    },
  ],
  [
    "seen-only-when-placed",
    "broken",
    "what was seen is ahead",
    (h) => h.binding({ on: { m1: 2 }, generation: 1, seen: 2 }),
  ],
  ["seen-only-when-placed", "kept", "there is one", (h) => placed(h, { on: { m1: 2 } })],
  [
    "never-onto-a-cluster-that-is-left",
    "broken",
    "it leaves",
    (h) => {
      h.binding({});
      h.cluster("m1", "True", { deletionTimestamp: "2026-01-01T00:00:00Z" });
      h.pass(5);
      h.binding({ on: { m1: 2 } });
    },
  ],
  [
    "never-onto-a-cluster-that-is-left",
    "broken",
    "the application failed there",
    (h) => {
      h.binding({ annotations: { [wellKnown.EVICTED_FROM]: '["m1"]' } });
      h.binding({ on: { m1: 2 } });
    },
  ],
  [
    "never-onto-a-cluster-that-is-left",
    "kept",
    "it is there to stay",
    (h) => {
      h.binding({});
      h.binding({ on: { m1: 2 } });
    },
  ],
  ["no-way-there-and-back", "broken", "nothing happened", (h) => thereAndBack(h, () => {})],
  [
    "no-way-there-and-back",
    "broken",
    "it was evicted for a taint that it does not tolerate",
    (h) => evictedAndBack(h, 30, {}),
  ],
  [
    "no-way-there-and-back",
    "broken",
    "it was evicted for a taint that it tolerates no longer",
    (h) => evictedAndBack(h, 60, FOR_A_MINUTE),
  ],
  [
    "no-way-there-and-back",
    "kept",
    "it was evicted for a taint that it tolerates by now",
    (h) => evictedAndBack(h, 30, FOR_A_MINUTE),
  ],
  ...([2, 1] as const).map(
    (ready) =>
      [
        "no-way-there-and-back",
        ready === 2 ? "kept" : "broken",
        `where it failed is forgotten when ${ready} of 2 replicas are ready elsewhere`,
        (h: History) => {
          const parts = { on: { m2: 2 }, tasks: [failed("m1")] };
          h.binding({ on: { m1: 2 } });
          h.binding({ ...parts, annotations: { [wellKnown.EVICTED_FROM]: '["m1"]' } });
          h.copy("m2", ready);
          h.binding(parts);
          h.binding({ ...parts, on: { m1: 2 } });
        },
      ] as const,
  ),
  ...([true, false] as const).map(
    (isRenewed) =>
      [
        "no-way-there-and-back",
        isRenewed ? "kept" : "broken",
        `it leaves m1 once more, ${isRenewed ? "with a new task" : "and its old task goes on"}`,
        (h: History) => {
          const old = task("m1", { creationTimestamp: "2026-01-01T00:00:00Z" });
          h.binding({ tasks: [old] });
          h.binding({ on: { m1: 2 }, tasks: [old] });
          h.binding({ tasks: [isRenewed ? task("m1") : old] });
        },
      ] as const,
  ),
  [
    "no-way-there-and-back",
    "broken",
    "it goes from m1 to m2 and back, and each time a new task takes the place of the old one",
    (h) => {
      const old = (name: string) => failed(name, { creationTimestamp: "2026-01-01T00:00:00Z" });
      h.binding({ on: { m1: 2 }, tasks: [old("m1"), old("m2")] });
      h.binding({ tasks: [failed("m1"), old("m2")] });
      h.binding({ on: { m2: 2 }, tasks: [failed("m1"), old("m2")] });
      h.binding({ tasks: [failed("m1"), failed("m2")] });
      h.binding({ on: { m1: 2 }, tasks: [failed("m1"), failed("m2")] });
    },
  ],
  [
    "no-way-there-and-back",
    "kept",
    "a cluster was tainted in between",
    (h) =>
      thereAndBack(h, () =>
        h.cluster("m2", "True", {}, { taints: [{ key: "k", effect: "NoSchedule" }] }),
      ),
  ],
]);
