/** What becomes of a workload if its cluster died: every precondition, by the control plane's own decisions. */
import { expect, it, test } from "vitest";
import { decideIfDied, type IfDiedView } from "./if-died.ts";
import { binding, cluster, NOW, rule } from "./makers.suite.ts";

function view(more: Partial<IfDiedView> = {}, given = binding()): IfDiedView {
  return {
    cluster: "m1",
    binding: given,
    work: undefined,
    template: {},
    policy: undefined,
    clusters: [cluster("m1"), cluster("m2")],
    bindings: [given],
    taintPolicies: [rule("NoExecute", 20)],
    settings: {
      failover: true,
      statefulFailoverInjection: false,
      purgeMode: "Gracefully",
      failureThresholdMs: 30_000,
      approval: "Policy",
    },
    ...more,
  };
}

const divided = {
  placement: {
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Aggregated",
    },
  },
};

it("moves after the threshold and the window, to where the scheduler would place it", () => {
  const found = decideIfDied(view({}, binding(divided)), NOW);
  expect(found.preconditions.filter(({ holds }) => !holds)).toEqual([]);
  expect(found).toMatchObject({ moves: true, leavesAfterMs: 50_000 });
  expect(found.targets).toEqual([{ name: "m2", replicas: 2 }]);
  expect(found.preconditions.map(({ name, holds }) => [name, holds])).toEqual([
    ["gate", true],
    ["rule", true],
    ["affected", true],
    ["fence", true],
    ["target", true],
    ["state", true],
  ]);
});

const settings = view().settings;
test.each<[string, Partial<IfDiedView>, object, readonly string[], number | undefined]>([
  ["the gate is off", { settings: { ...settings, failover: false } }, divided, ["gate"], undefined],
  [
    "the fleet asks for an approval",
    { settings: { ...settings, approval: "Required" } },
    divided,
    ["approval"],
    50_000,
  ],
  ["no policy taints it", { taintPolicies: [] }, divided, ["rule"], undefined],
  [
    "a taint that only repels",
    { taintPolicies: [rule("NoSchedule", 1)] },
    divided,
    ["rule"],
    undefined,
  ],
  [
    "no failover is wanted",
    { taintPolicies: [rule("PreferNoExecute", 1)] },
    divided,
    ["affected"],
    undefined,
  ],
  [
    "it tolerates the taint for ever",
    {},
    { placement: { ...divided.placement, clusterTolerations: [{ operator: "Exists" }] } },
    ["affected"],
    undefined,
  ],
  [
    "it tolerates the taint for a minute",
    {},
    {
      placement: {
        ...divided.placement,
        clusterTolerations: [{ operator: "Exists", tolerationSeconds: 60 }],
      },
    },
    [],
    110_000,
  ],
  [
    "purge mode Directly",
    {},
    { ...divided, failover: { cluster: { purgeMode: "Directly" } } },
    ["fence"],
    50_000,
  ],
  ["there is no other cluster", { clusters: [cluster("m1")] }, divided, ["target"], 50_000],
])("%s", (_name, more, spec, missing, after) => {
  const found = decideIfDied(view(more, binding(spec)), NOW);
  const not = found.preconditions.filter(({ holds }) => !holds).map(({ name }) => name);
  expect(not).toEqual(missing);
  expect(found.moves).toBe(missing.length === 0);
  expect(found.leavesAfterMs).toBe(after);
});

it("answers for a workload that is not there, and for a cluster that is not joined", () => {
  expect(decideIfDied(view({ cluster: "m2" }), NOW).moves).toBe(false);
  expect(decideIfDied(view({ cluster: "other" }), NOW).moves).toBe(false);
});
