/**
 * The status of a MultiClusterIngress, from the places of its backends and from the actions of Remedies.
 *
 * 1. A cluster is blocked when it has the action TrafficControl and at least one backend of the ingress.
 * 2. If that were every cluster with a backend, none is blocked, and the condition AllBackendsBlocked is True (D16): traffic to a sick
 *    cluster is better than none. A person's order is no exception.
 * 3. Only `serviceLocations`, `trafficBlockClusters` and the two conditions are written here; a provider writes `loadBalancer`, and
 *    every other field stays.
 * 4. The same view gives the same status, so at rest nothing is written.
 */
import {
  type Condition,
  equalJson,
  type MultiClusterIngress,
  setCondition,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { deepFreeze, type Instant } from "@lifeboat/base";
import { compareText } from "../../fields.ts";
import type { PlannedCondition, PlannedEvent } from "../../plan.ts";
import { hasAction } from "../actions/index.ts";
import type { RemedyCluster } from "../actions/wanted.ts";
import { type BackendView, locationsOf, type ServiceLocation } from "./locations.ts";
import { type IngressReason, ingressReasons } from "./reasons.ts";

export const ALL_BACKENDS_BLOCKED = "AllBackendsBlocked";
export const BACKENDS_LOCATED = "BackendsLocated";

export type IngressStatus = NonNullable<MultiClusterIngress["status"]>;

export interface IngressView {
  readonly ingress: Pick<MultiClusterIngress, "spec" | "status">;
  /** One for each of `backendServices`. */
  readonly backends: readonly BackendView[];
  readonly clusters: readonly RemedyCluster[];
}

export interface IngressPlan {
  /** The status to write; absent: it stays. */
  readonly status?: IngressStatus;
  readonly events: readonly PlannedEvent<IngressReason>[];
}

/** What to write into the status of an ingress. */
export function decideIngress(view: IngressView, now: Instant): IngressPlan {
  const { ingress, backends, clusters } = view;
  const names = new Set(clusters.map(({ metadata }) => metadata.name));
  const serviceLocations = locationsOf(backends, ingress.status?.serviceLocations ?? [], (name) =>
    names.has(name),
  );
  const { blocked, wouldBlock } = blockedClusters(serviceLocations, clusters);
  const planned = [allBlocked(blocked, wouldBlock), located(serviceLocations)];
  const before: readonly Condition[] = ingress.status?.conditions ?? [];
  const conditions = planned.reduce((list, one) => setCondition(list, one, now), before);
  const { trafficBlockClusters: had = [], ...rest } = ingress.status ?? {};
  const status: IngressStatus = {
    ...rest,
    serviceLocations,
    ...(blocked.length > 0 && { trafficBlockClusters: blocked }),
    conditions,
  };
  if (equalJson(status, ingress.status ?? {})) return { events: [] };
  return { status: deepFreeze(status), events: eventsOf(had, blocked, before, planned) };
}

/** The clusters to block (D16), and those that Remedies would block. */
function blockedClusters(
  locations: readonly ServiceLocation[],
  clusters: readonly RemedyCluster[],
): { readonly blocked: readonly string[]; readonly wouldBlock: readonly string[] } {
  const withBackend = new Set(locations.flatMap(({ clusters: some = [] }) => some));
  const wouldBlock = clusters
    .filter((cluster) => withBackend.has(cluster.metadata.name))
    .filter((cluster) => hasAction(cluster, TRAFFIC_CONTROL))
    .map(({ metadata }) => metadata.name)
    .sort(compareText);
  const blocked = wouldBlock.length === withBackend.size ? [] : wouldBlock;
  return { blocked, wouldBlock };
}

function allBlocked(
  blocked: readonly string[],
  wouldBlock: readonly string[],
): PlannedCondition<IngressReason> {
  const isAll = wouldBlock.length > blocked.length;
  const reason: IngressReason = isAll
    ? "AllWouldBeBlocked"
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
  const all = planned.find((one) => one.reason === "AllWouldBeBlocked");
  return [
    ...(parts.length > 0
      ? [{ type: "Normal", reason, message: `${parts.join(". ")}.` } as const]
      : []),
    ...(all !== undefined && !wasAll
      ? [{ type: "Warning", reason: all.reason, message: all.message } as const]
      : []),
  ];
}
