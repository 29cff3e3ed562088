/**
 * Which clusters hold copies of what a binding binds.
 *
 * 1. A cluster that is being left counts as long as the old copy is kept there.
 * 2. Every cluster is named once: the schedule in its order, then the clusters being left, then the others of a federated StatefulSet.
 */
import type { BindingSpec, ResourceBinding } from "@lifeboat/api";
import { resultOf } from "../../binding/index.ts";
import { readFederated } from "../../federated/record.ts";
import { workClustersOf } from "../works/work-clusters.ts";

/** A cluster and, for workloads, the replicas it was given. */
export type TargetCluster = NonNullable<BindingSpec["clusters"]>[number];

/**
 * Where the resource runs by its own schedule, including clusters that it has not left yet, and those in which a federated
 * StatefulSet has no replica now: its headless Service is there too.
 */
export function clustersInUse(binding: ResourceBinding): readonly TargetCluster[] {
  const clusters = new Map<string, TargetCluster>();
  for (const cluster of resultOf(binding))
    if (!clusters.has(cluster.name)) clusters.set(cluster.name, cluster);
  const alone = { ...binding, spec: { ...binding.spec, requiredBy: [] } };
  for (const name of workClustersOf(alone).leaving.keys()) clusters.set(name, { name });
  for (const name of readFederated(binding)?.clusters ?? [])
    if (!clusters.has(name)) clusters.set(name, { name });
  return [...clusters.values()];
}

/** Every cluster that holds a copy: by the resource's own schedule, or because a workload there needs it. */
export function clustersWithCopy(binding: ResourceBinding): ReadonlySet<string> {
  const { wanted, leaving } = workClustersOf(binding);
  return new Set([...wanted, ...leaving.keys()]);
}
