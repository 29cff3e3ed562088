/**
 * The control plane's own kinds, each watched once for all controllers, with the indexes that lookups need: work is
 * proportional to what changed, so no controller walks a whole collection per event.
 */
import {
  type AnyObject,
  type Cluster,
  type ClusterOverridePolicy,
  clusterOverridePolicies,
  type ClusterPropagationPolicy,
  clusterPropagationPolicies,
  type ClusterResourceBinding,
  clusterResourceBindings,
  clusters,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  type Evacuation,
  type EvacuationBudget,
  evacuationBudgets,
  evacuations,
  type EvacuationSlice,
  evacuationSlices,
  formatKey,
  type KubeObject,
  type MultiClusterIngress,
  multiClusterIngresses,
  type MultiClusterService,
  multiClusterServices,
  type OverridePolicy,
  overridePolicies,
  priorityClasses,
  type PropagationPolicy,
  propagationPolicies,
  type Remedy,
  remedies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type ResourceInterpreterCustomization,
  resourceInterpreterCustomizations,
  type Work,
  type WorkloadRebalancer,
  workloadRebalancers,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { clusterNamesOf, tasksOf } from "@lifeboat/core/binding";
import { dependencyIndex } from "@lifeboat/core/propagation/dependencies";
import { takenIn } from "@lifeboat/core/propagation/observing";
import { dependentOverridesOf } from "@lifeboat/core/propagation/matching";
import { backendServices } from "@lifeboat/core/remedy/ingress";
import { bindingsBehind } from "@lifeboat/core/traffic";
import {
  type Client,
  type IndexFunction,
  Informer,
  type InformerOptions,
  type KitPorts,
  type Lease,
  leases,
} from "@lifeboat/kit";

/**
 * `cluster`: where copies run, leave, or are needed. `id`: the permanent id. `policy`: the claiming policy's id.
 * `dependency`: what the workload needs, see `identityIndex`. `requiredBy`: the key of a binding that needs this one.
 * `kind`: the kind of the template, see `kindIndexValue`.
 */
export type BindingIndex = "cluster" | "dependency" | "id" | "kind" | "policy" | "requiredBy";
/** `binding`: the permanent id of the Work's binding. `cluster`: the execution namespace. */
export type WorkIndex = "binding" | "cluster";
/**
 * `id`: the permanent id. `override`: an override policy it depends on, as a key of its own scope. `selects`: what it selects, see
 * `selectsIndex`.
 */
export type PolicyIndex = "id" | "override" | "selects";

/**
 * The value of a policy's `selects` index: where (a namespace, or "" for cluster policies), which kind, and which name
 * ("" for a selector without one). Most policies name what they select, and are found by that alone.
 */
export function selectsIndex(
  namespace: string,
  apiVersion: string,
  kind: string,
  name: string,
): string {
  return `${namespace} ${apiVersion} ${kind} ${name}`;
}

export interface PlaneInformers {
  readonly clusters: Informer<Cluster>;
  readonly propagationPolicies: Informer<PropagationPolicy>;
  readonly clusterPropagationPolicies: Informer<ClusterPropagationPolicy>;
  readonly overridePolicies: Informer<OverridePolicy>;
  readonly clusterOverridePolicies: Informer<ClusterOverridePolicy>;
  readonly clusterTaintPolicies: Informer<ClusterTaintPolicy>;
  readonly resourceBindings: Informer<ResourceBinding>;
  readonly clusterResourceBindings: Informer<ClusterResourceBinding>;
  readonly works: Informer<Work>;
  readonly customizations: Informer<ResourceInterpreterCustomization>;
  readonly workloadRebalancers: Informer<WorkloadRebalancer>;
  readonly evacuations: Informer<Evacuation>;
  readonly evacuationSlices: Informer<EvacuationSlice>;
  readonly evacuationBudgets: Informer<EvacuationBudget>;
  /** The order in which workloads leave a faulty cluster. */
  readonly priorityClasses: Informer<AnyObject>;
  /** The Leases of Pull clusters, by the clusters' names. */
  readonly leases: Informer<Lease>;
  /** The Leases of detectors. Index `cluster`: the cluster that they are in. */
  readonly detectorLeases: Informer<Lease>;
  readonly remedies: Informer<Remedy>;
  /**
   * By `namespace`; by `backend`: the Services that it names, see `backendIndexValue`; by `binding`: the key of a binding whose
   * copies get its requests.
   */
  readonly multiClusterIngresses: Informer<MultiClusterIngress>;
  readonly multiClusterServices: Informer<MultiClusterService>;
  /** The Leases of load balancers. */
  readonly trafficLeases: Informer<Lease>;
}

/** How collections of the control plane are read. */
export type Reading = Pick<InformerOptions<AnyObject>, "streamingList">;

/** Builds the informers; each is a service of its own that has to run. */
export function createPlaneInformers(
  ports: KitPorts,
  plane: Client,
  reading: Reading = {},
): PlaneInformers {
  const informer = <T extends KubeObject>(
    resource: Resource<T>,
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
  ): Informer<T> => new Informer<T>(ports, plane, resource, { ...reading, indexes });
  return Object.freeze({
    clusters: informer(clusters),
    propagationPolicies: informer(propagationPolicies, policyIndexes),
    clusterPropagationPolicies: informer(clusterPropagationPolicies, policyIndexes),
    overridePolicies: informer(overridePolicies, {
      namespace: ({ metadata }) => [metadata.namespace ?? ""],
    }),
    clusterOverridePolicies: informer(clusterOverridePolicies),
    clusterTaintPolicies: informer(clusterTaintPolicies),
    resourceBindings: informer(resourceBindings, bindingIndexes),
    clusterResourceBindings: informer(clusterResourceBindings, bindingIndexes),
    works: new Informer<Work>(ports, plane, works, {
      ...reading,
      indexes: workIndexes,
      transform: takenIn,
    }),
    customizations: informer(resourceInterpreterCustomizations),
    workloadRebalancers: informer(workloadRebalancers),
    evacuations: informer(evacuations),
    evacuationSlices: informer(evacuationSlices),
    evacuationBudgets: informer(evacuationBudgets),
    priorityClasses: informer(priorityClasses),
    leases: new Informer<Lease>(ports, plane, leases, {
      ...reading,
      namespace: wellKnown.CLUSTER_NAMESPACE,
    }),
    detectorLeases: new Informer<Lease>(ports, plane, leases, {
      ...reading,
      labelSelector: wellKnown.DETECTOR_OF,
      indexes: { cluster: labelValues(wellKnown.DETECTOR_OF) },
    }),
    remedies: informer(remedies),
    multiClusterIngresses: informer(multiClusterIngresses, {
      namespace: ({ metadata }) => [metadata.namespace ?? ""],
      backend: (ingress) =>
        backendServices(ingress).map((name) =>
          backendIndexValue(ingress.metadata.namespace ?? "", name),
        ),
      binding: bindingsBehind,
    }),
    multiClusterServices: informer(multiClusterServices),
    trafficLeases: new Informer<Lease>(ports, plane, leases, {
      ...reading,
      namespace: wellKnown.OWN_NAMESPACE,
      labelSelector: wellKnown.TRAFFIC_PROVIDER,
    }),
  });
}

/** The value of an ingress's index `backend`. */
export function backendIndexValue(namespace: string, service: string): string {
  return `${namespace}/${service}`;
}

const bindingIndexes: Readonly<Record<BindingIndex, IndexFunction<ResourceBinding>>> = {
  cluster: bindingClusters,
  dependency: dependencyIndex,
  id: labelValues(wellKnown.BINDING_ID, wellKnown.CLUSTER_BINDING_ID),
  kind: kindsOf,
  policy: labelValues(wellKnown.POLICY_ID, wellKnown.CLUSTER_POLICY_ID),
  requiredBy: ({ spec }) =>
    (spec.requiredBy ?? []).map(({ namespace = "", name }) => formatKey({ namespace, name })),
};

const policyIndexes: Readonly<Record<PolicyIndex, IndexFunction<PropagationPolicy>>> = {
  id: labelValues(wellKnown.POLICY_ID, wellKnown.CLUSTER_POLICY_ID),
  override: (policy) => dependentOverridesOf(policy).map(formatKey),
  selects: ({ metadata, spec }) => [
    ...new Set(
      spec.resourceSelectors.map(({ apiVersion, kind, name = "" }) =>
        selectsIndex(metadata.namespace ?? "", apiVersion, kind, name),
      ),
    ),
  ],
};

const workIndexes: Readonly<Record<WorkIndex, IndexFunction<Work>>> = {
  binding: labelValues(wellKnown.BINDING_ID, wellKnown.CLUSTER_BINDING_ID),
  cluster: (work) => [work.metadata.namespace ?? ""],
};

/** The clusters where a binding's copies run, leave, or are needed by others. */
export function bindingClusters(binding: ResourceBinding): readonly string[] {
  const names = new Set(clusterNamesOf(binding));
  for (const { fromCluster } of tasksOf(binding)) names.add(fromCluster);
  for (const { clusters: needed } of binding.spec.requiredBy ?? [])
    for (const { name } of needed ?? []) names.add(name);
  return [...names];
}

/**
 * What the index `kind` of bindings is asked with: the templates of a kind, everywhere or in one namespace; without a
 * kind, all templates of the namespace.
 */
export function kindIndexValue(
  kind: { readonly apiVersion: string; readonly kind: string } | undefined,
  namespace: string | undefined,
): string {
  return `${kind?.apiVersion ?? ""} ${kind?.kind ?? ""} ${namespace ?? "*"}`;
}

function kindsOf({ spec: { resource } }: ResourceBinding): readonly string[] {
  const { namespace = "" } = resource;
  return [
    kindIndexValue(resource, undefined),
    kindIndexValue(resource, namespace),
    kindIndexValue(undefined, namespace),
  ];
}

function labelValues(...keys: readonly string[]): IndexFunction<KubeObject> {
  return ({ metadata }) =>
    keys.flatMap((key) => {
      const value = metadata.labels?.[key];
      return value === undefined ? [] : [value];
    });
}
