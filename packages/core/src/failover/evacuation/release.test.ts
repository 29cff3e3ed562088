/** Which bindings may be evicted now, and with what; which are held, and why. */
import { plainMoment } from "@lifeboat/base";
import type { Placement, ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { candidateOf, fleetOf } from "../../placement/candidate.ts";
import { makeBinding, makeCluster, NOW } from "../../placement/makers.suite.ts";
import { CLUSTER_POLICY_ID, POLICY_ID, POLICY_NAME, POLICY_NAMESPACE } from "../../well-known.ts";
import { decideRelease, type ReleaseView } from "./release.ts";

const DOWN = { key: "down", effect: "NoExecute" as const, timeAdded: "2026-01-01T00:00:00Z" };
const DRAIN = { ...DOWN, key: "lifeboat.dev/drain" };
const DIVIDED: Placement = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Aggregated",
  },
};

interface Given {
  readonly binding?: ResourceBinding;
  readonly clusters?: readonly string[];
  readonly pods?: number;
  readonly leaving?: readonly string[];
  readonly more?: Partial<ReleaseView>;
}

const claimed = (binding: ResourceBinding, label = POLICY_ID): ResourceBinding => ({
  ...binding,
  metadata: { ...binding.metadata, labels: { [label]: "p" } },
});
const on = (clusters: Record<string, number>, placement: Placement = {}, spec = {}) =>
  claimed(makeBinding({ clusters, placement, replicas: 2, spec }));

function view(given: Given): ReleaseView {
  const { binding = on({ a: 2 }), clusters = ["a", "b"], pods = 10, leaving = ["a"] } = given;
  return {
    evacuation: "a-1",
    cluster: "a",
    taint: DOWN,
    purgeMode: "Gracefully",
    placement: {
      binding,
      fleet: fleetOf(clusters.map((name) => candidateOf(makeCluster(name, { pods })))),
      reserved: new Map(),
    },
    leaving: new Set(leaving),
    healthyElsewhere: 0,
    state: { work: undefined, policy: undefined, enabled: true, template: {} },
    ...given.more,
  };
}
const min = (minGroups: number): Placement => ({
  spreadConstraints: [{ spreadByField: "cluster", minGroups }],
});
const HELD = { outcome: "held" };
const RELEASE = { outcome: "release" };

describe("a target", () => {
  it.each([
    ["one cluster, another fits", {}, RELEASE],
    ["no other cluster", { clusters: ["a"] }, { ...HELD, reason: "NoTarget" }],
    ["duplicated everywhere", { binding: on({ a: 2, b: 2 }) }, { ...HELD, reason: "NoTarget" }],
    ["duplicated, a spare", { binding: on({ a: 2, b: 2 }), clusters: ["a", "b", "c"] }, RELEASE],
    [
      "duplicated, two leave and one is spare",
      { binding: on({ a: 2, b: 2 }), clusters: ["a", "b", "c"], leaving: ["a", "b"] },
      { ...HELD, reason: "NoTarget" },
    ],
    ["duplicated, the minimum is met", { binding: on({ a: 2, b: 2 }, min(1)) }, RELEASE],
    [
      "duplicated, the minimum is not met",
      { binding: on({ a: 2, b: 2 }, min(2)) },
      { ...HELD, reason: "NoTarget" },
    ],
    ["divided, room on the rest", { binding: on({ a: 1, b: 1 }, DIVIDED) }, RELEASE],
    [
      "divided, no room",
      { binding: on({ a: 1, b: 1 }, DIVIDED), pods: 0 },
      { ...HELD, reason: "NoTarget" },
    ],
  ] as const)("%s", (_name, given, expected) => {
    expect(decideRelease(view(given as Given), plainMoment(NOW))).toMatchObject(expected);
  });

  it("is not needed on a drain when enough healthy copies stay, unless replicas are divided", () => {
    const both = { binding: on({ a: 2, b: 2 }) };
    const drain = (given: Given, healthyElsewhere: number) =>
      decideRelease(view({ ...given, more: { taint: DRAIN, healthyElsewhere } }), plainMoment(NOW))
        .outcome;
    expect(drain(both, 0)).toBe("held");
    expect(drain(both, 1)).toBe("release");
    expect(drain({ binding: on({ a: 2, b: 2 }, min(2)) }, 1)).toBe("held");
    expect(drain({ binding: on({ a: 1, b: 1 }, DIVIDED), pods: 0 }, 1)).toBe("held");
    const failed = view({ ...both, more: { healthyElsewhere: 1 } });
    expect(decideRelease(failed, plainMoment(NOW)).outcome).toBe("held");
  });
});

