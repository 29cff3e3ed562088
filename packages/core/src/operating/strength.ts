/**
 * What a person is called for: workloads that run with less than was asked for, and workloads that go on only after a person has
 * acted.
 *
 * 1. A workload is at full strength when the result gives it all its replicas and every copy of the result is healthy in a cluster
 *    that answers. What a silent cluster last reported does not count.
 * 2. Only what has replicas is counted: there is no rule when objects of other kinds are whole.
 */
import type { Cluster, Evacuation, ResourceBinding } from "@lifeboat/api";
import { resultOf, tasksOf } from "../binding/index.ts";
import {
  awaitsFence,
  fenceOf,
  type FenceTrust,
  isAnswering,
  isSilent,
} from "../failover/eviction-tasks/fence.ts";

export interface Strength {
  readonly isUnderStrength: boolean;
  /** Whether it waits for a proof that a silent cluster is off (`lifeboat fence`). */
  readonly awaitsFence: boolean;
}

export type FindCluster = (name: string) => Cluster | undefined;

type CopyShortfall = "ClusterGone" | "ClusterSilent" | "NotReported" | "NotHealthy";

/** Why a workload is not at full strength: replicas without a place, or a copy that does not count. */
export type Shortfall =
  | { readonly reason: "NotPlaced"; readonly given: number; readonly wanted: number }
  | { readonly reason: CopyShortfall; readonly cluster: string };

/** Whether it has replicas, and is meant to stay. */
function isCounted({ metadata, spec }: ResourceBinding): boolean {
  const hasReplicas = (spec.replicas ?? 0) > 0 || (spec.components ?? []).length > 0;
  return hasReplicas && metadata.deletionTimestamp === undefined;
}

/** undefined: it is not counted. */
export function strengthOf(
  binding: ResourceBinding,
  clusterOf: FindCluster,
  trust: FenceTrust,
): Strength | undefined {
  if (!isCounted(binding)) return undefined;
  return {
    isUnderStrength: shortfallsOf(binding, clusterOf).length > 0,
    awaitsFence: tasksOf(binding).some(({ fromCluster }) => {
      const cluster = clusterOf(fromCluster);
      return cluster !== undefined && awaitsFence(binding, cluster, trust);
    }),
  };
}

/** What a workload lacks; nothing: it is at full strength, or it is not counted. */
export function shortfallsOf(
  binding: ResourceBinding,
  clusterOf: FindCluster,
): readonly Shortfall[] {
  if (!isCounted(binding)) return [];
  const wanted = binding.spec.replicas ?? 0;
  const result = resultOf(binding);
  const given = result.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
  const isPlaced = result.length > 0 && given >= wanted;
  return [
    ...(isPlaced ? [] : [{ reason: "NotPlaced" as const, given, wanted }]),
    ...result.flatMap(({ name }) => {
      const reason = copyShortfall(binding, name, clusterOf(name));
      return reason === undefined ? [] : [{ reason, cluster: name }];
    }),
  ];
}

function copyShortfall(
  { status }: ResourceBinding,
  name: string,
  cluster: Cluster | undefined,
): CopyShortfall | undefined {
  if (cluster === undefined) return "ClusterGone";
  if (!isAnswering(cluster)) return "ClusterSilent";
  const copy = (status?.aggregatedStatus ?? []).find(({ clusterName }) => clusterName === name);
  if (copy === undefined) return "NotReported";
  return copy.health === "Healthy" ? undefined : "NotHealthy";
}

/** Whether a change of a Cluster may change the strength of the workloads there. */
export function mattersForStrength(
  old: Cluster | undefined,
  now: Cluster | undefined,
  trust: FenceTrust,
): boolean {
  return signOf(old, trust) !== signOf(now, trust);
}

function signOf(cluster: Cluster | undefined, trust: FenceTrust): string {
  if (cluster === undefined) return "";
  if (isAnswering(cluster)) return "answers";
  if (!isSilent(cluster)) return "unknown";
  return fenceOf(cluster, trust) === undefined ? "silent" : "off";
}

/** Why entries of an evacuation go on only after a person has acted, as one word each. */
export const PERSON_REASONS = ["Fence", "NoTarget", "Paused", "Braked", "Approval"] as const;
export type PersonReason = (typeof PERSON_REASONS)[number];

/** How many entries of an evacuation wait for a person, and why. One that is over has none. */
export function waitingIn({ status }: Evacuation): ReadonlyMap<PersonReason, number> {
  if (status?.finishedAt !== undefined) return new Map();
  const { held = 0, queued = 0, paused = 0, awaitingApproval = 0 } = status?.entries ?? {};
  const waiting = new Map<PersonReason, number>([["NoTarget", held]]);
  if (awaitingApproval > 0) waiting.set("Approval", awaitingApproval);
  if (status?.phase === "Paused") waiting.set("Paused", queued);
  else if (paused > 0) waiting.set("Paused", paused);
  if (status?.phase === "Braked") waiting.set("Braked", queued);
  return waiting;
}
