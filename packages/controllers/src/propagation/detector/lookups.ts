/**
 * From templates to policies and back, by index: what a reconcile needs, and which objects a change concerns.
 *
 * A change of a policy concerns the templates it has claimed, those whose bindings still name it, and those it selects.
 * Only for a selector without a name are the objects of its kind (in its namespace) walked, once per change.
 */
import { type AnyObject, formatKey, type ObjectKey } from "@lifeboat/api";
import {
  type Claim,
  claimIdsOf,
  dependentOverridesOf,
  isActive,
  isClusterPolicy,
  type Policy,
  policyIdOf,
  selection,
} from "@lifeboat/core/propagation/matching";
import { precision } from "@lifeboat/core/propagation/selectors";
import { type Binding, bindingsBy } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { selectsIndex } from "../../context/informers.ts";
import { keyOfTemplate, templateKey } from "./template-key.ts";

type Sources = Pick<PlaneContext, "informers" | "templates">;

/** The policy of this key: without a namespace a ClusterPropagationPolicy. */
export function policyOf({ informers }: Sources, key: ObjectKey): Policy | undefined {
  return key.namespace === ""
    ? informers.clusterPropagationPolicies.get(key)
    : informers.propagationPolicies.get(key);
}

/** The policies that bear this permanent id: one, unless it was copied. */
export function policiesWithId({ informers }: Sources, id: string): readonly Policy[] {
  return [
    ...informers.propagationPolicies.byIndex("id", id),
    ...informers.clusterPropagationPolicies.byIndex("id", id),
  ];
}

/** The policy under the name that a claim gives, whatever its id. */
export function claimerOf(sources: Sources, claim: Claim | undefined): Policy | undefined {
  return claim === undefined ? undefined : policyOf(sources, claim);
}

/** The policies of both scopes that can mean a template: by its name, or by a selector of its kind without a name. */
export function policiesFor({ informers }: Sources, template: AnyObject): readonly Policy[] {
  const { apiVersion, kind, metadata } = template;
  const { name, namespace = "" } = metadata;
  const found = new Set<Policy>();
  for (const named of [name, ""]) {
    const wide = selectsIndex("", apiVersion, kind, named);
    const own = selectsIndex(namespace, apiVersion, kind, named);
    for (const policy of informers.clusterPropagationPolicies.byIndex("selects", wide))
      found.add(policy);
    if (namespace !== "")
      for (const policy of informers.propagationPolicies.byIndex("selects", own)) found.add(policy);
  }
  return [...found];
}

/** The names of the override policies that a policy depends on and that do not exist. */
export function missingOverrides({ informers }: Sources, policy: Policy): readonly string[] {
  const present = isClusterPolicy(policy)
    ? informers.clusterOverridePolicies
    : informers.overridePolicies;
  return dependentOverridesOf(policy)
    .filter((key) => present.get(key) === undefined)
    .map(({ name }) => name);
}

/** The templates that a policy selects, each once for each selector that means it. */
export function* selectedBy({ templates }: Sources, policy: Policy): Generator<AnyObject> {
  const own = policy.metadata.namespace ?? "";
  for (const { apiVersion, kind, namespace = "", name = "" } of policy.spec.resourceSelectors) {
    const where = namespace === "" ? own : namespace;
    const isNamespaced = templates.resourceOf(apiVersion, kind)?.namespaced === true;
    if (name !== "" && (where !== "" || !isNamespaced)) {
      const named = templates.get({ apiVersion, kind, namespace: where, name });
      if (named !== undefined) yield named;
      continue;
    }
    for (const object of templates.list(apiVersion, kind, where === "" ? undefined : where))
      if (selection(policy, object) > precision.none) yield object;
  }
}

/** The keys of the templates that a policy's coming, change or going concerns. */
export function templatesConcerned(
  sources: Sources,
  old: Policy | undefined,
  now: Policy | undefined,
): readonly ObjectKey[] {
  if (old !== undefined && now !== undefined && !isOtherPolicy(old, now)) return [];
  const keys = new Map<string, ObjectKey>();
  const add = (key: ObjectKey): unknown => keys.set(formatKey(key), key);
  const ids = new Set([old, now].flatMap((policy) => (policy ? [policyIdOf(policy)] : [])));
  for (const id of ids) {
    if (id === "") continue;
    for (const template of sources.templates.claimedBy(id)) add(keyOfTemplate(template));
    for (const { spec } of bindingsBy(sources.informers, "policy", id))
      add(templateKey(spec.resource));
  }
  if (now !== undefined && isActive(now))
    for (const template of selectedBy(sources, now)) add(keyOfTemplate(template));
  return [...keys.values()];
}

/** The keys of the templates that wait for an override policy, or lose it. */
export function templatesDependingOn(sources: Sources, override: ObjectKey): readonly ObjectKey[] {
  const { informers } = sources;
  const policies =
    override.namespace === ""
      ? informers.clusterPropagationPolicies
      : informers.propagationPolicies;
  return policies
    .byIndex("override", formatKey(override))
    .flatMap((policy) => templatesConcerned(sources, undefined, policy));
}

/** The keys of the claimed templates of a kind. */
export function claimedOfKind(
  { templates }: Sources,
  apiVersion: string,
  kind: string,
): readonly ObjectKey[] {
  const claimed = templates.list(apiVersion, kind).filter((it) => claimIdsOf(it).length > 0);
  return claimed.map(keyOfTemplate);
}

/** The template that a binding is about, where it can be seen. */
export function templateOf({ templates }: Sources, { spec }: Binding): AnyObject | undefined {
  return templates.get(spec.resource);
}

function isOtherPolicy(old: Policy, now: Policy): boolean {
  return (
    old.metadata.generation !== now.metadata.generation ||
    old.metadata.deletionTimestamp !== now.metadata.deletionTimestamp ||
    policyIdOf(old) !== policyIdOf(now)
  );
}
