/** A workload goes back to where it ran only when every cluster there could take it now (17.9). */
import type { Cluster, Condition, ResourceBinding } from "@lifeboat/api";
import { plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { evict } from "../failover/evacuation/evict.ts";
import { type BindingGiven, makeBinding, makeCluster, NOW } from "../placement/makers.suite.ts";
import { fleetViewOf } from "../placement/placement-view.ts";
import {
  decideRestore,
  type RestoredState,
  type RestorePlan,
  type RestoreView,
} from "./restore.ts";
import { readPreservedState } from "../propagation/rendering/preserved-state.ts";
import { workIn } from "../propagation/works/works.suite.ts";
import { sharesOf } from "./shares.ts";

const ORDER = {
  cluster: "a",
  reason: "TaintUntolerated",
  message: "",
  producer: "TaintManager",
  purgeMode: "Gracefully" as const,
  state: {},
  inject: true,
};

/** Ran on a and b, was evicted from a, and was placed on c instead. */
function moved(given: BindingGiven = {}, spec: Partial<ResourceBinding["spec"]> = {}) {
  const before = makeBinding({ replicas: 5, clusters: { a: 3, b: 2 }, ...given });
  const evicted = evict(before, ORDER, NOW);
  const clusters = [
    { name: "b", replicas: 2 },
    { name: "c", replicas: 3 },
  ];
  return { ...evicted, spec: { ...evicted.spec, clusters, ...spec } };
}

const OVER = { gracefulEvictionTasks: [] };

function ready(name: string, given: Parameters<typeof makeCluster>[1] = {}): Cluster {
  return withReady(makeCluster(name, given), "True", "ClusterReady");
}

function answering(name: string, status: "False" | "Unknown", reason: string): Cluster {
  return withReady(makeCluster(name), status, reason);
}

function withReady(cluster: Cluster, status: Condition["status"], reason: string): Cluster {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const ready: Condition = { type: "Ready", status, reason, message: "", lastTransitionTime };
  return { ...cluster, status: { ...cluster.status, conditions: [ready] } };
}

const FLEET = [ready("a"), ready("b"), ready("c")];
/** The fleet with another cluster a. */
const withA = (a: Cluster): readonly Cluster[] => [a, ready("b"), ready("c")];

const NO_STATE: RestoredState = { enabled: false, policy: undefined, template: {}, works: [] };

type Changes = Partial<Omit<RestoreView, "fleet">> & {
  readonly bindings?: readonly ResourceBinding[];
};

function decide(binding: ResourceBinding, changes: Changes = {}): RestorePlan {
  const { bindings = [binding], clusters = FLEET, ...others } = changes;
  const fleet = fleetViewOf(clusters, bindings);
  const view = { binding, clusters, fleet, state: NO_STATE, ...others };
  return decideRestore(view, plainMoment(NOW));
}

function restored(plan: RestorePlan): ResourceBinding {
  if (plan.outcome === "refused") throw new Error(`${plan.reason}: ${plan.message}`);
  return plan.binding;
}

describe("decideRestore", () => {
  it("goes back to the former result; the substitute leaves by an eviction", () => {
    const plan = decide(moved());
    expect(plan).toMatchObject({ leaves: [{ name: "c", replicas: 3 }], purgeMode: "Gracefully" });
    const { spec, metadata } = restored(plan);
    expect(sharesOf(spec.clusters ?? [])).toBe("a:3, b:2");
    expect(spec.gracefulEvictionTasks).toMatchObject([
      { fromCluster: "c", reason: "RestoredByHand", purgeMode: "Gracefully", replicas: 3 },
    ]);
    expect(metadata.resourceVersion).toBe("1");
  });

  it("goes back also when the eviction is over, and can be undone", () => {
    const back = restored(decide(moved({}, OVER)));
    expect(sharesOf(back.spec.clusters ?? [])).toBe("a:3, b:2");
    const over = { ...back, spec: { ...back.spec, ...OVER } };
    expect(sharesOf(restored(decide(over)).spec.clusters ?? [])).toBe("b:2, c:3");
  });

  it("keeps to the policy's purge mode, so that nothing runs twice", () => {
    const failover = { cluster: { purgeMode: "Immediately" as const, tolerationSeconds: 0 } };
    const { spec } = restored(decide(moved({}, { failover })));
    expect(spec.gracefulEvictionTasks).toMatchObject([{ fromCluster: "c", purgeMode: "Directly" }]);
  });

  const failed = { spec: { taints: [{ key: "x", effect: "NoExecute" as const }] } };
  const only = (names: string[]) => ({ placement: { clusterAffinity: { clusterNames: names } } });
  it.each<[string, ResourceBinding, Partial<RestoreView>, string, string]>([
    ["nothing is recorded", makeBinding({ clusters: { a: 1 } }), {}, "NothingRecorded", "no"],
    [
      "a cluster left",
      moved(),
      { clusters: FLEET.slice(1) },
      "ClusterGone",
      "The workload ran on a,",
    ],
    [
      "it is there already",
      moved(
        {},
        {
          clusters: [
            { name: "b", replicas: 2 },
            { name: "a", replicas: 3 },
          ],
        },
      ),
      {},
      "AlreadyThere",
      "a:3, b:2",
    ],
    [
      "its cluster is dead without any taint",
      moved(),
      { clusters: withA(answering("a", "False", "ClusterNotReachable")) },
      "ClusterNotReady",
      "a cannot run it now: Ready is False, ClusterNotReachable.",
    ],
    [
      "its cluster went silent",
      moved({}, OVER),
      { clusters: withA(answering("a", "Unknown", "LeaseLapsed")) },
      "ClusterNotReady",
      "Ready is Unknown",
    ],
    [
      "nothing is known of its cluster",
      moved(),
      { clusters: withA(makeCluster("a")) },
      "ClusterNotReady",
      "not asked yet",
    ],
    [
      "its cluster still bears the taint",
      moved(),
      { clusters: withA(ready("a", failed)) },
      "ClusterCannotTake",
      "a had untolerated taint {x:NoExecute}; remove the taint",
    ],
    [
      "its cluster is being deleted",
      moved(),
      { clusters: withA(ready("a", { deleting: true })) },
      "ClusterCannotTake",
      "a ",
    ],
    ["its policy excludes it", moved(only(["b", "c"])), {}, "ClusterCannotTake", "a "],
    [
      "there is no room",
      moved({}, OVER),
      { clusters: withA(ready("a", { pods: 2 })) },
      "NoRoom",
      "a has room for 2 of the 3 replicas that go there.",
    ],
    [
      "dispatching is suspended everywhere, whatever type the names have",
      moved(
        {},
        { suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: 7 as never } } },
      ),
      {},
      "DispatchingSuspended",
      "Dispatching to a is suspended",
    ],
    [
      "dispatching is suspended there",
      moved({}, { suspension: { dispatchingOnClusters: { clusterNames: ["a"] } } }),
      {},
      "DispatchingSuspended",
      "Dispatching to a is suspended",
    ],
  ])("refuses when %s", (_what, binding, changes, reason, message) => {
    const plan = decide(binding, changes);
    expect(plan).toMatchObject({ outcome: "refused", reason });
    expect(plan.outcome === "refused" && plan.message.toLowerCase()).toContain(
      message.toLowerCase(),
    );
  });

  it("does not ask the clusters that it never left, nor for room where the old copy still is", () => {
    const tainted = [ready("a", { pods: 0 }), ready("b", failed), ready("c")];
    expect(decide(moved(), { clusters: tainted }).outcome).toBe("restore");
  });

  it("goes back to a group of clusters before the one in use", () => {
    const group = (affinityName: string, names: string[]) => ({
      affinityName,
      clusterNames: names,
    });
    const placement = { clusterAffinities: [group("first", ["a", "b"]), group("second", ["c"])] };
    const status = { schedulerObservingAffinityName: "second" };
    expect(decide(moved({ placement, status })).outcome).toBe("restore");
  });

  it("goes back to where it failed as an application: the person knows", () => {
    const annotations = { "lifeboat.dev/evicted-from": JSON.stringify(["a"]) };
    expect(decide(moved({ annotations })).outcome).toBe("restore");
  });
});

