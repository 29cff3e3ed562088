/**
 * Where the backends of a MultiClusterIngress are: one entry per Service that a rule or the default backend names, sorted.
 *
 * 1. A cluster has a Service when the Service's binding reports there a copy that was applied.
 * 2. A cluster that had it keeps it as long as the binding reports any copy there: neither a member that is silent nor an update
 *    that failed removes a copy that serves.
 * 3. A MultiClusterService of the same name narrows the clusters to those that provide it.
 * 4. A Service in no cluster has an empty entry, so that a provider sees the difference between unknown and none.
 */
import type { MultiClusterIngress, MultiClusterService, ResourceBinding } from "@lifeboat/api";
import { compareText } from "../../fields.ts";

export interface ServiceLocation {
  readonly name: string;
  readonly clusters?: readonly string[];
}

/** What is known of one Service. */
export interface BackendView {
  readonly name: string;
  /** The binding of the Service; absent: it is not propagated. */
  readonly binding?: Pick<ResourceBinding, "status"> | undefined;
  /** The MultiClusterService of the same name, if there is one. */
  readonly exposure?: Pick<MultiClusterService, "spec"> | undefined;
}

/** The Services that an ingress names, sorted. */
export function backendServices({ spec }: Pick<MultiClusterIngress, "spec">): readonly string[] {
  const backends = [
    spec.defaultBackend,
    ...(spec.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ];
  const names = backends.flatMap((backend) => {
    const name = backend?.service?.name ?? "";
    return name === "" ? [] : [name];
  });
  return [...new Set(names)].sort(compareText);
}

/** One entry per Service, in the order of the views. */
export function locationsOf(
  backends: readonly BackendView[],
  before: readonly ServiceLocation[],
  isCluster: (name: string) => boolean,
): readonly ServiceLocation[] {
  return backends.map(({ name, binding, exposure }) => {
    const had = new Set(before.find((one) => one.name === name)?.clusters);
    const provides = providersOf(exposure);
    const clusters = (binding?.status?.aggregatedStatus ?? [])
      .filter(({ clusterName, applied }) => applied === true || had.has(clusterName))
      .map(({ clusterName }) => clusterName)
      .filter((cluster) => isCluster(cluster) && (provides?.has(cluster) ?? true));
    return { name, clusters: [...new Set(clusters)].sort(compareText) };
  });
}

/** The clusters that a MultiClusterService names as providers; undefined: all. Three spellings, the newest first. */
export function providersOf(
  exposure: Pick<MultiClusterService, "spec"> | undefined,
): ReadonlySet<string> | undefined {
  const { providerClusters, serviceProvisionClusters, range } = exposure?.spec ?? {};
  const spellings = [
    (providerClusters ?? []).map(({ name }) => name),
    serviceProvisionClusters ?? [],
    range?.clusterNames ?? [],
  ];
  const names = spellings.find((some) => some.length > 0);
  return names === undefined ? undefined : new Set(names);
}
