/** Workloads that wait for a proof that a cluster is off: they leave it in mode Directly while it does not answer (D10). */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { isDirect, taskOf } from "@lifeboat/core/binding";
import { isSilent, operatorFence } from "@lifeboat/core/failover/eviction-tasks";

export function awaitsFence(binding: ResourceBinding, cluster: Cluster): boolean {
  if (!isSilent(cluster) || operatorFence(cluster) !== undefined) return false;
  const task = taskOf(binding, cluster.metadata.name);
  return task !== undefined && isDirect(task);
}
