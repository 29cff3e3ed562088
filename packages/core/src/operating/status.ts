/**
 * What failover does at this moment, as a person has to know it: one sentence that is true, and what is known only as of a time.
 *
 * 1. What stops everything comes before what is going on: a rate means nothing while the gate is off or every cluster is
 *    down.
 * 2. A cluster that is not Ready counts as down here whether or not a policy has tainted it yet: "0 failed" is no good news then.
 * 3. What a cluster that does not answer last reported is shown with its age.
 */
import { type Cluster, type Evacuation, findCondition, type ResourceBinding } from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import {
  type Isolation,
  isolationCondition,
  isolationOf,
} from "../failover/evacuation/isolation.ts";
import {
  fleetHealth,
  type Rate,
  rateOf,
  type RateOptions,
  type SetRate,
} from "../failover/evacuation/rate.ts";
import { isAnswering } from "../failover/eviction-tasks/fence.ts";
import { type FleetStateReason, fleetStateReasons } from "./reasons.ts";

export interface FailoverStateView {
  /** Whether controllers have ever run. */
  readonly hasControllers: boolean;
  /** The gate Failover. */
  readonly failover: boolean;
  /** Whether a policy adds a taint that moves workloads. */
  readonly hasEvictingPolicy: boolean;
  /** The fleet's switch, `EvacuationBudget/fleet`. */
  readonly isPaused: boolean;
  /** `spec.isolationAgreedAt` of the same. */
  readonly isolationAgreedAt?: string | undefined;
  /** `spec.rateOverride` of the same, while it holds (see `overrideOf`). */
  readonly rateOverride?: SetRate | undefined;
  readonly rates: RateOptions;
  readonly clusters: readonly Cluster[];
  readonly evacuations: readonly Evacuation[];
  /** Of both scopes. */
  readonly bindings: readonly ResourceBinding[];
}

/** What is known of a cluster only as of the time when it last answered. */
export interface StaleCluster {
  readonly cluster: string;
  /** undefined: it never answered, or that is not known. */
  readonly since: Instant | undefined;
  /** How many workloads have a copy there whose state is of that time. */
  readonly workloads: number;
}

export interface FailoverState {
  readonly reason: FleetStateReason;
  /** One sentence. */
  readonly message: string;
  /** Whether workloads are moved by themselves now, at the rate. */
  readonly mayMove: boolean;
  readonly rate: Rate;
  readonly notReady: number;
  readonly stale: readonly StaleCluster[];
}

export function failoverState(view: FailoverStateView): FailoverState {
  const isolation = isolationOf(view.clusters, view.isolationAgreedAt);
  const { isIsolated } = isolation;
  const { rateOverride: override } = view;
  const rate = rateOf({ ...fleetHealth(view.clusters), isIsolated, override }, view.rates);
  const notReady = view.clusters.filter((one) => !isAnswering(one));
  const [reason, detail] = reasonOf(view, rate, notReady, isolation);
  return {
    reason,
    message: detail ?? fleetStateReasons[reason],
    mayMove: MOVING.has(reason),
    rate,
    notReady: notReady.length,
    stale: notReady.map((one) => staleCluster(one, view.bindings)),
  };
}

const MOVING: ReadonlySet<FleetStateReason> = new Set([
  "Moving",
  "NotReady",
  "Quiet",
  "Held",
  "AwaitingApproval",
  "Braked",
]);

/** A copy's state on a cluster that does not answer is as old as that; undefined: the cluster answers. */
export function staleSince(cluster: Cluster): { readonly since: Instant | undefined } | undefined {
  if (isAnswering(cluster)) return undefined;
  const ready = findCondition(cluster.status?.conditions, "Ready");
  return { since: parseTime(ready?.lastTransitionTime ?? "") };
}

