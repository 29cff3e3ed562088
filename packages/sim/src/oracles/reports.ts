/**
 * Oracles of what members report: it is shown as it is, and no member can fill the store with it or keep the plane writing,
 * whatever it says (threat T2).
 */
import type { AnyObject } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { BINDINGS, copyOf, nameOf } from "./reading.ts";
import { WORKS } from "./truth.ts";

/** More than what scenarios ask for and one member may report, in bytes. */
const MOST_BYTES = 400_000;
/** Of one Work within ten seconds: a report gets worse at once and better after a second, and there is other work to do. */
const MOST_WRITES = 50;
const WITHIN_MS = 10_000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "reports-are-bounded",
    promise: "H8: what a member reports takes a bounded part of the store",
    on: "plane",
    tables: [WORKS, ...BINDINGS],
    start:
      () =>
      ({ key, row }) =>
        row.bytes.length <= MOST_BYTES ? [] : [`${key} has ${row.bytes.length} bytes`],
  },
  {
    name: "reports-come-at-a-steady-pace",
    promise: "H8: a member that reports without end is not written about without end",
    on: "plane",
    tables: [WORKS],
    start: () => {
      const recent = new Map<string, number[]>();
      return ({ key, at }) => {
        const times = (recent.get(key) ?? []).filter((time) => time > at - WITHIN_MS);
        times.push(at);
        recent.set(key, times);
        return times.length === MOST_WRITES
          ? [`${key} was written ${MOST_WRITES} times in ${WITHIN_MS / 1000} s`]
          : [];
      };
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "reports-are-true",
    promise: "H5: a binding shows as many ready replicas of every copy as there are",
    judge: (truth) =>
      truth.bindings().flatMap((binding) =>
        (binding.status?.aggregatedStatus ?? []).flatMap(({ clusterName, status }) => {
          const copy = copyOf(truth, binding, clusterName);
          if (copy?.metadata.labels?.[wellKnown.MANAGED] !== "true") return [];
          const [shown, there] = [readyIn(status), readyIn((copy as Reporting).status)];
          const what = `${nameOf(binding)} in ${clusterName}`;
          return shown === there ? [] : [`${what} has ${there} ready replicas, not ${shown}`];
        }),
      ),
  },
];

type Reporting = AnyObject & { readonly status?: unknown };

/** How many replicas a status calls ready; what is no such number is none. */
function readyIn(status: unknown): number {
  const { readyReplicas } = (status ?? {}) as { readonly readyReplicas?: unknown };
  return typeof readyReplicas === "number" ? readyReplicas : 0;
}
