/** Oracles of group D: leaving a cluster gracefully. */
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import {
  faultyClusters,
  isDirectly,
  isGoing,
  isGoingNow,
  isOf,
  nameOf,
  tasksOf,
  WORKLOADS,
} from "./reading.ts";
import { clustersOf, isHealthyCopy } from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "last-copy-stays",
    promise:
      "D9: no removal of ours takes the healthy copies of a workload from one or more to none",
    on: "members",
    tables: WORKLOADS,
    start:
      (truth) =>
      ({ server, table, key, row, previous }) => {
        if (!truth.circumstances.membersAreSteady) return [];
        if (previous === undefined || !isGoingNow(row, previous)) return [];
        if (!isHealthyCopy(previous.object)) return [];
        const template = truth.ledger.find("plane", table, key)?.object;
        if (template === undefined || isGoing(template)) return [];
        const { kind, metadata } = template;
        const binding = truth
          .bindings()
          .find(({ spec }) => isOf(spec.resource, kind, metadata.namespace, metadata.name));
        if (binding === undefined || isGoing(binding) || clustersOf(binding).size === 0) return [];
        if (isDirectly(truth, metadata.name)) return [];
        const others = truth.members().filter((member) => member !== server);
        return truth.healthyCopies(table, key, others).length > 0
          ? []
          : [`the last healthy copy of ${table} ${key} went, in ${server}`];
      },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "no-eviction-is-left",
    promise: "D8: when everything is healthy, no eviction is left half done",
    judge: (truth) =>
      truth
        .bindings()
        .filter((binding) => tasksOf(binding).size > 0)
        // Without a result it waits for a cluster that fits.
        .filter(({ spec }) => faultyClusters(truth).size === 0 || (spec.clusters ?? []).length > 0)
        .map((binding) => `${nameOf(binding)} is still leaving ${[...tasksOf(binding)].join()}`),
  },
];
