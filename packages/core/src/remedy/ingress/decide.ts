/**
 * The status of a MultiClusterIngress, from the places of its backends and from the actions of Remedies.
 *
 * 1. A cluster is blocked when it has the action TrafficControl and at least one backend of the ingress.
 * 2. If that were every cluster with a confirmed backend, none is blocked, and the condition AllBackendsBlocked is True (D16): traffic
 *    to a sick cluster is better than none. A person's order is no exception.
 *    Of the clusters with a backend those count that have a ready one, as is published for load balancers; all count where nothing is
 *    published, or none is ready anywhere. A backend there is confirmed unless its cluster has not been Ready for `UNCONFIRMED_MS`: a
 *    shorter absence lifts no block. Where none is confirmed, all of them count: a control plane that reaches no member learns nothing
 *    of their backends.
 * 3. Only `serviceLocations`, `trafficBlockClusters` and the two conditions are written here; a provider writes `loadBalancer`, and
 *    every other field stays.
 * 4. The same view gives the same status, so at rest nothing is written.
 */
import {
  type Condition,
  equalJson,
  findCondition,
  type MultiClusterIngress,
  setCondition,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { addMs, deepFreeze, type Instant, parseTime } from "@lifeboat/base";
import { compareText } from "../../fields.ts";
import type { PlannedCondition, PlannedEvent } from "../../plan.ts";
import { hasAction } from "../actions/index.ts";
import type { RemedyCluster } from "../actions/wanted.ts";
import { type BackendView, locationsOf, type ServiceLocation } from "./locations.ts";
import { type IngressReason, ingressReasons } from "./reasons.ts";

export const ALL_BACKENDS_BLOCKED = "AllBackendsBlocked";
export const BACKENDS_LOCATED = "BackendsLocated";

/** So long a backend counts as confirmed in a cluster that is not Ready. */
const UNCONFIRMED_MS = 60_000;

export type IngressStatus = NonNullable<MultiClusterIngress["status"]>;

export interface IngressView {
  readonly ingress: Pick<MultiClusterIngress, "spec" | "status">;
  /** One for each of `backendServices`. */
  readonly backends: readonly BackendView[];
  readonly clusters: readonly RemedyCluster[];
  /** Those with a ready backend, as is published; absent: that is not known. */
  readonly ready?: ReadonlySet<string> | undefined;
}

export interface IngressPlan {
  /** The status to write; absent: it stays. */
  readonly status?: IngressStatus;
  readonly events: readonly PlannedEvent<IngressReason>[];
  /** When time alone may change the plan. */
  readonly checkAt?: Instant;
}

/** What to write into the status of an ingress. */
export function decideIngress(view: IngressView, now: Instant): IngressPlan {
  const { ingress, backends, clusters, ready } = view;
  const names = new Set(clusters.map(({ metadata }) => metadata.name));
  const serviceLocations = locationsOf(backends, ingress.status?.serviceLocations ?? [], (name) =>
    names.has(name),
  );
  const blocks = blockedClusters(serviceLocations, { clusters, ready }, now);
  const { blocked, checkAt } = blocks;
  const later = checkAt === undefined ? {} : { checkAt };
  const planned = [allBlocked(blocks), located(serviceLocations)];
  const before: readonly Condition[] = ingress.status?.conditions ?? [];
  const conditions = planned.reduce((list, one) => setCondition(list, one, now), before);
  const { trafficBlockClusters: had = [], ...rest } = ingress.status ?? {};
  const status: IngressStatus = {
    ...rest,
    serviceLocations,
    ...(blocked.length > 0 && { trafficBlockClusters: blocked }),
    conditions,
  };
  if (equalJson(status, ingress.status ?? {})) return { events: [], ...later };
  return { status: deepFreeze(status), events: eventsOf(had, blocked, before, planned), ...later };
}

interface Blocks {
  readonly blocked: readonly string[];
  /** Those that Remedies would block. */
  readonly wouldBlock: readonly string[];
  /** Those with a backend. */
  readonly located: number;
  /** Those of them of which a ready backend is known, or all if that is known of none. */
  readonly able: readonly string[];
  readonly checkAt?: Instant;
}

/** The clusters to block (D16). */
function blockedClusters(
  locations: readonly ServiceLocation[],
  { clusters, ready }: Pick<IngressView, "clusters" | "ready">,
  now: Instant,
): Blocks {
  const withBackend = new Set(locations.flatMap(({ clusters: some = [] }) => some));
  const located = clusters.filter(({ metadata }) => withBackend.has(metadata.name));
  const acting = located.filter((cluster) => hasAction(cluster, TRAFFIC_CONTROL));
  const isConfirmed = (cluster: RemedyCluster): boolean => {
    const until = confirmedUntil(cluster);
    return until === undefined || now < until;
  };
  const isReady = ({ metadata }: RemedyCluster): boolean => ready?.has(metadata.name) ?? true;
  const able = located.some(isReady) ? located.filter(isReady) : located;
  const confirmed = able.filter(isConfirmed);
  const counted = confirmed.length > 0 ? confirmed : able;
  const wouldBlock = acting.map(({ metadata }) => metadata.name).sort(compareText);
  const isAll = counted.every((cluster) => acting.includes(cluster));
  const ends = confirmed.flatMap((cluster) => confirmedUntil(cluster) ?? []);
  const blocked = isAll ? [] : wouldBlock;
  return {
    blocked,
    wouldBlock,
    located: located.length,
    able: able.map(({ metadata }) => metadata.name),
    ...(acting.length > 0 && ends.length > 0 && { checkAt: minimum(ends) }),
  };
}

/** Until when a backend counts as confirmed in a cluster; undefined: for as long as the cluster reports nothing else. */
function confirmedUntil({ status }: RemedyCluster): Instant | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  const since = parseTime(ready.lastTransitionTime);
  return since === undefined ? undefined : addMs(since, UNCONFIRMED_MS);
}

