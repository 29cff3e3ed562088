/** One decision about leaving: the same answers for cluster failover and application failover (D8, D12). */
import type { Placement, ResourceBinding } from "@lifeboat/api";
import { plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { candidateOf, fleetOf } from "../../placement/candidate.ts";
import { makeBinding, makeCluster, NOW } from "../../placement/makers.suite.ts";
import { POLICY_ID } from "../../well-known.ts";
import { decideLeaving, type LeavingView } from "./decide.ts";

const DIVIDED: Placement = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Aggregated",
  },
};

function on(clusters: Record<string, number>, spec: object = {}, placement: Placement = {}) {
  const binding = makeBinding({ clusters, placement, replicas: 2, spec });
  return { ...binding, metadata: { ...binding.metadata, labels: { [POLICY_ID]: "p" } } };
}

function view(binding: ResourceBinding, more: Partial<LeavingView> = {}): LeavingView {
  const fleet = fleetOf(["a", "b"].map((name) => candidateOf(makeCluster(name, { pods: 10 }))));
  return {
    cluster: "a",
    failing: "cluster",
    purgeMode: "Directly",
    placement: { binding, fleet, reserved: new Map() },
    leaving: new Set(["a"]),
    state: { work: undefined, policy: undefined, enabled: true, template: {} },
    ...more,
  };
}

const unclaimed = (binding: ResourceBinding): ResourceBinding => ({
  ...binding,
  metadata: { ...binding.metadata, labels: {} },
});
const suspended = (names: readonly string[]) => ({
  suspension: { dispatchingOnClusters: { clusterNames: names } },
});
const everywhere = { suspension: { dispatching: true } };
const rules = [{ aliasLabelName: "x.example/job", jsonPath: "{ .job }" }];

const NO_MORE: Partial<LeavingView> = {};
const CASES: [string, ResourceBinding, string, Partial<LeavingView>][] = [
  ["leaves for a cluster that takes it", on({ a: 2 }), "leave", NO_MORE],
  ["is not claimed", unclaimed(on({ a: 2 })), "NotClaimed", NO_MORE],
  [
    "is not scheduled",
    on({ a: 2 }, { suspension: { scheduling: true } }),
    "SchedulingSuspended",
    NO_MORE,
  ],
  ["has no target", on({ a: 2, b: 2 }), "NoTarget", NO_MORE],
  ["is dispatched nowhere", on({ a: 2 }, everywhere), "DispatchingSuspended", NO_MORE],
  [
    "is not dispatched to its target",
    on({ a: 2 }, suspended(["b"])),
    "DispatchingSuspended",
    NO_MORE,
  ],
  [
    "is not dispatched to the cluster it leaves",
    on({ a: 2 }, suspended(["a", "c"])),
    "leave",
    NO_MORE,
  ],
  [
    "would grow where it is not dispatched",
    on({ a: 1, b: 1 }, suspended(["b"]), DIVIDED),
    "DispatchingSuspended",
    NO_MORE,
  ],
  [
    "leaves copies behind that stay as they are",
    on({ a: 2, b: 2 }, everywhere),
    "leave",
    { healthyElsewhere: 1 },
  ],
  [
    "has a minimum of copies without this one, which stay as they are",
    on({ a: 2, b: 2 }, everywhere, {
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 1 }],
    }),
    "leave",
    NO_MORE,
  ],
];

describe.each(["cluster", "application"] as const)("%s failover: a workload that", (failing) => {
  describe.each(["Directly", "Gracefully"] as const)("in mode %s", (purgeMode) => {
    it.each(CASES)("%s", (_name, binding, expected, more) => {
      const decision = decideLeaving(
        view(binding, { failing, purgeMode, ...more }),
        plainMoment(NOW),
      );
      expect(decision.outcome === "held" ? decision.reason : decision.outcome).toBe(expected);
      if (decision.outcome === "held") expect(decision.message).not.toBe("");
    });
  });

  it("carries state is held while its template is not known, or its state cannot be read", () => {
    const failover = { [failing]: { statePreservation: { rules } } };
    const status = { aggregatedStatus: [{ clusterName: "a", status: { job: "j1" } }] };
    const binding = { ...on({ a: 2 }, { failover }), status };
    const state = { work: undefined, policy: undefined, enabled: true };
    const decide = (one: ResourceBinding, template: object | undefined) =>
      decideLeaving(
        view(one, { failing, state: { ...state, template: template as never } }),
        plainMoment(NOW),
      );
    expect(decide(binding, undefined)).toMatchObject({ reason: "TemplateMissing" });
    expect(decide(binding, {})).toMatchObject({ carried: { labels: { "x.example/job": "j1" } } });
    const bad = { aggregatedStatus: [{ clusterName: "a", status: { job: "no label" } }] };
    expect(decide({ ...binding, status: bad }, {})).toMatchObject({ reason: "StateNotReadable" });
    expect(decide(on({ a: 2 }), undefined).outcome).toBe("leave");
  });
});

it("names the target that is not dispatched to", () => {
  const decision = decideLeaving(view(on({ a: 2 }, everywhere)), plainMoment(NOW));
  expect(decision).toMatchObject({ message: expect.stringContaining("would go to b.") });
});
