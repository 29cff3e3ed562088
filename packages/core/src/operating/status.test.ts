/** One sentence about failover that is true, whatever stops it (17.15). */
import type { Cluster, Condition, Evacuation } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { DEFAULT_RATES } from "../failover/evacuation/rate.ts";
import { makeBinding, makeCluster } from "../placement/makers.suite.ts";
import { failoverState, type FailoverStateView } from "./status.ts";

const lastTransitionTime = "2026-01-01T00:00:00Z";
type Taints = NonNullable<Cluster["spec"]["taints"]>;

function cluster(name: string, status: Condition["status"] = "True", taints: Taints = []): Cluster {
  const one = makeCluster(name, { spec: { taints } });
  const ready: Condition = { type: "Ready", status, reason: "", message: "", lastTransitionTime };
  return { ...one, status: { ...one.status, conditions: [ready] } };
}

const LOST: Taints = [{ key: "lost", effect: "NoExecute" }];

function evacuation(
  name: string,
  phase: NonNullable<NonNullable<Evacuation["status"]>["phase"]>,
  counts: { queued?: number; held?: number; evicted?: number } = {},
  finishedAt?: string,
): Evacuation {
  const none = { total: 0, queued: 0, held: 0, evicted: 0, done: 0, abandoned: 0, exempt: 0 };
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: `${name}-1`, uid: name, resourceVersion: "1", creationTimestamp: "" },
    spec: { cluster: name, paused: false },
    status: { phase, entries: { ...none, ...counts }, ...(finishedAt && { finishedAt }) },
  };
}

const THREE = [cluster("a"), cluster("b"), cluster("c")];
const FAILED = [cluster("a", "False", LOST), cluster("b"), cluster("c")];
const view = (changes: Partial<FailoverStateView> = {}): FailoverStateView => ({
  hasControllers: true,
  failover: true,
  hasEvictingPolicy: true,
  isPaused: false,
  rates: DEFAULT_RATES,
  clusters: THREE,
  evacuations: [],
  bindings: [],
  ...changes,
});

describe("failoverState", () => {
  const moving = evacuation("a", "Running", { queued: 2, evicted: 1, held: 1 });
  const most = [cluster("a", "True", LOST), cluster("b", "True", LOST), cluster("c")];
  it.each<[string, Partial<FailoverStateView>, string, string]>([
    ["all is well", {}, "Quiet", "All clusters count as Ready"],
    ["nothing ever ran", { hasControllers: false }, "NoControllers", "No controllers"],
    ["there are none", { clusters: [] }, "NoClusters", "No clusters"],
    [
      "every cluster is down, and no policy has tainted any",
      { clusters: [cluster("a", "False"), cluster("b", "Unknown")] },
      "EverythingDown",
      "cut off",
    ],
    [
      "nothing is known of any",
      { clusters: [makeCluster("a"), makeCluster("b")] },
      "Joining",
      "was not asked yet",
    ],
    [
      "one has just joined, and all others are down",
      { clusters: [cluster("a", "False"), makeCluster("b")] },
      "EverythingDown",
      "cut off",
    ],
    ["the gate is off", { failover: false, clusters: FAILED }, "GateOff", "Failover is off"],
    [
      "the gate is off and a person drains",
      { failover: false, evacuations: [moving] },
      "Moving",
      "3 workloads to leave a, 1 held.",
    ],
    [
      "the gate stopped what is recorded",
      { failover: false, evacuations: [evacuation("a", "Paused", { queued: 1 })] },
      "GateOff",
      "Failover is off",
    ],
    ["a person paused all", { isPaused: true, evacuations: [moving] }, "AllPaused", "paused all"],
    [
      "a person paused the one",
      { clusters: FAILED, evacuations: [evacuation("a", "Paused", { queued: 1 })] },
      "Paused",
      "a-1 is paused",
    ],
    [
      "most of the fleet has failed",
      { clusters: most, evacuations: [evacuation("a", "Braked", { queued: 1 })] },
      "Braked",
      "Nothing moves: too much of a small fleet has failed.",
    ],
    ["no policy evicts", { hasEvictingPolicy: false }, "NoPolicy", "no policy marks"],
    [
      "only held ones are left",
      { clusters: FAILED, evacuations: [evacuation("a", "Held", { held: 2 })] },
      "Held",
      "2 workloads cannot leave for now",
    ],
    ["workloads leave", { clusters: FAILED, evacuations: [moving] }, "Moving", "3 workloads"],
    [
      "a cluster is down and nothing has to leave it",
      {
        clusters: [cluster("a", "False"), cluster("b")],
        evacuations: [evacuation("a", "Completed", {}, lastTransitionTime)],
      },
      "NotReady",
      "a is not Ready",
    ],
  ])("when %s", (_what, changes, reason, message) => {
    const state = failoverState(view(changes));
    expect(state).toMatchObject({ reason });
    expect(state.message).toContain(message);
  });

  it("shows how old the state of copies is on clusters that do not answer", () => {
    const status = { aggregatedStatus: [{ clusterName: "a" }, { clusterName: "b" }] };
    const bindings = [makeBinding({ status }), makeBinding()];
    const clusters = [cluster("a", "Unknown"), cluster("b"), makeCluster("c")];
    expect(failoverState(view({ clusters, bindings }))).toMatchObject({
      notReady: 2,
      stale: [
        { cluster: "a", since: Date.parse(lastTransitionTime), workloads: 1 },
        { cluster: "c", since: undefined, workloads: 0 },
      ],
    });
  });
});
