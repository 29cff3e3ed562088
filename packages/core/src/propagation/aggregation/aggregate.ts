/**
 * Deciding when and what to write into the status of a binding: what its copies report, and whether all are applied.
 *
 * 1. Only `aggregatedStatus` and the conditions FullyApplied and StatusUpToDate are ours; everything else of the status stays.
 * 2. What others act on is written at once: a copy that stops being healthy, that fails to be applied or whose Work goes,
 *    the last copy that becomes healthy, FullyApplied that comes true, and every change of a reported status that is more than
 *    counters.
 * 3. Progress on the way there (counters of a rollout, the first of several copies that are healthy, copies that have
 *    nothing to report yet, or do not exist yet so that FullyApplied is not true for a moment) is gathered for a second, so that it costs at most one write in a second. So is that reports may
 *    be outdated: of clusters that fail together every binding is written once.
 * 4. What the status holds already is not written again.
 */
import {
  type Cluster,
  equalJson,
  findCondition,
  type ResourceBinding,
  setCondition,
  type Work,
} from "@lifeboat/api";
import { anew, deepFreeze, type Instant, type Moment } from "@lifeboat/base";
import { isFields } from "../../fields.ts";
import type { Plan } from "../../plan.ts";
import { clustersWithCopy } from "../dependencies/copies.ts";
import { type AggregatedItem, aggregatedItems } from "./items.ts";
import { outdatedCondition, withOutdated } from "./outdated.ts";
import type { AggregationReason, FullyAppliedReason } from "./reasons.ts";

/** The messages of the condition, which clients know word for word. */
const fullyAppliedMessages: Readonly<Record<FullyAppliedReason, string>> = Object.freeze({
  FullyAppliedSuccess: "All works have been successfully applied",
  FullyAppliedFailed: "Failed to apply all works, see status.aggregatedStatus for details",
});

export interface AggregationView {
  readonly binding: ResourceBinding;
  /** All Works of the binding. */
  readonly works: readonly Work[];
  /** The clusters of these Works, as far as they are known. */
  readonly clusters: readonly Cluster[];
  /** Since when there is something to write that was held back; absent when there was nothing. */
  readonly heldSince?: Instant | undefined;
}

export interface WriteStatusCommand {
  readonly kind: "writeStatus";
  readonly status: NonNullable<ResourceBinding["status"]>;
}

export interface AggregationPlan extends Plan<WriteStatusCommand, AggregationReason> {
  /** What the copies report now. */
  readonly items: readonly AggregatedItem[];
  /** The condition that some of it may be outdated, if so. */
  readonly outdated: ReturnType<typeof outdatedCondition>;
}

const GATHERING_MS = 1000;

/** What to write into a binding's status. */
export function decideAggregation(
  view: AggregationView,
  { now, due: dueTime }: Moment,
): AggregationPlan {
  const { binding, works } = view;
  const items = aggregatedItems(works);
  const old = binding.status?.aggregatedStatus ?? [];
  const outdated = outdatedCondition(items, view.clusters);
  const before = binding.status?.conditions ?? NOTHING;
  const conditions = withOutdated(
    setCondition(before, fullyApplied(binding, items), now),
    outdated,
    now,
  );
  const unchanged = { commands: [], conditions: [], events: [], items, outdated };
  // A resource that goes nowhere and never did has nothing to report.
  if (items.length === 0 && old.length === 0 && isAlreadySilent(binding))
    return { ...anew, ...unchanged, reason: "UpToDate" };
  if (equalJson(old, items) && conditions === before)
    return { ...anew, ...unchanged, reason: "UpToDate" };
  const isUrgent =
    comesTrue(binding, conditions) || items.length < old.length || differsVisibly(old, items);
  const due = dueTime(view.heldSince ?? now, GATHERING_MS);
  if (!isUrgent && now < due) return { ...anew, ...unchanged, checkAgainAt: due, reason: "Held" };
  const status = { ...anew, ...binding.status, aggregatedStatus: items, conditions };
  return {
    ...anew,
    ...unchanged,
    commands: [{ kind: "writeStatus", status: deepFreeze(status) }],
    reason: isUrgent ? "Changed" : "Progressed",
  };
}

const NOTHING: readonly never[] = Object.freeze([]);

type Conditions = NonNullable<NonNullable<ResourceBinding["status"]>["conditions"]>;

function fullyApplied(binding: ResourceBinding, items: readonly AggregatedItem[]) {
  const expected = clustersWithCopy(binding);
  const isFull =
    expected.size > 0 &&
    expected.size === items.length &&
    items.every(({ clusterName, applied }) => applied === true && expected.has(clusterName));
  const reason = isFull ? "FullyAppliedSuccess" : "FullyAppliedFailed";
  return {
    type: "FullyApplied",
    status: isFull ? "True" : "False",
    reason,
    message: fullyAppliedMessages[reason],
  } as const;
}

function isAlreadySilent(binding: ResourceBinding): boolean {
  return (
    clustersWithCopy(binding).size === 0 &&
    findCondition(binding.status?.conditions, "FullyApplied") === undefined
  );
}

/** Whether FullyApplied comes true. Where it ceases to be, a copy that failed or is gone is news by itself. */
function comesTrue({ status }: ResourceBinding, now: Conditions): boolean {
  const isTrue = (conditions: Conditions = []): boolean =>
    findCondition(conditions, "FullyApplied")?.status === "True";
  return isTrue(now) && !isTrue(status?.conditions);
}

function differsVisibly(old: readonly AggregatedItem[], items: readonly AggregatedItem[]): boolean {
  const before = new Map(old.map((item) => [item.clusterName, item]));
  const isAllHealthy = items.every(({ health }) => health === "Healthy");
  return items.some((item) => {
    const last = before.get(item.clusterName) ?? { clusterName: item.clusterName };
    return (
      (last.health === "Healthy" && item.health !== "Healthy") ||
      (last.health !== "Healthy" && isAllHealthy) ||
      (last.applied === false) !== (item.applied === false) ||
      last.appliedMessage !== item.appliedMessage ||
      !equalJson(withoutCounters(last.status), withoutCounters(item.status))
    );
  });
}

function withoutCounters(status: unknown): Readonly<Record<string, unknown>> {
  if (!isFields(status)) return {};
  return Object.fromEntries(
    Object.entries(status).filter(([, value]) => typeof value !== "number"),
  );
}
