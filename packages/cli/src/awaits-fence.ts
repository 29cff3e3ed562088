/** Workloads that wait for a proof that a cluster is off: they leave it in mode Directly while it does not answer (D10). */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import { isDirect, taskOf } from "@lifeboat/core/binding";
import { fenceOf, type FenceTrust, isSilent } from "@lifeboat/core/failover/eviction-tasks";

export function awaitsFence(
  binding: ResourceBinding,
  cluster: Cluster,
  settings: PublishedSettings | undefined,
): boolean {
  if (!isSilent(cluster) || fenceOf(cluster, fenceTrust(settings)) !== undefined) return false;
  const task = taskOf(binding, cluster.metadata.name);
  return task !== undefined && isDirect(task);
}

/** What the control plane takes for a proof that a cluster is off. */
export function fenceTrust(settings: PublishedSettings | undefined): FenceTrust {
  return { trustFencedCondition: settings?.["trust-fenced-condition"] === "true" };
}
