/**
 * Which override rules hold for one copy, in which order.
 *
 * 1. Policies for all namespaces come before those of the template's own namespace, so the closer one has the last word.
 * 2. Within each, the less precise come first (all, labels, name), then by name; rules in the order of their list.
 * 3. A rule holds when its target is absent or means the cluster.
 */
import { compareText, type Fields, fieldsAt, listAt, textAt, valueAt } from "../../fields.ts";
import { matchesCluster } from "../selectors/cluster-affinity.ts";
import { precision, precisionOf } from "../selectors/resource-selector.ts";
import { applyOverriders } from "./overriders.ts";

/** What is recorded of a rule that was applied. */
export interface AppliedOverride {
  readonly policyName: string;
  readonly overriders: Fields;
}

/** The rules of these policies that hold for the template in the cluster, in the order to apply them. */
export function overridesFor(
  template: Fields,
  cluster: object,
  policies: readonly object[],
): AppliedOverride[] {
  return policies
    .map((policy) => ({ policy, precision: precisionFor(template, policy) }))
    .filter((candidate) => candidate.precision !== precision.none)
    .sort((a, b) => a.precision - b.precision || compareText(nameOf(a.policy), nameOf(b.policy)))
    .flatMap(({ policy }) => rulesFor(cluster, policy));
}

export function applyOverrides(object: Fields, overrides: readonly AppliedOverride[]): Fields {
  return overrides.reduce((result, { overriders }) => applyOverriders(result, overriders), object);
}

function precisionFor(template: Fields, policy: object): number {
  const namespace = textAt(policy, "metadata", "namespace");
  if (namespace !== "" && namespace !== textAt(template, "metadata", "namespace"))
    return precision.none;
  const selectors = listAt(policy, "spec", "resourceSelectors");
  return selectors.length === 0 ? precision.all : precisionOf(template, selectors);
}

function rulesFor(cluster: object, policy: object): AppliedOverride[] {
  return rulesOf(fieldsAt(policy, "spec"))
    .filter((rule) => matchesCluster(cluster, valueAt(rule, "targetCluster")))
    .map((rule) => ({ policyName: nameOf(policy), overriders: fieldsAt(rule, "overriders") }));
}

/** Older policies state a single rule without a list. */
function rulesOf(spec: Fields): readonly unknown[] {
  const rules = listAt(spec, "overrideRules");
  return rules.length > 0 || valueAt(spec, "overriders") === undefined ? rules : [spec];
}

function nameOf(policy: object): string {
  return textAt(policy, "metadata", "name");
}
