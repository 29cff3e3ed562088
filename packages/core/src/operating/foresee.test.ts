/** What each failure would do, decided on one view: the order, the room, what people ordered, and the gaps. */
import type { ResourceBinding } from "@lifeboat/api";
import { addMs, formatTime } from "@lifeboat/base";
import { describe, expect, it, test } from "vitest";
import { DEFAULT_RATES } from "../failover/evacuation/rate.ts";
import { createForesight, type ForeseenFailure, type ForesightView } from "./foresee.ts";
import { binding, cluster, NOW, pulling, rule } from "./makers.suite.ts";

const settings: ForesightView["settings"] = {
  failover: true,
  statefulFailoverInjection: false,
  purgeMode: "Gracefully",
  failureThresholdMs: 30_000,
  monitorGraceMs: 40_000,
  approval: "Policy",
};

const divided = {
  placement: {
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Aggregated",
    },
  },
};

function view(
  bindings: readonly ResourceBinding[],
  more: Partial<ForesightView> = {},
): ForesightView {
  return {
    clusters: [cluster("m1"), cluster("m2"), cluster("m3")],
    bindings,
    taintPolicies: [rule("NoExecute", 20)],
    budget: undefined,
    settings,
    rates: DEFAULT_RATES,
    policyOf: () => undefined,
    priorityClassOf: () => undefined,
    isScripted: () => false,
    ...more,
  };
}

const m1Fails = (given: ForesightView): ForeseenFailure =>
  createForesight(given, NOW).failureOf("m1");
const lines = ({ workloads }: ForeseenFailure): readonly string[] =>
  workloads.map(({ workload, after, reason, leftAt }) =>
    [workload.split("/")[1], after, reason, leftAt].join(" "),
  );

describe("the workloads of one cluster", () => {
  it("leave one after the other at the rate of the fleet, higher priorities first", () => {
    const names = ["a", "b", "c"];
    const given = names.map((name) =>
      binding({ ...divided, schedulePriority: { priority: name === "c" ? 5 : 0 } }, name),
    );
    expect(lines(m1Fails(view(given)))).toEqual([
      "a m3:2 Moved 52000",
      "b m2:2 Moved 54000",
      "c m2:2 Moved 50000",
    ]);
  });

  it("take room from each other, and are held where none is left", () => {
    const given = view([binding(divided, "a"), binding(divided, "b")], {
      clusters: [cluster("m1"), cluster("m2", 3)],
    });
    expect(lines(m1Fails(given))).toEqual(["a m2:2 Moved 50000", "b m1:2 Held "]);
    const foresight = createForesight(given, NOW);
    expect(foresight.failureOf("m1")).toEqual(foresight.failureOf("m1"));
  });

  it("are placed and not healthy where a policy counts no room", () => {
    const oneCopy = {
      placement: { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }] },
    };
    const given = view([binding(oneCopy)], { clusters: [cluster("m1"), cluster("m2", 1)] });
    const [found] = m1Fails(given).workloads;
    expect(found?.reason === "NotHealthy" || found?.reason === "Held").toBe(true);
  });
});

const directly = { ...divided, failover: { cluster: { purgeMode: "Directly" } } };
const until = formatTime(addMs(NOW, 600_000));
const override = (perSecond: number): ForesightView["budget"] => ({
  rateOverride: { perSecond, setAt: formatTime(NOW), until, reason: "" },
});

test.each<[string, object, Partial<ForesightView>, string]>([
  ["the gate is off", divided, { settings: { ...settings, failover: false } }, "GateOff "],
  ["no rule taints it", divided, { taintPolicies: [] }, "NotTainted "],
  ["no failover is wanted", divided, { taintPolicies: [rule("PreferNoExecute", 1)] }, "Exempt "],
  [
    "an approval is needed",
    divided,
    { settings: { ...settings, approval: "Required" } },
    "AwaitingApproval ",
  ],
  ["a fence is needed", directly, {}, "AwaitingFence 50000"],
  ["nothing else is there", divided, { clusters: [cluster("m1")] }, "Queued "],
  ["everything is paused", divided, { budget: { paused: true } }, "Queued "],
  ["its cluster is paused", divided, { budget: { pausedClusters: ["m1"] } }, "Queued "],
  ["its namespace is paused", divided, { budget: { pausedNamespaces: ["default"] } }, "Queued "],
  ["another namespace is paused", divided, { budget: { pausedNamespaces: ["x"] } }, "Moved 50000"],
  ["a person stopped all for ten minutes", divided, { budget: override(0) }, "Moved 600000"],
  ["a person set another rate", divided, { budget: override(2) }, "Moved 50000"],
  ["the rate is 0", divided, { rates: { ...DEFAULT_RATES, rate: 0 } }, "Queued "],
])("when %s", (_what, spec, more, expected) => {
  const { workloads, untouched } = m1Fails(
    view([binding(spec), binding({ clusters: [{ name: "m2" }] }, "other")], more),
  );
  expect(workloads.map(({ reason, leftAt = "" }) => `${reason} ${leftAt}`)).toEqual([expected]);
  expect(untouched).toBe(1);
});

test.each<[string, readonly string[], Partial<ForesightView>, string]>([
  ["a rule for both", ["False", "Unknown"], {}, "Moved 60000"],
  ["a rule for Unknown", ["Unknown"], {}, "Moved 60000"],
  ["a rule for False", ["False"], {}, "NotTainted "],
  [
    "another grace period",
    ["Unknown"],
    { settings: { ...settings, monitorGraceMs: 90_000 } },
    "Moved 110000",
  ],
])("a Pull cluster dies with its agent and is silent: %s", (_what, statuses, more, expected) => {
  const given = view([binding(divided)], {
    clusters: [pulling(cluster("m1")), cluster("m2"), cluster("m3")],
    taintPolicies: [rule("NoExecute", 20, [...statuses])],
    ...more,
  });
  const found = m1Fails(given);
  expect(found.workloads.map(({ reason, leftAt = "" }) => `${reason} ${leftAt}`)).toEqual([
    expected,
  ]);
  expect(found.clusters[0]?.notReadyAt).toBe(given.settings.monitorGraceMs);
});

it("tells a copy too few from a workload that is gone", () => {
  const copies = {
    clusters: [
      { name: "m1", replicas: 2 },
      { name: "m2", replicas: 2 },
    ],
  };
  const everywhere = {
    ...binding(copies),
    status: { aggregatedStatus: [{ clusterName: "m2", health: "Healthy" }] },
  } as unknown as ResourceBinding;
  const given = view([everywhere], { clusters: [cluster("m1"), cluster("m2")] });
  expect(m1Fails(given).workloads).toMatchObject([{ reason: "Remains", after: "m1:2, m2:2" }]);
});

it("tells of a cluster that does not exist nothing, and never throws", () => {
  expect(createForesight(view([binding()]), NOW).failureOf("gone")).toMatchObject({
    workloads: [],
    untouched: 1,
  });
});