function minimum(times: readonly Instant[]): Instant {
  return times.reduce((least, one) => (one < least ? one : least));
}

function allBlocked(blocks: Blocks): PlannedCondition<IngressReason> {
  const { blocked, wouldBlock } = blocks;
  const isAll = wouldBlock.length > blocked.length;
  const reason: IngressReason = isAll
    ? whyAll(blocks)
    : blocked.length > 0
      ? "SomeBlocked"
      : "TrafficFlows";
  return {
    type: ALL_BACKENDS_BLOCKED,
    status: isAll ? "True" : "False",
    reason,
    message: ingressReasons[reason],
  };
}

function whyAll({ wouldBlock, located: all, able }: Blocks): IngressReason {
  if (wouldBlock.length === all) return "AllWouldBeBlocked";
  return able.every((name) => wouldBlock.includes(name))
    ? "OthersNotServing"
    : "OthersNotConfirmed";
}

const SHOWN = 5;

function located(locations: readonly ServiceLocation[]): PlannedCondition<IngressReason> {
  const missing = locations.filter(({ clusters = [] }) => clusters.length === 0);
  const reason: IngressReason =
    locations.length === 0
      ? "NoServiceBackend"
      : missing.length > 0
        ? "BackendMissing"
        : "AllLocated";
  const names = missing.slice(0, SHOWN).map(({ name }) => name);
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : "";
  const which = names.length === 0 ? "" : ` In no cluster: ${names.join(", ")}${more}.`;
  return {
    type: BACKENDS_LOCATED,
    status: reason === "AllLocated" ? "True" : "False",
    reason,
    message: `${ingressReasons[reason]}${which}`,
  };
}

function eventsOf(
  had: readonly string[],
  blocked: readonly string[],
  before: readonly Condition[],
  planned: readonly PlannedCondition<IngressReason>[],
): readonly PlannedEvent<IngressReason>[] {
  const added = blocked.filter((name) => !had.includes(name));
  const removed = had.filter((name) => !blocked.includes(name));
  const parts = [
    ...(added.length > 0 ? [`Traffic is taken away from ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`Traffic may go to ${removed.join(", ")} again`] : []),
  ];
  const reason: IngressReason = blocked.length > 0 ? "SomeBlocked" : "TrafficFlows";
  const wasAll = before.some(
    ({ type, status }) => type === ALL_BACKENDS_BLOCKED && status === "True",
  );
  const all = planned.find(
    ({ type, status }) => type === ALL_BACKENDS_BLOCKED && status === "True",
  );
  return [
    ...(parts.length > 0
      ? [{ type: "Normal", reason, message: `${parts.join(". ")}.` } as const]
      : []),
    ...(all !== undefined && !wasAll
      ? [{ type: "Warning", reason: all.reason, message: all.message } as const]
      : []),
  ];
}
