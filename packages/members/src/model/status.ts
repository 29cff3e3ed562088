/**
 * What the decisions about statuses have in common: conditions, and whether a status says anything new.
 *
 * 1. A condition's transition time moves only when its status does.
 * 2. Servers leave out zeros and empty values or put them in, each kind in its way: both say the same.
 */
import { equalJson, isJsonObject } from "@lifeboat/api";
import { formatTime, type Instant, parseTime } from "@lifeboat/base";
import type { KindCondition } from "../kinds.ts";

/** The condition of this type, if there is one. */
export function conditionOf(
  conditions: readonly KindCondition[] | undefined,
  type: string,
): KindCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of this type is True. */
export function isTrue(conditions: readonly KindCondition[] | undefined, type: string): boolean {
  return conditionOf(conditions, type)?.status === "True";
}

/** The conditions with this one set; it keeps its place and, while its status stays, its time. */
export function withCondition(
  conditions: readonly KindCondition[] | undefined,
  condition: KindCondition,
  now: Instant,
): readonly KindCondition[] {
  const list = conditions ?? [];
  const place = list.findIndex((item) => item.type === condition.type);
  const old = list[place];
  const kept = old?.status === condition.status ? old.lastTransitionTime : undefined;
  const updated = { ...condition, lastTransitionTime: kept ?? formatTime(now) };
  return old === undefined ? [...list, updated] : list.with(place, updated);
}

/** Whether a status says something else than the one before. */
export function saysNew(old: unknown, next: unknown): boolean {
  return !equalJson(withoutEmpty(old), withoutEmpty(next));
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (!isJsonObject(value))
    return value === 0 || value === "" || value === false || value === null ? undefined : value;
  const kept: Record<string, unknown> = {};
  let fields = 0;
  for (const key of Object.keys(value)) {
    const item = withoutEmpty(value[key]);
    if (item === undefined) continue;
    kept[key] = item;
    fields++;
  }
  return fields === 0 ? undefined : kept;
}

/** The time a text gives; undefined when it gives none. */
export function timeOf(text: string | undefined): Instant | undefined {
  return text === undefined ? undefined : parseTime(text);
}

/** The earlier of two times at which to look again. */
export function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
