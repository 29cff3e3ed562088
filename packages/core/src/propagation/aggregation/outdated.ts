/**
 * Which part of what copies report may be outdated: what came from clusters that are not Ready. Counters and health stay as
 * they were last reported, because decisions rest on them; a condition shows since when nothing newer came.
 *
 * 1. The condition is there while something may be outdated, and only then: a fleet that is well bears no trace of it.
 * 2. It depends on when Ready last turned, and on nothing else of a Cluster: it turns as often as Ready does, which has
 *    thresholds of its own, and another reason or message of Ready writes nothing.
 * 3. Of templates only those bear it whose kinds have conditions of any type; of all others the binding does.
 */
import {
  type Cluster,
  type Condition,
  type NewCondition,
  removeCondition,
  setCondition,
} from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { type Fields, listAt, textAt, without } from "../../fields.ts";
import { notReadySince } from "../../failover/health/ready.ts";
import type { AggregatedItem } from "./items.ts";
import type { StatusUpToDateReason } from "./reasons.ts";

export const STATUS_UP_TO_DATE = "StatusUpToDate";

type Outdated = NewCondition & { readonly reason: StatusUpToDateReason };

/** As many clusters are named. */
const MAX_NAMED = 10;
/** What a condition bears whose time was never given. */
const NO_TIME = "1970-01-01T00:00:00Z";

/** The condition for copies in clusters that are not Ready; undefined: everything is as new as can be. */
export function outdatedCondition(
  items: readonly AggregatedItem[],
  clusters: readonly Cluster[],
): Outdated | undefined {
  const silent = new Map(
    clusters.flatMap((cluster) => {
      const since = notReadySince(cluster);
      return since === undefined ? [] : [[cluster.metadata.name, since] as const];
    }),
  );
  const names = items.filter(hasReported).flatMap(({ clusterName }) => {
    const since = silent.get(clusterName);
    if (since === undefined) return [];
    return since === NO_TIME ? [clusterName] : [`${clusterName} (since ${since})`];
  });
  if (names.length === 0) return undefined;
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : "";
  return {
    type: STATUS_UP_TO_DATE,
    status: "False",
    reason: "ClusterNotReady",
    message: `The status of copies may be outdated in clusters that are not Ready: ${names.slice(0, MAX_NAMED).join(", ")}${more}.`,
  };
}

/** What was never reported cannot be outdated. */
function hasReported({ status, applied }: AggregatedItem): boolean {
  return status !== undefined || applied !== undefined;
}

/** The conditions of a binding with this one, or without it; the same list when nothing changes. */
export function withOutdated(
  conditions: readonly Condition[],
  outdated: Outdated | undefined,
  now: Instant,
): readonly Condition[] {
  return outdated === undefined
    ? removeCondition(conditions, STATUS_UP_TO_DATE)
    : setCondition(conditions, outdated, now);
}

/** Kinds whose conditions may be of any type. */
const WITH_CONDITIONS: ReadonlySet<string> = new Set([
  "apps/v1 Deployment",
  "apps/v1 StatefulSet",
  "apps/v1 DaemonSet",
  "apps/v1 ReplicaSet",
]);

/** The aggregated status of a template with this condition, or without it. */
export function templateStatus(
  template: Fields,
  status: Fields,
  outdated: Outdated | undefined,
  now: Instant,
): Fields {
  const kind = `${textAt(template, "apiVersion")} ${textAt(template, "kind")}`;
  if (!WITH_CONDITIONS.has(kind)) return status;
  const isOurs = (one: unknown): boolean => textAt(one, "type") === STATUS_UP_TO_DATE;
  // A script that aggregates may leave it out: its time is on the template.
  const old = listAt(template, "status", "conditions").find(isOurs);
  const present = listAt(status, "conditions");
  const others = present.filter((one) => !isOurs(one));
  if (outdated === undefined && others.length === present.length) return status;
  const since = textAt(old, "status") === "False" ? textAt(old, "lastTransitionTime") : "";
  const lastTransitionTime = since === "" ? formatTime(now) : since;
  const conditions =
    outdated === undefined ? others : [...others, { ...outdated, lastTransitionTime }];
  return conditions.length === 0 ? without(status, "conditions") : { ...status, conditions };
}
