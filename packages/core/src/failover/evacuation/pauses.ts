/**
 * What people paused beside a single evacuation: clusters and namespaces, in `EvacuationBudget/fleet`. Such a pause also holds for
 * evacuations to come, and for drains. An object without a namespace is in no paused namespace.
 */
import type { EvacuationBudget } from "@lifeboat/api";

type BudgetSpec = EvacuationBudget["spec"];

/** Whether a person stopped all that leaves this cluster. */
export function isClusterPaused(spec: BudgetSpec | undefined, cluster: string): boolean {
  return spec?.pausedClusters?.includes(cluster) ?? false;
}

/** Whether a person stopped what leaves of this namespace. */
export function isNamespacePaused(spec: BudgetSpec | undefined, namespace: string): boolean {
  return namespace !== "" && (spec?.pausedNamespaces?.includes(namespace) ?? false);
}

/** What a person pauses or lets go on: `all`, one cluster, or one namespace. */
export type PauseTarget =
  | { readonly of: "all" }
  | { readonly of: "cluster" | "namespace"; readonly name: string };

/** The order with this pause set or taken back; the same object when it was so before. */
export function withPause(spec: BudgetSpec, target: PauseTarget, paused: boolean): BudgetSpec {
  if (target.of === "all") return spec.paused === paused ? spec : { ...spec, paused };
  const field = target.of === "cluster" ? "pausedClusters" : "pausedNamespaces";
  const { [field]: before = [], ...others } = spec;
  if (before.includes(target.name) === paused) return spec;
  const names = paused
    ? [...before, target.name].toSorted()
    : before.filter((name) => name !== target.name);
  return names.length === 0 ? others : { ...others, [field]: names };
}
