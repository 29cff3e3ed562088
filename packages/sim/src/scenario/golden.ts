/** The stories that are run with a fault at every single write. At most three members and three workloads each. */
import { assert } from "@lifeboat/base";
import { failoverOf20, failoverStories, MEMBERS } from "./golden-failover.ts";
import type { Scenario, Step } from "./scenario.ts";

const WEB = { kind: "Deployment", name: "web" } as const;
const SETTINGS = { kind: "ConfigMap", name: "settings" } as const;
/** What a detector reports of a cluster in which names are not resolved. */
const SICK = { condition: "ServiceDomainNameResolutionReady", status: "False" } as const;

const propagated: readonly Step[] = [
  { at: 0, do: "workload", ...WEB, replicas: 2 },
  { at: 0, do: "workload", ...SETTINGS },
  { at: 0, do: "policy", name: "all", selects: [WEB, SETTINGS] },
];

function golden(name: string, steps: readonly Step[]): Scenario {
  return { name, seed: 1, members: MEMBERS, steps: [...propagated, ...steps], faults: [] };
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
  golden("remedy", [
    { at: 0, do: "workload", kind: "Service", name: "web" },
    { at: 0, do: "policy", name: "service", selects: [{ kind: "Service", name: "web" }] },
    { at: 1, do: "ingress", name: "shop", services: ["web"] },
    { at: 5, do: "remedy", name: "sick", matches: [{ ...SICK, operator: "Equal" }] },
    { at: 10, do: "report", member: "m1", ...SICK },
    { at: 20, do: "remedy", name: "upgrade", clusters: ["m2"] },
    { at: 30, do: "report", member: "m1", ...SICK, status: "True" },
    { at: 40, do: "delete", what: "remedy", name: "sick" },
  ]),
  ...failoverStories,
];

/** A golden scenario, or the large one that takes too long to be one of them. */
export function goldenNamed(name: string): Scenario {
  const found = [...goldenScenarios, failoverOf20].find((scenario) => scenario.name === name);
  assert(found !== undefined, "there is a golden scenario of this name", { name });
  return found;
}
