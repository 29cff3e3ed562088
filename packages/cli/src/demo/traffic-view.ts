/** What the story of traffic shows and tells: where requests go, and why, at one moment. */
import {
  type Cluster,
  clusters,
  findCondition,
  type MultiClusterIngress,
  multiClusterIngresses,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { hasAction } from "@lifeboat/core/remedy/actions";
import type { Client } from "@lifeboat/kit";
import { columns } from "../wrap.ts";
import type { Milestone } from "./director.ts";
import type { RequestCounts } from "./requests.ts";
import { REMEDY, WEB } from "./traffic-application.ts";

export interface TrafficView {
  readonly clusters: readonly Cluster[];
  readonly ingress: MultiClusterIngress;
  readonly requests: RequestCounts;
  /** In monotonic milliseconds. */
  readonly at: number;
}

/** The cluster in which names stop resolving, and since when they do or do not, in monotonic milliseconds. */
export interface Sickness {
  readonly cluster: string;
  readonly since: number;
  readonly isOver: boolean;
}

export async function takeTrafficView(
  plane: Client,
  requests: () => RequestCounts,
  monotonic: () => number,
): Promise<TrafficView> {
  const [found, ingress] = await Promise.all([
    plane.list(clusters),
    plane.get(multiClusterIngresses, WEB),
  ]);
  return { clusters: found.items, ingress, requests: requests(), at: monotonic() };
}

/** A row per cluster: what is reported of it, whether it gets requests, and how many it answered. */
export function trafficTable({ clusters: all, ingress, requests }: TrafficView): readonly string[] {
  const blocked = ingress.status?.trafficBlockClusters ?? [];
  const rows = all.map((cluster) => {
    const { name } = cluster.metadata;
    const { total = 0, recent = 0 } = requests.byCluster.get(name) ?? {};
    const names = { True: "resolve", False: "do not resolve", Unknown: "unknown" } as const;
    const status = namesOf(cluster) ?? "Unknown";
    const traffic = blocked.includes(name) ? "blocked" : "serving";
    return [name, names[status], traffic, String(total), String(recent)];
  });
  return [
    ...columns(["CLUSTER", "NAMES", "TRAFFIC", "ANSWERS", "LAST SECOND"], rows),
    `${requests.answered + requests.failed} requests, ${requests.failed} failed`,
  ];
}

function namesOf({ status }: Cluster): "True" | "False" | "Unknown" | undefined {
  return findCondition(status?.conditions, wellKnown.NAME_RESOLUTION)?.status;
}

/** Whether every cluster answered within the last second. */
export function isServedByAll({ clusters: all, requests }: TrafficView): boolean {
  return all.every(({ metadata }) => (requests.byCluster.get(metadata.name)?.recent ?? 0) > 0);
}

/** Everything that holds at this moment, in the order in which it comes about. */
export function trafficMilestones(view: TrafficView, sickness: Sickness): readonly Milestone[] {
  const cluster = view.clusters.find(({ metadata }) => metadata.name === sickness.cluster);
  if (cluster === undefined) return [];
  return sickness.isOver
    ? whenWell(view, cluster, sickness)
    : whenSick(view, cluster, sickness.since);
}

function whenSick(view: TrafficView, cluster: Cluster, since: number): readonly Milestone[] {
  const { name } = cluster.metadata;
  const count = view.requests.byCluster.get(name);
  const isBlocked = isBlockedIn(view, name);
  const lastMs = Math.max(0, Math.round((count?.lastSentAt ?? since) - since));
  return [
    ...when(namesOf(cluster) === "False", "sick", `names do not resolve in ${name}`),
    ...when(
      hasAction(cluster, TRAFFIC_CONTROL),
      "acts",
      `the Remedy ${REMEDY} acts: ${name} gets the action ${TRAFFIC_CONTROL}`,
    ),
    ...when(isBlocked, "blocked", `the ingress ${WEB.name} blocks ${name}`),
    ...when(
      isBlocked && count?.recent === 0,
      "left",
      `${name} gets no request; the last one came ${lastMs} ms after the report`,
    ),
  ];
}

function whenWell(view: TrafficView, cluster: Cluster, { since }: Sickness): readonly Milestone[] {
  const { name } = cluster.metadata;
  const isOpen = !isBlockedIn(view, name);
  const count = view.requests.byCluster.get(name);
  return [
    ...when(namesOf(cluster) === "True", "well", `names resolve in ${name} again`),
    ...when(
      !hasAction(cluster, TRAFFIC_CONTROL),
      "rests",
      `the Remedy ${REMEDY} takes its action back`,
    ),
    ...when(isOpen, "open", `the ingress ${WEB.name} does not block ${name} any more`),
    ...when(isOpen && (count?.lastSentAt ?? 0) > since, "back", `${name} answers requests again`),
  ];
}

function isBlockedIn({ ingress }: TrafficView, cluster: string): boolean {
  return ingress.status?.trafficBlockClusters?.includes(cluster) === true;
}

function when(holds: boolean, id: string, text: string): readonly Milestone[] {
  return holds ? [{ id, text }] : [];
}
