/**
 * Policies of both scopes as one type: a policy without a namespace is a ClusterPropagationPolicy.
 */
import type { ObjectKey, PropagationPolicy } from "@lifeboat/api";
import { type Precision, precisionOf } from "../selectors/resource-selector.ts";
import { CLUSTER_POLICY_ID, POLICY_ID } from "../../well-known.ts";

/** Both kinds have the same fields. */
export type Policy = PropagationPolicy;

export function isClusterPolicy({ metadata }: Policy): boolean {
  return (metadata.namespace ?? "") === "";
}

/** The permanent id by which claims name a policy; "" for one without an id. */
export function policyIdOf(policy: Policy): string {
  const label = isClusterPolicy(policy) ? CLUSTER_POLICY_ID : POLICY_ID;
  return policy.metadata.labels?.[label] ?? "";
}

/** How precisely a policy means a template, whatever its state; a namespaced one means only its own namespace. */
export function selection(policy: Policy, template: unknown): Precision {
  return precisionOf(template, policy.spec.resourceSelectors);
}

/** Whether a policy may claim anything: it is not being deleted and can be named. */
export function isActive(policy: Policy): boolean {
  return policy.metadata.deletionTimestamp === undefined && policyIdOf(policy) !== "";
}

export function isLazy({ spec }: Policy): boolean {
  return spec.activationPreference === "Lazy";
}

/** The override policies that must exist before this policy takes effect, as keys of their own scope. */
export function dependentOverridesOf({ metadata, spec }: Policy): readonly ObjectKey[] {
  const namespace = metadata.namespace ?? "";
  return (spec.dependentOverrides ?? []).map((name) => ({ namespace, name }));
}

/** How messages name a policy. */
export function describePolicy({ metadata: { namespace = "", name } }: Policy): string {
  return namespace === "" ? `cluster policy(${name})` : `policy(${namespace}/${name})`;
}
