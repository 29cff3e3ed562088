/** What a cluster would look like after it died: which taints the policies would add and when, decided by `decideTaints`. */
import { type Cluster, type ClusterTaintPolicy, setCondition } from "@lifeboat/api";
import { type Instant, plainMoment } from "@lifeboat/base";
import { evictingTaints, type EvictingTaint } from "../failover/evacuation/affected.ts";
import { decideTaints } from "../failover/taints/taints.ts";
import { TAINT_POLICIES } from "../well-known.ts";

/** How long a failure lasts before a cluster is not Ready. */
export interface NoticeTimes {
  /** Of a Push cluster: how long it must fail its probes. */
  readonly failureThresholdMs: number;
  /** Of a Pull cluster: how long its agent must be silent, from its last sign of life. */
  readonly monitorGraceMs: number;
}

/** Windows that follow each other: a taint of one policy may be a condition of no other, so few steps suffice. */
const MAX_STEPS = 50;

export interface DeadCluster {
  readonly cluster: Cluster;
  /** The evicting taints that it would get, with their times. */
  readonly taints: readonly EvictingTaint[];
}

/** From the failure until the cluster is not Ready, at the earliest. A Pull cluster dies with its agent, so nothing probes it. */
export function noticedAfterMs({ spec }: Pick<Cluster, "spec">, times: NoticeTimes): number {
  return spec.syncMode === "Pull" ? times.monitorGraceMs : times.failureThresholdMs;
}

/** The cluster as the taint policies would make it after it was found dead, whatever the gate. */
export function deadCluster(
  source: Cluster,
  taintPolicies: readonly ClusterTaintPolicy[],
  now: Instant,
): DeadCluster {
  const status = source.spec.syncMode === "Pull" ? "Unknown" : "False";
  const condition = { type: "Ready", status, reason: "Dead", message: "" } as const;
  const conditions = setCondition(source.status?.conditions, condition, now);
  let cluster: Cluster = { ...source, status: { ...source.status, conditions } };
  let at = now;
  for (let step = 0; step < MAX_STEPS; step++) {
    const passed: never[] = [];
    const view = { cluster, policies: taintPolicies, passed, unwatched: false, failover: true };
    const { commands, checkAgainAt } = decideTaints(view, plainMoment(at));
    for (const { taints, record } of commands) cluster = tainted(cluster, taints, record);
    if (checkAgainAt === undefined || checkAgainAt <= at) {
      if (commands.length === 0) break;
    } else at = checkAgainAt;
  }
  return { cluster, taints: evictingTaints(cluster) };
}

function tainted(
  cluster: Cluster,
  taints: NonNullable<Cluster["spec"]["taints"]>,
  record: string | undefined,
): Cluster {
  const { [TAINT_POLICIES]: _former, ...others } = cluster.metadata.annotations ?? {};
  const annotations = record === undefined ? others : { ...others, [TAINT_POLICIES]: record };
  return {
    ...cluster,
    metadata: { ...cluster.metadata, annotations },
    spec: { ...cluster.spec, taints },
  };
}
