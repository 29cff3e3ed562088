/** How oracles read objects: small words over what the ledger holds. */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, type Held, parseObject } from "../disk/ledger.ts";
import { clustersOf, type Truth } from "./truth.ts";

/** The tables of bindings, of both scopes. */
export const BINDINGS: readonly string[] = [
  "work.karmada.io/resourcebindings",
  "work.karmada.io/clusterresourcebindings",
];

/** The tables of workloads that have replicas. */
export const WORKLOADS: readonly string[] = ["apps/deployments", "apps/statefulsets"];

export function isGoing({ metadata }: { readonly metadata: AnyObject["metadata"] }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether this change is the first that takes the object away. */
export function isGoingNow({ type, bytes }: Committed["row"], previous: Held): boolean {
  if (isGoing(previous.object)) return false;
  return type === "DELETED" || isGoing(parseObject(bytes));
}

/** The clusters that a binding is leaving. */
export function tasksOf({ spec }: ResourceBinding): ReadonlySet<string> {
  return new Set((spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster));
}

/** The names of the clusters that bear a NoExecute taint. */
export function faultyClusters(truth: Truth): ReadonlySet<string> {
  const faulty = truth
    .clusters()
    .filter(({ spec }) => (spec.taints ?? []).some(({ effect }) => effect === "NoExecute"));
  return new Set(faulty.map(nameOfCluster));
}

/** Whether the policy of a workload of this name asks for mode Directly. */
export function isDirectly(truth: Truth, name: string): boolean {
  return truth
    .policies()
    .filter(({ spec }) => spec.resourceSelectors.some((selector) => selector.name === name))
    .some(({ spec }) => spec.failover?.cluster?.purgeMode === "Directly");
}

/**
 * A workload that is nowhere else and can go nowhere else stays on a cluster that leaves, until a person decides (D9, D22):
 * the cluster waits, and the binding names it no more.
 */
export function isLastCopy(truth: Truth, cluster: string, binding: ResourceBinding): boolean {
  const leaving = truth
    .clusters()
    .some(({ metadata }) => metadata.name === cluster && metadata.deletionTimestamp !== undefined);
  return leaving && clustersOf(binding).size === 0;
}

/** The objects that a Work holds. */
export function manifestsOf(work: AnyObject | { readonly spec?: unknown }): readonly AnyObject[] {
  const { spec } = work as {
    readonly spec?: { readonly workload?: { readonly manifests?: readonly AnyObject[] } };
  };
  return spec?.workload?.manifests ?? [];
}

export function identityOf({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

export function nameOfCluster({ metadata }: Cluster): string {
  return metadata.name;
}

export function nameOf({ metadata }: ResourceBinding): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

export function isClaimedBy({ metadata }: AnyObject, policy: string): boolean {
  return metadata.annotations?.[wellKnown.POLICY_NAME] === policy;
}

/** Whether a binding's reference is to this object. */
export function isOf(
  resource: ResourceBinding["spec"]["resource"],
  kind: string,
  namespace: string | undefined,
  name: string,
): boolean {
  return resource.kind === kind && resource.namespace === namespace && resource.name === name;
}