describe("the state that goes along (D12)", () => {
  const KEY = "x.example/job";
  const rules = [{ aliasLabelName: KEY, jsonPath: "{.job}" }];
  const policyWith = (annotations: Readonly<Record<string, string>>) => ({
    metadata: { name: "p", uid: "p", resourceVersion: "1", creationTimestamp: "", annotations },
  });
  /** Its copy on c was never healthy, and was given the state of the one on a. */
  const ill = workIn("c", { health: "Unhealthy" });

  /** Ran on a alone, and runs on c alone since, where its copy reports this. */
  function alone(report: Readonly<Record<string, unknown>>): ResourceBinding {
    const failover = { cluster: { tolerationSeconds: 0, statePreservation: { rules } } };
    const before = makeBinding({ replicas: 3, clusters: { a: 3 } });
    const evicted = evict(before, { ...ORDER, state: { [KEY]: "old" } }, NOW);
    const clusters = [{ name: "c", replicas: 3 }];
    return {
      ...evicted,
      spec: { ...evicted.spec, clusters, ...OVER, failover },
      status: { aggregatedStatus: [{ clusterName: "c", status: report }] },
    };
  }

  function plan(
    report: Readonly<Record<string, unknown>>,
    state: Partial<RestoredState>,
  ): RestorePlan {
    return decide(alone(report), { state: { ...NO_STATE, enabled: true, ...state } });
  }

  function injected(one: RestorePlan): unknown {
    return readPreservedState(restored(one))?.labels;
  }

  it("is what the left copy reports", () => {
    expect(injected(plan({ job: "7" }, {}))).toEqual({ [KEY]: "7" });
  });

  it("holds the workload where a key is missing and the policy sets Hold; else it warns", () => {
    const policy = policyWith({ "lifeboat.dev/state-failure-policy": "Hold" });
    expect(plan({}, { policy })).toMatchObject({ outcome: "refused", reason: "StateNotReadable" });
    expect(plan({}, {})).toMatchObject({ warnings: [expect.stringContaining("finds nothing")] });
  });

  it("is not injected where the policy switches that off", () => {
    const policy = policyWith({ "lifeboat.dev/inject-on-graceful": "false" });
    const off = plan({ job: "7" }, { policy });
    expect(injected(off)).toEqual({});
    expect(restored(off).spec.gracefulEvictionTasks).toMatchObject([
      { fromCluster: "c", preservedLabelState: { [KEY]: "7" } },
    ]);
  });

  it("is what the left copy was given, when it was never healthy", () => {
    expect(injected(plan({ job: "new" }, { works: [ill] }))).toEqual({ [KEY]: "old" });
  });

  it("holds the workload where the template uses the label, or is not known", () => {
    const template = { metadata: { labels: { [KEY]: "mine" } } };
    for (const one of [template, undefined])
      expect(plan({ job: "7" }, { template: one })).toMatchObject({ reason: "StateNotReadable" });
  });
});
