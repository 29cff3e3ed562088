/**
 * ResourceBindings and ClusterResourceBindings as one collection: a key without a namespace is a ClusterResourceBinding.
 * The two differ in scope only, and no controller treats them differently.
 */
import {
  clusterResourceBindings,
  type ObjectKey,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { type ControllerWatch, watching } from "@lifeboat/kit";
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