describe("what holds it", () => {
  it("names the policy, and advises only what can help (17.15)", () => {
    const binding = on({ a: 2 });
    const annotations = {
      ...binding.metadata.annotations,
      [POLICY_NAME]: "web",
      [POLICY_NAMESPACE]: "shop",
    };
    const named = { ...binding, metadata: { ...binding.metadata, annotations } };
    const tainted = (key: string, effect: "NoSchedule" | "PreferNoExecute" | "NoExecute") => {
      const base = view({ binding: named });
      const b = makeCluster("b", { pods: 10, spec: { taints: [{ key, effect }] } });
      const fleet = fleetOf([makeCluster("a", { pods: 10 }), b].map(candidateOf));
      const decision = decideRelease(
        { ...base, placement: { ...base.placement, fleet } },
        plainMoment(NOW),
      );
      return decision.outcome === "held" ? decision.message : "";
    };
    expect(tainted("x", "NoSchedule")).toMatch(/^By PropagationPolicy shop\/web: (?!By)/);
    expect(tainted("x", "NoSchedule")).toContain("or tolerate it in the policy");
    expect(tainted("x", "PreferNoExecute")).not.toContain("tolerate it");
    expect(tainted("lifeboat.dev/drain", "NoExecute")).toContain("`lifeboat uncordon`");
    expect(tainted("lifeboat.dev/drain", "NoExecute")).not.toContain("tolerate it");
  });

  it("advises to label a cluster only where labels decide (17.15)", () => {
    const heldBy = (clusterAffinity: NonNullable<Placement["clusterAffinity"]>): string => {
      const decision = decideRelease(
        view({ binding: on({ a: 2 }, { clusterAffinity }) }),
        plainMoment(NOW),
      );
      return decision.outcome === "held" ? decision.message : "";
    };
    expect(heldBy({ clusterNames: ["a"] })).toContain("widen the cluster affinity of the policy.");
    expect(heldBy({ labelSelector: { matchLabels: { x: "y" } } })).toContain(
      "or label the cluster",
    );
  });
});

describe("nothing that would place it again", () => {
  it("holds it", () => {
    const suspended = on({ a: 2 }, {}, { suspension: { scheduling: true } });
    expect(decideRelease(view({ binding: suspended }), plainMoment(NOW))).toMatchObject({
      reason: "SchedulingSuspended",
    });
    const loose = makeBinding({ clusters: { a: 2 }, replicas: 2 });
    expect(decideRelease(view({ binding: loose }), plainMoment(NOW))).toMatchObject({
      reason: "NotClaimed",
    });
    const fleetwide = claimed(loose, CLUSTER_POLICY_ID);
    expect(decideRelease(view({ binding: fleetwide }), plainMoment(NOW))).toMatchObject(RELEASE);
  });
});

describe("the order", () => {
  const rules = [{ aliasLabelName: "failover.karmada.io/job", jsonPath: "{ .job }" }];
  const stateful = (job: unknown, replicas = 2): ResourceBinding => {
    const clusters = { a: replicas };
    const failover = { cluster: { statePreservation: { rules } } };
    const status = { aggregatedStatus: [{ clusterName: "a", status: { job } }] };
    return claimed(makeBinding({ clusters, replicas: 2, spec: { failover }, status }));
  };

  it("states why, how, for which evacuation, and with what", () => {
    const decision = decideRelease(view({ binding: stateful(7) }), plainMoment(NOW));
    expect(decision).toMatchObject({
      order: {
        cluster: "a",
        reason: "TaintUntolerated",
        producer: "TaintManager",
        purgeMode: "Gracefully",
        state: { "failover.karmada.io/job": "7" },
        inject: true,
        mark: "a-1 down:NoExecute@2026-01-01T00:00:00Z",
      },
      targets: [{ name: "b", replicas: 2 }],
      warnings: [],
    });
  });

  it("is held for state that cannot be read, or while the template is not known", () => {
    expect(decideRelease(view({ binding: stateful({ a: 1 }) }), plainMoment(NOW))).toMatchObject({
      reason: "StateNotReadable",
    });
    const unknown = {
      state: { work: undefined, policy: undefined, enabled: true, template: undefined },
    };
    expect(
      decideRelease(view({ binding: stateful(7), more: unknown }), plainMoment(NOW)),
    ).toMatchObject({
      reason: "TemplateMissing",
    });
    const off = { state: { ...unknown.state, enabled: false } };
    expect(
      decideRelease(view({ binding: stateful(7), more: off }), plainMoment(NOW)),
    ).toMatchObject({
      order: { state: {} },
    });
    expect(decideRelease(view({ more: unknown }), plainMoment(NOW))).toMatchObject(RELEASE);
  });

  it("warns of state that was not kept", () => {
    const decision = decideRelease(view({ binding: stateful(undefined) }), plainMoment(NOW));
    expect(decision).toMatchObject({ order: { state: {} }, warnings: [expect.any(String)] });
  });
});
