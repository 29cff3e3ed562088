/**
 * ResourceBindings and ClusterResourceBindings as one collection: a key without a namespace is a ClusterResourceBinding.
 * The two differ in scope only, and no controller treats them differently.
 */
import {
  clusterResourceBindings,
  type KubeObject,
  type ObjectKey,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  type ControllerWatch,
  type EventRecorder,
  type RecordedEvent,
  watching,
} from "@lifeboat/kit";
import type { BindingIndex, PlaneInformers } from "./informers.ts";

/** Both kinds have the same fields. */
export type Binding = ResourceBinding;

/** The binding of this key, from the cache. */
export function bindingOf(informers: PlaneInformers, key: ObjectKey): Binding | undefined {
  return key.namespace === ""
    ? informers.clusterResourceBindings.get(key)
    : informers.resourceBindings.get(key);
}

/** All bindings, from the cache. */
export function allBindings(informers: PlaneInformers): readonly Binding[] {
  return [...informers.resourceBindings.list(), ...informers.clusterResourceBindings.list()];
}

/** The bindings of both scopes that an index finds. */
export function bindingsBy(
  informers: PlaneInformers,
  index: BindingIndex,
  value: string,
): readonly Binding[] {
  return [
    ...informers.resourceBindings.byIndex(index, value),
    ...informers.clusterResourceBindings.byIndex(index, value),
  ];
}

/** The resource through which a binding of this key is written. */
export function bindingResource(key: ObjectKey): Resource<Binding> {
  return key.namespace === "" ? clusterResourceBindings : resourceBindings;
}

/** The policy that claims a binding's template; undefined when it is gone. */
export function policyOf(
  informers: PlaneInformers,
  { metadata: { labels = {} } }: Binding,
): KubeObject | undefined {
  const own = labels[wellKnown.POLICY_ID];
  if (own !== undefined) return informers.propagationPolicies.byIndex("id", own)[0];
  const fleetwide = labels[wellKnown.CLUSTER_POLICY_ID];
  if (fleetwide === undefined) return undefined;
  return informers.clusterPropagationPolicies.byIndex("id", fleetwide)[0];
}

/** The binding that a Work belongs to, as far as it is there. */
export function bindingsOfWork(
  informers: PlaneInformers,
  work: Work | undefined,
): readonly Binding[] {
  const { labels = {} } = work?.metadata ?? {};
  const id = labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID];
  return id === undefined ? [] : bindingsBy(informers, "id", id);
}

/** Records what happened to a workload on its binding and on its template: people read either. */
export function recordOnWorkload(
  events: EventRecorder,
  binding: Binding,
  event: RecordedEvent,
): void {
  events.record(binding, event);
  const { apiVersion, kind, name, namespace, uid = "" } = binding.spec.resource;
  const metadata = { name, uid, ...(namespace !== undefined && { namespace }) };
  events.record({ apiVersion, kind, metadata }, event);
}

/** Maps the changes of bindings of both scopes to the keys they concern. */
export function watchingBindings(
  informers: PlaneInformers,
  keys: (old: Binding | undefined, now: Binding | undefined) => readonly ObjectKey[],
): readonly ControllerWatch[] {
  return [
    watching(informers.resourceBindings, keys),
    watching(informers.clusterResourceBindings, keys),
  ];
}