function reasonOf(
  view: FailoverStateView,
  rate: Rate,
  notReady: readonly Cluster[],
  isolation: Isolation,
): readonly [FleetStateReason, string?] {
  const { clusters } = view;
  if (!view.hasControllers) return ["NoControllers"];
  if (clusters.length === 0) return ["NoClusters"];
  if (clusters.every(isJoining)) return ["Joining"];
  if (notReady.length === clusters.length) return ["EverythingDown"];
  const open = view.evacuations.filter(({ status }) => status?.finishedAt === undefined);
  if (!view.failover && open.every(isStopped)) return ["GateOff"];
  if (view.isPaused) return ["AllPaused"];
  if (isolation.isIsolated) return ["MayBeIsolated", isolationCondition(isolation).message];
  const waiting = open.filter((one) => countOf(one, "queued") + countOf(one, "held") > 0);
  if (waiting.length > 0 && rate.perSecond === 0)
    return ["Braked", `Nothing moves: ${lower(rateText(rate))}`];
  if (open.length === 0) {
    if (!view.hasEvictingPolicy) return ["NoPolicy"];
    return notReady.length > 0 ? ["NotReady", notReadyText(notReady)] : ["Quiet"];
  }
  const stopped = open.filter(isStopped);
  if (stopped.length === open.length)
    return [
      "Paused",
      `Nothing moves: ${namesOf(stopped)} ${stopped.length === 1 ? "is" : "are"} paused.`,
    ];
  const held = sum(open, "held");
  const left = sum(open, "queued") + sum(open, "evicted");
  const awaiting = sum(open, "awaitingApproval");
  if (left + held === 0 && awaiting > 0)
    return [
      "AwaitingApproval",
      `${counted(awaiting)} to leave ${clustersOf(open)} only after a person's approval.`,
    ];
  if (left === 0 && held > 0)
    return [
      "Held",
      `${counted(held)} cannot leave for now: \`lifeboat evacuations show\` shows why.`,
    ];
  const rest =
    (held === 0 ? "" : `, ${held} held`) + (awaiting === 0 ? "" : `, ${awaiting} not approved`);
  return ["Moving", `${counted(left)} to leave ${clustersOf(open)}${rest}.`];
}

/** Whether it was not asked yet: a cluster that is down has a condition about it. */
function isJoining({ status }: Cluster): boolean {
  return findCondition(status?.conditions, "Ready") === undefined;
}

function isStopped({ status }: Evacuation): boolean {
  return status?.phase === "Paused";
}

function clustersOf(all: readonly Evacuation[]): string {
  return [...new Set(all.map(({ spec }) => spec.cluster))].join(", ");
}

type Count = "queued" | "held" | "evicted" | "awaitingApproval";

function countOf({ status }: Evacuation, which: Count): number {
  return status?.entries?.[which] ?? 0;
}

function sum(all: readonly Evacuation[], which: Count): number {
  return all.reduce((total, one) => total + countOf(one, which), 0);
}

function counted(workloads: number): string {
  return `${workloads} workload${workloads === 1 ? "" : "s"}`;
}

function namesOf(all: readonly Evacuation[]): string {
  return all.map(({ metadata }) => metadata.name).join(", ");
}

function notReadyText(clusters: readonly Cluster[]): string {
  const names = clusters.map(({ metadata }) => metadata.name).join(", ");
  const verb = clusters.length === 1 ? "is" : "are";
  return `${names} ${verb} not Ready; nothing has to leave now.`;
}

const RATE_TEXTS: Readonly<Record<Rate["reason"], string>> = {
  FleetHealthy: "Enough of the fleet is healthy.",
  FleetUnhealthy: "Too much of a large fleet has failed.",
  FleetTooUnhealthy: "Too much of a small fleet has failed.",
  PlaneMayBeIsolated:
    "More than half of the Pull clusters fell silent within a minute: this control plane may be cut off.",
  EverythingFailed: "Every cluster looks failed: this control plane may be cut off.",
  RateZero: "The configured rate is 0.",
  SetByPerson: "A person set the rate.",
};

function rateText({ reason }: Rate): string {
  return RATE_TEXTS[reason];
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function staleCluster(cluster: Cluster, bindings: readonly ResourceBinding[]): StaleCluster {
  const { name } = cluster.metadata;
  const there = bindings.filter(({ status }) =>
    (status?.aggregatedStatus ?? []).some(({ clusterName }) => clusterName === name),
  );
  return { cluster: name, since: staleSince(cluster)?.since, workloads: there.length };
}
