/**
 * The new status of a Cluster, from the present status and from new observations.
 *
 * 1. Only observed fields are written: every other field stays.
 * 2. Conditions of other writers, and remedyActions, are kept unchanged.
 * 3. Counts that change all the time (pods start and end) are `routine`, and their write can wait. A change that decisions
 *    depend on (a condition, a field that was unknown) is not.
 */
import { type Cluster, type Condition, equalJson, setCondition } from "@lifeboat/api";
import { deepFreeze, type Instant } from "@lifeboat/base";
import type { PlannedCondition } from "../../plan.ts";
import type { ApiEnablements } from "./enablements.ts";
import type { Streak } from "./ready.ts";

type ClusterStatus = NonNullable<Cluster["status"]>;

/** What is known of a member; absent: not observed. */
export interface ClusterKnowledge {
  readonly conditions: readonly PlannedCondition[];
  readonly kubernetesVersion?: string;
  readonly apiEnablements?: ApiEnablements;
  readonly nodeSummary?: NonNullable<ClusterStatus["nodeSummary"]>;
  readonly nodeAddresses?: NonNullable<ClusterStatus["nodeAddresses"]>;
  readonly resourceSummary?: NonNullable<ClusterStatus["resourceSummary"]>;
}

export interface StatusPlan {
  /** The status as it is to be; undefined: as it is. */
  readonly status?: ClusterStatus;
  /** Whether it may wait for the next regular time to write. */
  readonly routine: boolean;
}

/**
 * Whether a Cluster that has never been counted stays without a status for a moment: the scheduler would take it for one
 * without room, and give a burst of workloads to the clusters that were counted first. It waits for one count of nodes and
 * pods, and no longer than until the second probe: a member that forbids us to list its pods becomes Ready all the same.
 */
export function awaitsFirstCount(
  current: ClusterStatus | undefined,
  { observation, since, last }: Streak,
  hasRoom: boolean,
): boolean {
  if (current?.resourceSummary !== undefined || hasRoom) return false;
  return observation.status === "True" && last === since;
}

/** Nothing is to be written. */
export const UNCHANGED_STATUS: StatusPlan = Object.freeze({ routine: true });

/** Decides what the status of a Cluster is to report. */
export function decideClusterStatus(
  current: ClusterStatus | undefined,
  knowledge: ClusterKnowledge,
  now: Instant,
): StatusPlan {
  const { conditions: planned, ...known } = knowledge;
  const before: readonly Condition[] = current?.conditions ?? [];
  const conditions = planned.reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    before,
  );
  const status: ClusterStatus = {
    ...current,
    ...known,
    ...(conditions.length > 0 && { conditions }),
  };
  if (equalJson(status, current ?? {})) return UNCHANGED_STATUS;
  const isNews = Object.keys(known).some(
    (field) => current?.[field as keyof ClusterStatus] === undefined,
  );
  return { status: deepFreeze(status), routine: conditions === before && !isNews };
}
