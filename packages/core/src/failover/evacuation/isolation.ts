/**
 * Whether the control plane itself may be cut off: more than half of the Pull clusters fell silent within a minute (D6).
 *
 * 1. It is a function of the Clusters alone, so it survives a restart, and every process finds the same.
 * 2. Only clusters that are silent now count. When enough of them return, the share falls, and it is over.
 * 3. A person's word (`lifeboat evacuations agree`) covers the clusters that were silent by then, not those that follow.
 * 4. One silent cluster shows nothing about the control plane: two or more must have fallen silent.
 */
import { type Cluster, findCondition } from "@lifeboat/api";
import { formatTime, type Instant, instantOf, parseTime } from "@lifeboat/base";
import { defineReasons, type PlannedCondition } from "../../plan.ts";

export const PLANE_MAY_BE_ISOLATED = "PlaneMayBeIsolated";

export const isolationReasons = defineReasons({
  LeasesLapsed:
    "More than half of the Pull clusters fell silent within a minute, so this control plane may be cut off itself: nothing moves.",
  LeasesRenewed: "At most half of the Pull clusters fell silent within a minute.",
  AgreedByPerson: "A person agreed that the silent clusters have failed.",
});

export type IsolationReason = keyof typeof isolationReasons;

export interface Isolation {
  readonly isIsolated: boolean;
  /** The clusters that fell silent together, by name. */
  readonly lapsed: readonly string[];
  /** Pull clusters that ever reported. */
  readonly counted: number;
  /** Whether it would be isolated but for a person's word. */
  readonly isAgreed: boolean;
}

/** Of a Cluster what the decision needs. */
export type IsolationCluster = Pick<Cluster, "metadata" | "spec" | "status">;

const WITHIN_MS = 60_000;
const FEWEST = 2;

/** `agreedAt`: a person's word, as written on the budget. */
export function isolationOf(
  clusters: readonly IsolationCluster[],
  agreedAt: string | undefined,
): Isolation {
  const counted = clusters.filter(isCounted);
  const silent = counted.flatMap(silenceOf).toSorted((a, b) => a.since - b.since);
  const agreed = parseTime(agreedAt ?? "");
  const open = silent.filter(({ since }) => agreed === undefined || since > agreed);
  const lapsed = mostWithin(open);
  const isTooMany = (together: readonly Silence[]): boolean =>
    together.length >= FEWEST && together.length * 2 > counted.length;
  return {
    isIsolated: isTooMany(lapsed),
    lapsed: lapsed.map(({ name }) => name).toSorted(),
    counted: counted.length,
    isAgreed: !isTooMany(lapsed) && isTooMany(mostWithin(silent)),
  };
}

/** When a person agrees: later than the silence of all that the person was shown, however the clocks of the two machines differ. */
export function agreementTime(
  clusters: readonly IsolationCluster[],
  { lapsed }: Pick<Isolation, "lapsed">,
  now: Instant,
): string {
  const shown = clusters.filter(({ metadata }) => lapsed.includes(metadata.name));
  return formatTime(
    instantOf(Math.max(now, ...shown.flatMap(silenceOf).map(({ since }) => since))),
  );
}

/** The condition of the budget. */
export function isolationCondition(isolation: Isolation): PlannedCondition<IsolationReason> {
  const { isIsolated, isAgreed, lapsed, counted } = isolation;
  const reason: IsolationReason = isIsolated
    ? "LeasesLapsed"
    : isAgreed
      ? "AgreedByPerson"
      : "LeasesRenewed";
  const which = isIsolated
    ? ` ${lapsed.length} of ${counted}: ${named(lapsed)}. If they have really failed: lifeboat evacuations agree`
    : "";
  return {
    type: PLANE_MAY_BE_ISOLATED,
    status: isIsolated ? "True" : "False",
    reason,
    message: `${isolationReasons[reason]}${which}`,
  };
}

const NAMED = 5;

function named(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}

interface Silence {
  readonly name: string;
  readonly since: Instant;
}

function readyOf({ status }: IsolationCluster) {
  return findCondition(status?.conditions, "Ready");
}

/** One that never reported has no lease that could lapse. */
function isCounted(cluster: IsolationCluster): boolean {
  const { metadata, spec } = cluster;
  if (spec.syncMode !== "Pull" || metadata.deletionTimestamp !== undefined) return false;
  const ready = readyOf(cluster);
  return ready !== undefined && ready.reason !== "ClusterStatusNeverUpdated";
}

function silenceOf(cluster: IsolationCluster): readonly Silence[] {
  const ready = readyOf(cluster);
  const since = parseTime(ready?.lastTransitionTime ?? "");
  if (ready?.status !== "Unknown" || since === undefined) return [];
  return [{ name: cluster.metadata.name, since }];
}

/** The most that fell silent within one minute; of several such minutes the first. `silent` is in the order of time. */
function mostWithin(silent: readonly Silence[]): readonly Silence[] {
  let most: readonly Silence[] = [];
  let first = 0;
  for (const [last, { since }] of silent.entries()) {
    while (since - (silent[first]?.since ?? since) > WITHIN_MS) first += 1;
    if (last - first + 1 > most.length) most = silent.slice(first, last + 1);
  }
  return most;
}
