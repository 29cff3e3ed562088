/**
 * A cluster as a person sees it in the list of the fleet: how it is, since when, what will happen to it by time alone, how many
 * workloads are there, how much is free, and what part it plays.
 *
 * What a cluster that does not answer last reported is not counted: how many of its workloads are whole, and how much is free, is
 * unknown then.
 */
import {
  type Cluster,
  type ClusterTaintPolicy,
  type Evacuation,
  findCondition,
  type ResourceBinding,
} from "@lifeboat/api";
import { type Instant, parseTime, plainMoment } from "@lifeboat/base";
import { isDrained, resultOf } from "../binding/index.ts";
import { isFailed } from "../failover/evacuation/rate.ts";
import { fenceOf, type FenceTrust } from "../failover/eviction-tasks/fence.ts";
import { type PendingTaint, pendingTaints } from "../failover/taints/taints.ts";
import { type Headroom, headroomOf } from "./headroom.ts";
import { type FindCluster, shortfallsOf, strengthOf } from "./strength.ts";

/** NotReady: a probe found it so. Silent: nothing is heard of it. Unprobed: nothing was ever heard of it. */
export type ClusterHealth = "Ready" | "NotReady" | "Silent" | "Unprobed";

export type ClusterRole =
  | "leaving"
  | "fenced"
  | "drained"
  | "evacuating"
  | "failed"
  | "closed"
  | "takes work";

export interface ClusterRow {
  readonly name: string;
  readonly health: ClusterHealth;
  /** Why, as one word. */
  readonly reason: string;
  /** Since when its health is as it is; undefined: not known. */
  readonly since: Instant | undefined;
  readonly taints: NonNullable<Cluster["spec"]["taints"]>;
  readonly pending: readonly PendingTaint[];
  /** Workloads with replicas that are placed there. */
  readonly workloads: number;
  /** How many of them are healthy there; undefined: not known. */
  readonly healthy: number | undefined;
  /** Undefined: not known. */
  readonly headroom: Headroom | undefined;
  /** Whether it bears a taint that moves workloads away, other than by a person's drain. */
  readonly isFailed: boolean;
  readonly role: ClusterRole;
}

export interface ClusterRowsView {
  readonly clusters: readonly Cluster[];
  readonly policies: readonly ClusterTaintPolicy[];
  readonly evacuations: readonly Evacuation[];
  /** Of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  readonly trust: FenceTrust;
  /** The gate Failover. */
  readonly failover: boolean;
}

export function clusterRows(view: ClusterRowsView, now: Instant): readonly ClusterRow[] {
  const { clusters, policies, failover, trust } = view;
  const byName = new Map(clusters.map((one) => [one.metadata.name, one]));
  const counts = countWorkloads(view, (name) => byName.get(name));
  const evacuated = new Set(
    view.evacuations
      .filter(({ status }) => status?.finishedAt === undefined)
      .map(({ spec }) => spec.cluster),
  );
  return clusters.map((cluster) => {
    const { name } = cluster.metadata;
    const ready = findCondition(cluster.status?.conditions, "Ready");
    const health = clusterHealth(cluster);
    const { placed = 0, healthy = 0 } = counts.get(name) ?? {};
    const taintView = { cluster, policies, passed: [], unwatched: false, failover };
    return {
      name,
      health,
      reason: ready?.reason ?? "",
      since: parseTime(ready?.lastTransitionTime ?? ""),
      taints: cluster.spec.taints ?? [],
      pending: pendingTaints(taintView, plainMoment(now)),
      workloads: placed,
      healthy: health === "Ready" ? healthy : undefined,
      headroom: health === "Ready" ? headroomOf(cluster) : undefined,
      isFailed: isFailed(cluster) && !isDrained(cluster),
      role: roleOf(cluster, trust, evacuated.has(name)),
    };
  });
}

export function clusterHealth({ status }: Cluster): ClusterHealth {
  const ready = findCondition(status?.conditions, "Ready");
  if (ready === undefined) return "Unprobed";
  if (ready.status === "True") return "Ready";
  return ready.status === "False" ? "NotReady" : "Silent";
}

/** What part it plays, as far as its own object and `isEvacuated` (an evacuation of it is under way) show. */
export function roleOf(cluster: Cluster, trust: FenceTrust, isEvacuated: boolean): ClusterRole {
  if (cluster.metadata.deletionTimestamp !== undefined) return "leaving";
  if (fenceOf(cluster, trust) !== undefined) return "fenced";
  if (isEvacuated) return "evacuating";
  if (isDrained(cluster)) return "drained";
  if (isFailed(cluster)) return "failed";
  const isClosed = (cluster.spec.taints ?? []).some(({ effect }) => effect === "NoSchedule");
  return isClosed || clusterHealth(cluster) !== "Ready" ? "closed" : "takes work";
}

interface Counts {
  placed: number;
  healthy: number;
}

function countWorkloads(
  { bindings, trust }: ClusterRowsView,
  clusterOf: FindCluster,
): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const binding of bindings) {
    if (strengthOf(binding, clusterOf, trust) === undefined) continue;
    const lacking = new Set(
      shortfallsOf(binding, clusterOf).flatMap((one) => ("cluster" in one ? [one.cluster] : [])),
    );
    for (const { name } of resultOf(binding)) {
      const count = counts.get(name) ?? { placed: 0, healthy: 0 };
      count.placed += 1;
      if (!lacking.has(name)) count.healthy += 1;
      counts.set(name, count);
    }
  }
  return counts;
}
