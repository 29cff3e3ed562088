/** The stories that are run with a fault at every single write. At most three members and three workloads each. */
import type { Scenario, Step } from "./scenario.ts";

const MEMBERS = ["m1", "m2", "m3"];
const WEB = { kind: "Deployment", name: "web" } as const;
const SETTINGS = { kind: "ConfigMap", name: "settings" } as const;

const propagated: readonly Step[] = [
  { at: 0, do: "workload", ...WEB, replicas: 2 },
  { at: 0, do: "workload", ...SETTINGS },
  { at: 0, do: "policy", name: "all", selects: [WEB, SETTINGS] },
];

function golden(name: string, steps: readonly Step[]): Scenario {
  return { name, seed: 1, members: MEMBERS, steps: [...propagated, ...steps], faults: [] };
}

/**
 * Two workloads with one copy each, which is on m1 at first. Each has one other cluster to go to: which of two is chosen may
 * depend on what members reported when, and runs would end differently for a good reason.
 */
function race(scenario: Scenario): Scenario {
  return { ...scenario, isRace: true };
}

function failover(
  name: string,
  purgeMode: "Directly" | "Gracefully",
  steps: readonly Step[],
): Scenario {
  const others = { web: "m2", shop: "m3" };
  const placed = Object.entries(others).flatMap(([workload, other]): readonly Step[] => {
    const of = { kind: "Deployment", name: workload } as const;
    const policy = {
      do: "policy",
      name: workload,
      selects: [of],
      oneCopy: true,
      purgeMode,
    } as const;
    return [
      { at: 0, do: "workload", ...of, replicas: 2 },
      { at: 0, ...policy, clusters: ["m1"] },
      { at: 10, ...policy, clusters: ["m1", other] },
    ];
  });
  const all = [...placed, ...steps];
  return { name, seed: 1, members: MEMBERS, failover: true, steps: all, faults: [] };
}

/** By name. */
export const goldenScenarios: readonly Scenario[] = [
  golden("propagate", [
    { at: 1, do: "workload", kind: "StatefulSet", name: "db", replicas: 3 },
    {
      at: 1,
      do: "policy",
      name: "db",
      selects: [{ kind: "StatefulSet", name: "db" }],
      divided: true,
    },
  ]),
  golden("update", [
    { at: 20, do: "workload", ...WEB, replicas: 3, version: 2 },
    { at: 20, do: "workload", ...SETTINGS, version: 2 },
    { at: 25, do: "policy", name: "all", selects: [WEB, SETTINGS], clusters: ["m1", "m2"] },
  ]),
  golden("move", [
    { at: 15, do: "policy", name: "all", selects: [WEB, SETTINGS], clusters: ["m1"] },
    { at: 25, do: "policy", name: "all", selects: [WEB, SETTINGS], clusters: ["m2"] },
  ]),
  golden("delete", [
    { at: 20, do: "delete", what: "Deployment", name: "web" },
    { at: 20, do: "delete", what: "ConfigMap", name: "settings" },
    { at: 25, do: "delete", what: "policy", name: "all" },
  ]),
  golden("override-edit", [
    { at: 15, do: "override", name: "o", selects: SETTINGS, cluster: "m1", value: "first" },
    { at: 20, do: "override", name: "o", selects: SETTINGS, cluster: "m2", value: "second" },
    { at: 30, do: "delete", what: "override", name: "o" },
  ]),
  failover("fail-gracefully", "Gracefully", [
    { at: 20, do: "taint", member: "m1", effect: "NoExecute", on: true },
  ]),
  failover("fail-directly", "Directly", [
    { at: 20, do: "taint", member: "m1", effect: "NoExecute", on: true },
  ]),
  // A control plane that is down for two seconds releases one more, or one less, before the cluster recovers.
  race(
    failover("recover-early", "Gracefully", [
      { at: 20, do: "taint", member: "m1", effect: "NoExecute", on: true },
      { at: 21, do: "taint", member: "m1", effect: "NoExecute", on: false },
    ]),
  ),
  failover("drain", "Gracefully", [
    { at: 20, do: "taint", member: "m1", effect: "drain", on: true },
    { at: 90, do: "taint", member: "m1", effect: "drain", on: false },
  ]),
  race(
    failover("unjoin-during-failover", "Gracefully", [
      { at: 20, do: "taint", member: "m1", effect: "NoExecute", on: true },
      { at: 23, do: "unjoin", member: "m1" },
    ]),
  ),
  golden("unjoin", [{ at: 20, do: "unjoin", member: "m3" }]),
  golden("namespace", [
    { at: 1, do: "namespace", name: "team" },
    { at: 2, do: "workload", kind: "ConfigMap", name: "inner", namespace: "team" },
    {
      at: 2,
      do: "policy",
      name: "inner",
      namespace: "team",
      selects: [{ kind: "ConfigMap", name: "inner" }],
    },
    { at: 20, do: "delete", what: "namespace", name: "team" },
  ]),
];
