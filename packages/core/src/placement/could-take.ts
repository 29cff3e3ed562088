/** Whether the named clusters could take a workload now: for a person that orders it there. */
import type { Moment } from "@lifeboat/base";
import type { Rejection } from "./filters/filter.ts";
import { filters } from "./filters/registry.ts";
import { checksOf, firstRejection } from "./filters/checks.ts";
import type { PlacementView } from "./view.ts";
import { readWorkload } from "./workload.ts";

/**
 * Why some of these clusters of the fleet cannot take the workload, by name; empty: all can. They are judged as new ones, by the
 * group of the placement that fits most of them, because a workload lies in one group whole. That the workload left a cluster as a
 * failing application counts nothing: the person knows, and sends it there nevertheless (D23 is about what we do by ourselves).
 */
export function objectionsOf(
  { binding, fleet }: PlacementView,
  names: readonly string[],
  moment: Moment,
): ReadonlyMap<string, Rejection> {
  const { api, rules } = readWorkload(binding);
  let fewest: ReadonlyMap<string, Rejection> | undefined;
  for (const term of rules.terms) {
    const checks = checksOf(filters, { api, rules, term, evictedFrom: NONE, moment }, fleet);
    const objections = new Map<string, Rejection>();
    for (const name of names) {
      const candidate = fleet.byName.get(name);
      const rejection = candidate && firstRejection(candidate, checks);
      if (rejection !== undefined) objections.set(name, rejection);
    }
    if (fewest === undefined || objections.size < fewest.size) fewest = objections;
  }
  return fewest ?? new Map();
}

const NONE: ReadonlySet<string> = new Set();
