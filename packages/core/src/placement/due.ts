/**
 * Whether a binding is to be placed now, and why; the first reason that holds wins.
 *
 * Workloads whose replicas are divided stay where they are while nothing of this holds: not a taint, not a label, not a
 * better cluster moves them. An eviction does, because it takes replicas out of the result.
 */
import { equalJson, hasCondition, type ResourceBinding } from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { resultOf } from "../binding/index.ts";
import { isFederated } from "../federated/record.ts";
import { countAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import { hashBytes } from "./division/hash.ts";
import { isWorkload } from "../propagation/rendering/shares.ts";
import { APPLIED_PLACEMENT } from "../well-known.ts";
import type { CandidateFleet } from "./candidate.ts";
import type { ScheduleReason } from "./reasons.ts";
import { readPlacement } from "./rules.ts";

/** `fleet` must be complete: a cluster that it lacks is gone. */
export function whyDue(
  binding: ResourceBinding,
  fleet: CandidateFleet,
): ScheduleReason | undefined {
  if (isFederated(binding)) return "FollowsClusters";
  if (isPlacementEdited(binding)) return "PlacementChanged";
  if (hasOtherReplicas(binding)) return "ReplicasChanged";
  if (isRescheduleTriggered(binding)) return "RescheduleTriggered";
  // seed: outcome-not-written
  if (!hasCondition(binding.status?.conditions, "Scheduled")) return "LastAttemptFailed";
  if (isInUnnamedGroup(binding, fleet)) return "GroupNotNamed";
  if (followsClusters(binding)) return "FollowsClusters";
  const isLeaving = resultOf(binding).some(
    ({ name }) => fleet.byName.get(name)?.isDeleting !== false,
  );
  return isLeaving ? "ClusterLeaving" : undefined;
}

/**
 * Whether the result lies in another group than the status names, because a scheduler wrote the result and then died or met
 * a conflict: the next one begins with the group that is named.
 */
function isInUnnamedGroup(binding: ResourceBinding, fleet: CandidateFleet): boolean {
  const { spec, status } = binding;
  if ((spec.placement?.clusterAffinities ?? []).length < 2) return false;
  const { terms } = readPlacement(spec.placement);
  const holders = resultOf(binding).flatMap(({ name }) => fleet.byName.get(name) ?? []);
  const named = terms.find(({ name }) => name === status?.schedulerObservingAffinityName);
  if (holders.every((one) => named?.matches(one) === true)) return false;
  return terms.some(({ matches }) => holders.every((one) => matches(one)));
}

/** Whether the binding goes to every cluster that fits, so that each change of clusters concerns it. */
export function followsClusters(binding: ResourceBinding): boolean {
  if (isFederated(binding)) return true;
  return !isWorkload(binding) || !isDividedIn(binding);
}

/** A WorkloadRebalancer's order to place the workload again, not carried out yet. */
export function isRescheduleTriggered({ spec, status }: ResourceBinding): boolean {
  const triggered = parseTime(textAt(spec, "rescheduleTriggeredAt"));
  const scheduled = parseTime(textAt(status, "lastScheduledTime"));
  // Both are whole seconds: an order of the same second came later, for one that was carried out is dated before it.
  return triggered !== undefined && scheduled !== undefined && triggered >= scheduled;
}

/** Whether the placement is another one than was last carried out. */
export function isPlacementEdited({ metadata, spec, status }: ResourceBinding): boolean {
  const text = metadata.annotations?.[APPLIED_PLACEMENT];
  if (text === undefined) return true;
  if (text === formatPlacement(spec.placement)) return false;
  const applied = parseJson(text);
  if (applied === undefined) return false;
  for (const field of COMPARED)
    if (!equalJson(valueAt(applied, field), valueAt(spec.placement, field))) return true;
  return isTermEdited(applied, spec.placement, textAt(status, "schedulerObservingAffinityName"));
}

/**
 * A placement as the annotation about the last one that was carried out holds it. Of one that annotations have no room for
 * it holds only what distinguishes it from others.
 */
export function formatPlacement(placement: ResourceBinding["spec"]["placement"]): string {
  const text = JSON.stringify(placement ?? null);
  if (text.length <= MOST_TEXT) return text;
  return JSON.stringify({ length: text.length, hash: hashBytes(text) });
}

/** All annotations of an object together have room for 256 KiB. */
const MOST_TEXT = 64 * 1024;

const COMPARED = [
  "clusterAffinity",
  "clusterTolerations",
  "spreadConstraints",
  "replicaScheduling",
];

/** Of ordered groups only the one in use counts. */
function isTermEdited(applied: unknown, placement: unknown, observed: string): boolean {
  const before = listAt(applied, "clusterAffinities");
  const now = listAt(placement, "clusterAffinities");
  if (before.length === 0 && now.length === 0) return false;
  const named = (terms: readonly unknown[]): unknown =>
    terms.find((term) => textAt(term, "affinityName") === observed);
  const [was, is] = [named(before), named(now)];
  return observed === "" || was === undefined || is === undefined || !equalJson(was, is);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDividedIn({ spec }: ResourceBinding): boolean {
  const scheduling = valueAt(spec, "placement", "replicaScheduling");
  return isFields(scheduling) && textAt(scheduling, "replicaSchedulingType") !== "Duplicated";
}

function hasOtherReplicas(binding: ResourceBinding): boolean {
  const { spec } = binding;
  if (!isFields(valueAt(spec, "placement", "replicaScheduling"))) return false;
  const clusters = resultOf(binding);
  if (listAt(spec, "components").length > 1) return clusters.length === 0;
  const replicas = countAt(spec, "replicas");
  if (!isDividedIn(binding))
    return (
      isWorkload(binding) && clusters.some((target) => countAt(target, "replicas") !== replicas)
    );
  return clusters.reduce((all, target) => all + countAt(target, "replicas"), 0) !== replicas;
}
