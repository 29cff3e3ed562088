/**
 * How many replicas of a workload are ready, as far as that is known: what a cluster that does not answer last reported is not
 * counted, and its share is unknown.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { resultOf } from "../binding/index.ts";
import { readFederated } from "../federated/record.ts";
import { isAnswering } from "../failover/eviction-tasks/fence.ts";
import { integerAt } from "../fields.ts";
import type { FindCluster } from "./strength.ts";

export interface ReadyReplicas {
  /** In clusters that answer. */
  readonly ready: number;
  /** The replicas of clusters that do not answer, or that are gone. */
  readonly unknown: number;
}

export function readyReplicas(binding: ResourceBinding, clusterOf: FindCluster): ReadyReplicas {
  const answers = (name: string): boolean => {
    const cluster = clusterOf(name);
    return cluster !== undefined && isAnswering(cluster);
  };
  const copies = binding.status?.aggregatedStatus ?? [];
  const ready = copies
    .filter(({ clusterName }) => answers(clusterName))
    .map(({ status }) => integerAt(status, "readyReplicas") ?? 0);
  const unknown = [...replicasByCluster(binding)]
    .filter(([name]) => !answers(name))
    .map(([, replicas]) => replicas);
  return { ready: sum(ready), unknown: sum(unknown) };
}

/** How many replicas each cluster is to run: of a federated StatefulSet its own share, of others its part of the result. */
export function replicasByCluster(binding: ResourceBinding): ReadonlyMap<string, number> {
  const record = readFederated(binding);
  if (record !== undefined) return record.shares;
  return new Map(resultOf(binding).map(({ name, replicas = 0 }) => [name, replicas]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
