/**
 * Writes what was decided: the result with the placement it follows from, then what became of it. Each write carries the
 * version it was decided on, the second that of the first's answer. Nothing is written that is there already.
 */
import { equalJson, type ObjectKey, setCondition } from "@lifeboat/api";
import { addMs, anew, formatTime, type Instant, parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { resultOf, withResult } from "@lifeboat/core/binding";
import { signResult } from "@lifeboat/core/failover/evacuation";
import { withFederated } from "@lifeboat/core/federated";
import {
  formatPlacement,
  isRescheduleTriggered,
  type PlacementDecision,
  type PlacementReason,
  type Target,
} from "@lifeboat/core/placement";
import type { Client } from "@lifeboat/kit";
import { type Binding, bindingResource } from "../../context/bindings.ts";

/** The reasons of the condition Scheduled, as clients know them. */
const CONDITION_REASONS: Readonly<Record<PlacementReason, string>> = {
  Placed: "Success",
  NoClusterFit: "NoClusterFit",
  Unschedulable: "Unschedulable",
  ConstraintsUnmet: "SchedulerError",
  AwaitingPurge: "Unschedulable",
};

export interface Write {
  readonly plane: Client;
  readonly key: ObjectKey;
  readonly now: Instant;
  readonly signal: AbortSignal;
}

/** Answers whether anything was written. */
export async function writeDecision(
  to: Write,
  binding: Binding,
  decision: PlacementDecision,
): Promise<boolean> {
  const placed = await writeResult(to, binding, decision);
  const isNew = placed !== binding || isRescheduleTriggered(binding);
  return (await writeStatus(to, placed, statusOf(placed, decision, isNew, to.now))) || isNew;
}

/** Records that this generation needs no other placement. */
export function writeObserved(to: Write, binding: Binding): Promise<boolean> {
  const { generation } = binding.metadata;
  if (generation === undefined) return Promise.resolve(false);
  return writeStatus(to, binding, { ...binding.status, schedulerObservedGeneration: generation });
}

async function writeResult(
  { plane, key, signal }: Write,
  binding: Binding,
  { reason, clusters, federated }: PlacementDecision,
): Promise<Binding> {
  const isCarriedOut = reason === "Placed" || reason === "NoClusterFit";
  const applied = formatPlacement(binding.spec.placement);
  const remembered = federated === undefined ? binding : withFederated(binding, federated);
  const { annotations = {} } = remembered.metadata;
  const hasResult = isSame(resultOf(binding), clusters) && remembered === binding;
  if (hasResult && (!isCarriedOut || annotations[wellKnown.APPLIED_PLACEMENT] === applied))
    return binding;
  const metadata = {
    ...anew,
    ...remembered.metadata,
    ...(isCarriedOut && {
      annotations: { ...annotations, [wellKnown.APPLIED_PLACEMENT]: applied },
    }),
  };
  const placed = signResult(withResult({ ...anew, ...binding, metadata }, clusters));
  return plane.update(bindingResource(key), placed, { signal });
}

function isSame(a: readonly Target[], b: readonly Target[]): boolean {
  if (a.length !== b.length) return false;
  const shares = new Map(a.map(({ name, replicas = 0 }) => [name, replicas]));
  return (
    shares.size === a.length && b.every(({ name, replicas = 0 }) => shares.get(name) === replicas)
  );
}

function statusOf(
  binding: Binding,
  { reason, message, affinityName }: PlacementDecision,
  isNew: boolean,
  now: Instant,
): NonNullable<Binding["status"]> {
  const isPlaced = reason === "Placed";
  const condition = {
    type: "Scheduled",
    status: isPlaced ? ("True" as const) : ("False" as const),
    reason: CONDITION_REASONS[reason],
    message,
  };
  const conditions = setCondition(binding.status?.conditions, condition, now);
  if (!isPlaced) return { ...binding.status, conditions };
  const { generation } = binding.metadata;
  const { schedulerObservingAffinityName: _former, ...status } = binding.status ?? {};
  return {
    ...status,
    ...(generation !== undefined && { schedulerObservedGeneration: generation }),
    ...(affinityName !== "" && { schedulerObservingAffinityName: affinityName }),
    ...((isNew || status.lastScheduledTime === undefined) && {
      lastScheduledTime: formatTime(scheduledAt(binding, now)),
    }),
    conditions,
  };
}

/** Never before the last one, and always after an order that was carried out: times are whole seconds. */
function scheduledAt({ spec, status }: Binding, now: Instant): Instant {
  const before = parseTime(status?.lastScheduledTime ?? "");
  const ordered = parseTime(spec.rescheduleTriggeredAt ?? "");
  let at = now;
  if (before !== undefined && before > at) at = before;
  if (ordered !== undefined && addMs(ordered, 1000) > at) at = addMs(ordered, 1000);
  return at;
}

async function writeStatus(
  { plane, key, signal }: Write,
  binding: Binding,
  status: NonNullable<Binding["status"]>,
): Promise<boolean> {
  if (equalJson(binding.status ?? {}, status)) return false;
  const options = { subresource: "status", signal };
  await plane.update(bindingResource(key), { ...binding, status }, options);
  return true;
}
