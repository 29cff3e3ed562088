/** Who waits for a proof that a cluster is off: a workload that leaves it in mode Directly while it does not answer (D10). */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { isSilent, modeOf, operatorFence } from "@lifeboat/core/failover/eviction-tasks";

export function awaitsFence({ spec }: ResourceBinding, cluster: Cluster): boolean {
  if (!isSilent(cluster) || operatorFence(cluster) !== undefined) return false;
  return (spec.gracefulEvictionTasks ?? []).some(
    (task) => task.fromCluster === cluster.metadata.name && modeOf(task) === "Directly",
  );
}
