/** Roles that gather the rules of others, by labels: what their rules come to. Written back by housekeeping. */
import {
  type AnyObject,
  equalJson,
  labelSelectorFrom,
  type LabelSelector,
  matchesLabels,
} from "@lifeboat/api";
import type { PolicyRule } from "../authorizer.ts";
import { rulesIn } from "./resources.ts";

/** The rules that an aggregated role should have, each once, in order of the names of its parts; undefined when it has them. */
export function aggregatedRules(
  role: AnyObject,
  all: readonly AnyObject[],
): readonly PolicyRule[] | undefined {
  if (!isAggregated(role)) return undefined;
  const parts = all
    .filter((part) => gathers(role, part))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules = new Map<string, PolicyRule>();
  for (const part of parts)
    for (const rule of rulesIn(part)) {
      const text = JSON.stringify(rule);
      if (!rules.has(text)) rules.set(text, rule);
    }
  const wanted = [...rules.values()];
  return equalJson(wanted, rulesIn(role)) ? undefined : wanted;
}

/** Whether the rules of a ClusterRole are part of those of an aggregated one. No role is part of itself. */
export function gathers(role: AnyObject, part: AnyObject | undefined): boolean {
  if (part === undefined || part.metadata.name === role.metadata.name) return false;
  const labels = part.metadata.labels ?? {};
  return (selectorsOf(role) ?? []).some((selector) =>
    matchesLabels(labelSelectorFrom(selector), labels),
  );
}

export function isAggregated(role: AnyObject | undefined): boolean {
  return role !== undefined && selectorsOf(role) !== undefined;
}

/** Undefined for a role that gathers nothing. */
function selectorsOf(role: AnyObject): readonly LabelSelector[] | undefined {
  const { aggregationRule } = role as unknown as {
    readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] } | null;
  };
  return aggregationRule?.clusterRoleSelectors;
}
