/**
 * Whether a workload that leaves faulty clusters has a target (D8). This is checked before every eviction: nothing is
 * evicted without a target.
 *
 *   Duplicated   with a minimum of clusters: that many fit without the faulty ones; else a new cluster for each faulty one
 *   Divided      the replicas of the faulty clusters can be placed elsewhere, whole; what has none is as if duplicated
 */
import type { Moment } from "@lifeboat/base";
import { clusterNamesOf, resultOf } from "../binding/index.ts";
import { fleetOf } from "./candidate.ts";
import { followsClusters } from "./due.ts";
import { unfitMessage } from "./explain.ts";
import { place } from "./place.ts";
import { readPlacement, spreadBy } from "./rules.ts";
import type { PlacementDecision, PlacementView, Target } from "./view.ts";

export type TargetCheck =
  /** `clusters`: the result that the workload would have then. */
  | { readonly found: true; readonly clusters: readonly Target[] }
  | { readonly found: false; readonly message: string };

/** `faulty`: the clusters that the workload leaves. */
export function findTarget(
  view: PlacementView,
  faulty: ReadonlySet<string>,
  moment: Moment,
): TargetCheck {
  const { binding, fleet } = view;
  const left = resultOf(binding).filter(({ name }) => !faulty.has(name));
  const leaving = resultOf(binding).length - left.length;
  const others = fleet.candidates.filter(({ name }) => !faulty.has(name));
  const without = {
    ...view,
    binding: { ...binding, spec: { ...binding.spec, clusters: left } },
    // A fleet that lacks them is used as it is: it remembers what it was asked before.
    fleet: others.length === fleet.candidates.length ? fleet : fleetOf(others),
  };
  const decision = place(without, moment);
  const rules = readPlacement(binding.spec.placement);
  // What has no replicas is on every cluster of its result whole, however its policy divides.
  if (!followsClusters(binding)) return checkOf(decision.reason === "Placed", decision);
  const minimum = spreadBy(rules, "cluster")?.min;
  if (minimum !== undefined) return checkOf(fitting(decision) >= minimum, decision);
  const free = added(decision, without);
  return checkOf(
    free >= leaving,
    decision,
    `${needOf(leaving)} without one, of which ${free} fit:`,
  );
}

function needOf(leaving: number): string {
  return leaving === 1 ? "a copy needs a cluster" : `${leaving} copies need as many clusters`;
}

function fitting({ explanation }: PlacementDecision): number {
  return explanation.verdicts.filter((verdict) => verdict === undefined).length;
}

/** How many clusters fit that are not in the result. */
function added({ explanation }: PlacementDecision, { binding, fleet }: PlacementView): number {
  const present = new Set(clusterNamesOf(binding));
  return fleet.candidates.filter(
    ({ name }, i) => explanation.verdicts[i] === undefined && !present.has(name),
  ).length;
}

/** `need`: what was asked for beyond a placement. */
function checkOf(found: boolean, decision: PlacementDecision, need = ""): TargetCheck {
  const { reason, message, explanation, clusters } = decision;
  if (found) return { found, clusters };
  if (reason !== "Placed") return { found, message };
  return { found, message: `${need} ${unfitMessage(explanation)}`.trimStart() };
}
