/**
 * Conditions: what controllers say about an object, one entry per type (metav1.Condition).
 *
 * 1. The transition time moves only when the status changes.
 * 2. A condition keeps its place; new ones go to the end. So nothing is written that did not change.
 * 3. When nothing changes at all, the answer is the list that came in.
 */
import { anew, deepFreeze, formatTime, type Instant } from "@lifeboat/base";

export type ConditionStatus = "True" | "False" | "Unknown";

export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** A word in CamelCase, from a closed set per type. */
  readonly reason: string;
  /** For people; may be empty. */
  readonly message: string;
  readonly lastTransitionTime: string;
  /** The metadata.generation the condition was derived from. */
  readonly observedGeneration?: number;
}

/** A condition as a controller states it: the time follows from what was there before. */
export type NewCondition = Omit<Condition, "lastTransitionTime">;

/** The condition of this type, if there is one. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of this type has this status. An absent condition has none. */
export function hasCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: ConditionStatus = "True",
): boolean {
  return findCondition(conditions, type)?.status === status;
}

/** The conditions with this one set, frozen. */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: NewCondition,
  now: Instant,
): readonly Condition[] {
  const list = conditions ?? [];
  const place = list.findIndex((item) => item.type === condition.type);
  const old = list[place];
  const lastTransitionTime =
    old?.status === condition.status ? old.lastTransitionTime : formatTime(now);
  const updated = { ...anew, ...condition, lastTransitionTime };
  if (old === undefined) return deepFreeze([...list, updated]);
  return sameCondition(old, updated) ? list : deepFreeze(list.with(place, updated));
}

/** The conditions without the one of this type, frozen. */
export function removeCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): readonly Condition[] {
  const list = conditions ?? [];
  const kept = list.filter((condition) => condition.type !== type);
  return kept.length === list.length ? list : deepFreeze(kept);
}

function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration &&
    a.lastTransitionTime === b.lastTransitionTime
  );
}
