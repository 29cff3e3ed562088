/** How oracles read objects: small words over what the ledger holds. */
import {
  type AnyObject,
  type Cluster,
  type EvictionTask,
  findCondition,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { executionNamespace, workName } from "@lifeboat/core/propagation/rendering";
import { type Committed, type Held, parseObject } from "../disk/ledger.ts";
import type { Judge } from "./oracle.ts";
import { bindingId, CLUSTERS, clustersOf, tableOf, type Truth, WORKS } from "./truth.ts";

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

/**
 * A workload that is nowhere else and can go nowhere else stays on a cluster that leaves, until a person decides (D9, D22):
 * the cluster waits, and the binding names it no more.
 */
export function isLastCopy(truth: Truth, cluster: string, binding: ResourceBinding): boolean {
  const leaving = truth
    .clusters()
    .some(({ metadata }) => metadata.name === cluster && metadata.deletionTimestamp !== undefined);
  return leaving && (binding.spec.clusters ?? []).length === 0;
}

/** Whether no policy claims it any more: it stays where it is, and nobody places it anew. */
export function isUnclaimed({ metadata: { labels = {} } }: ResourceBinding): boolean {
  return [wellKnown.POLICY_ID, wellKnown.CLUSTER_POLICY_ID].every(
    (key) => labels[key] === undefined,
  );
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

/** An object before and after a change; undefined: it was not there, or is not there any more. */
export interface Pair<T> {
  readonly before: T | undefined;
  readonly now: T | undefined;
}

export function pairOf<T = ResourceBinding>({ row, previous }: Committed): Pair<T> {
  return {
    before: previous?.object as unknown as T | undefined,
    now: row.type === "DELETED" ? undefined : (parseObject(row.bytes) as unknown as T),
  };
}

/** Both sides of a change of a binding that is there before and after it, and is to stay. */
export interface Edit {
  readonly before: ResourceBinding;
  readonly now: ResourceBinding;
}

export function editOf(change: Committed): Edit | undefined {
  const { before, now } = pairOf(change);
  if (before === undefined || now === undefined || isGoing(now)) return undefined;
  return { before, now };
}

/** Judges the edits of bindings, and nothing else. */
export function onEdit(judge: (edit: Edit, change: Committed) => readonly string[]): Judge {
  return (change) => {
    const edit = editOf(change);
    return edit === undefined ? [] : judge(edit, change);
  };
}

export type TaskMode = "Gracefully" | "Directly" | "Never";

/** Immediately and Graciously are old spellings. */
export function modeOf({ purgeMode = "Gracefully" }: EvictionTask): TaskMode {
  if (purgeMode === "Directly" || purgeMode === "Immediately") return "Directly";
  return purgeMode === "Never" ? "Never" : "Gracefully";
}

export function evictionsOf({ spec }: ResourceBinding): readonly EvictionTask[] {
  return spec.gracefulEvictionTasks ?? [];
}

/** The tasks that are in the one and not in the other. */
export function tasksWithout(
  these: ResourceBinding,
  those: ResourceBinding,
): readonly EvictionTask[] {
  const there = tasksOf(those);
  return evictionsOf(these).filter(({ fromCluster }) => !there.has(fromCluster));
}

/**
 * The tasks that an edit made, also in the place of one for the same cluster: a task of mode Never stays when the workload
 * returns, and a new one takes its place when it leaves again. What only put a cluster back and took it out again made none.
 */
export function tasksBegun({ before, now }: Edit): readonly EvictionTask[] {
  const former = new Map(evictionsOf(before).map((task) => [task.fromCluster, task]));
  const left = resultWithout(before, now);
  return evictionsOf(now).filter(({ fromCluster, creationTimestamp }) => {
    const old = former.get(fromCluster);
    if (old === undefined) return true;
    return left.includes(fromCluster) && old.creationTimestamp !== creationTimestamp;
  });
}

/** Where the schedule says that it runs, with the replicas there. */
export function resultOf({ spec }: ResourceBinding): ReadonlyMap<string, number> {
  return new Map((spec.clusters ?? []).map(({ name, replicas = 0 }) => [name, replicas]));
}

/** The clusters that the one result has and the other has not. */
export function resultWithout(these: ResourceBinding, those: ResourceBinding): readonly string[] {
  const there = resultOf(those);
  return [...resultOf(these).keys()].filter((name) => !there.has(name));
}

/** Whether a task ended because its eviction was taken back: its cluster returns to the result with the same write. */
export function isTakenBack(task: EvictionTask, { before, now }: Edit): boolean {
  return resultWithout(now, before).includes(task.fromCluster);
}

/** The replicas of a result. */
export function sumOf(binding: ResourceBinding): number {
  return [...resultOf(binding).values()].reduce((sum, replicas) => sum + replicas, 0);
}

export type Placement = ResourceBinding["spec"]["placement"];

/** Whether a placement shares replicas out among clusters. */
export function isDividing(placement: Placement): boolean {
  return placement?.replicaScheduling?.replicaSchedulingType === "Divided";
}

/** Whether the replicas of a workload are shared out among clusters. */
export function isDivided({ spec }: ResourceBinding): boolean {
  return spec.replicas !== undefined && isDividing(spec.placement);
}

/** Constraints do not apply to a division by fixed weights. */
export function ignoresSpread(placement: Placement): boolean {
  return (
    isDividing(placement) && placement?.replicaScheduling?.replicaDivisionPreference === "Weighted"
  );
}

/**
 * Whether the clusters that stay without this one are as many as its constraints allow and take no more: divided replicas have
 * nowhere to go then, because a cluster that holds some is not exchanged for another.
 */
export function isFullWithout(
  { spec }: ResourceBinding,
  cluster: string,
  open: readonly string[],
): boolean {
  const { placement, clusters = [] } = spec;
  const { maxGroups = 0 } = placement?.spreadConstraints?.[0] ?? {};
  if (maxGroups === 0 || !isDividing(placement) || ignoresSpread(placement)) return false;
  const closed = clusters.filter(({ name }) => name !== cluster && !open.includes(name));
  return closed.length >= maxGroups;
}

/** Whether a person places it: nothing is promised then (D7). */
export function isOfPerson({ circumstances }: Truth, { spec }: ResourceBinding): boolean {
  return circumstances.placedByHand.has(spec.resource.name);
}

/** Whether it ever left a cluster because it failed there. It returns when clusters change (D23). */
export function hasFailed({ metadata, spec }: ResourceBinding): boolean {
  return (
    spec.failover?.application !== undefined &&
    metadata.annotations?.[wellKnown.FORMER_RESULT] !== undefined
  );
}

export function clusterNamed(truth: Truth, name: string): Cluster | undefined {
  return truth.ledger.find("plane", CLUSTERS, `/${name}`)?.object as unknown as Cluster | undefined;
}

/** Whether the cluster is there to stay. */
export function isStaying(cluster: Cluster | undefined): cluster is Cluster {
  return cluster !== undefined && !isGoing(cluster);
}

/** The key of the Work of a binding in a cluster. */
export function workKeyOf({ spec }: ResourceBinding, cluster: string): string {
  const { kind, namespace = "", name } = spec.resource;
  return `${executionNamespace(cluster)}/${workName({ kind, namespace, name })}`;
}

export function workOf(truth: Truth, binding: ResourceBinding, cluster: string): Work | undefined {
  const work = truth.ledger.find("plane", WORKS, workKeyOf(binding, cluster))?.object;
  if (work === undefined || bindingId(work) !== bindingId(binding)) return undefined;
  return work as unknown as Work;
}

/** Whether a member whose API lies has, or had, something to say about the workload. */
export function isLiedAbout(truth: Truth, binding: ResourceBinding): boolean {
  const { liars, forgers } = truth.circumstances;
  const accounted = clustersOf(binding);
  return [...liars]
    .filter((liar) => !forgers.has(liar))
    .some((liar) => accounted.has(liar) || workOf(truth, binding, liar) !== undefined);
}

/** The groups of clusters that it may be in, the first first. */
export function groupsOf({ spec: { placement } }: ResourceBinding) {
  return placement?.clusterAffinities ?? [placement?.clusterAffinity ?? {}];
}

/** Whether as many clusters as the workload needs stay, bear no taint and are such that it may go there. */
export function hasTarget(truth: Truth, binding: ResourceBinding): boolean {
  const { placement } = binding.spec;
  const spread = ignoresSpread(placement) ? undefined : placement?.spreadConstraints?.[0];
  return freeFor(truth, binding) >= Math.max(1, spread?.minGroups ?? 1);
}

/** How many clusters stay, bear no taint and are such that it may go there, in the best of its groups. */
export function freeFor(truth: Truth, binding: ResourceBinding): number {
  const free = truth
    .clusters()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ spec: { taints = [] } }) => taints.length === 0)
    .map(({ metadata }) => metadata.name);
  const counts = groupsOf(binding).map(
    ({ clusterNames }) => free.filter((name) => clusterNames?.includes(name) ?? true).length,
  );
  return Math.max(0, ...counts);
}

/** Whether another workload needs it in a cluster. */
export function isRequiredIn({ spec }: ResourceBinding, cluster: string): boolean {
  const needs = (spec.requiredBy ?? []).flatMap(({ clusters = [] }) => clusters);
  return needs.some(({ name }) => name === cluster);
}

/** The binding that a Work, or a copy in a member, is of. */
export function bindingOf(truth: Truth, object: AnyObject): ResourceBinding | undefined {
  const { annotations = {} } = object.metadata;
  const name = annotations[wellKnown.BINDING_NAME];
  const clusterScoped = annotations[wellKnown.CLUSTER_BINDING_NAME];
  const [namespaced = "", global = ""] = BINDINGS;
  const held =
    name === undefined
      ? truth.ledger.find("plane", global, `/${clusterScoped ?? ""}`)
      : truth.ledger.find(
          "plane",
          namespaced,
          `${annotations[wellKnown.BINDING_NAMESPACE] ?? ""}/${name}`,
        );
  return held?.object as unknown as ResourceBinding | undefined;
}

/** Whether it is of a StatefulSet whose copies bear the names of their clusters (D15). */
export function isFederated({ metadata }: ResourceBinding): boolean {
  return metadata.annotations?.[wellKnown.FEDERATED_SHARES] !== undefined;
}

/** Whether it is of such a StatefulSet, or of the Service of one of its pods: nothing moves either. */
export function neverMoves(binding: ResourceBinding): boolean {
  const { annotations = {} } = binding.metadata;
  return isFederated(binding) || annotations[wellKnown.FEDERATED_SET] !== undefined;
}

function objectKey({ spec: { resource } }: ResourceBinding): string {
  return `${resource.namespace ?? ""}/${resource.name}`;
}

/** What a binding is of. */
export function templateOf(truth: Truth, binding: ResourceBinding): AnyObject | undefined {
  const table = tableOf(binding.spec.resource.kind);
  return truth.ledger.find("plane", table, objectKey(binding))?.object;
}

/** Our copy of a workload in a member. */
export function copyOf(
  truth: Truth,
  binding: ResourceBinding,
  member: string,
): AnyObject | undefined {
  const table = tableOf(binding.spec.resource.kind);
  const own = isFederated(binding) ? `-${member}` : "";
  const object = truth.ledger.find(member, table, `${objectKey(binding)}${own}`)?.object;
  return object?.metadata.labels?.[wellKnown.MANAGED] === "true" ? object : undefined;
}

/** Whether a workload in a member has a replica that is ready, and is there to stay. */
export function isServing(object: AnyObject | undefined): boolean {
  return object !== undefined && !isGoing(object) && readyIn(object) > 0;
}

/** How many replicas of a workload in a member are ready. */
export function readyIn(object: AnyObject | undefined): number {
  const { status } = (object ?? {}) as { readonly status?: { readonly readyReplicas?: number } };
  return status?.readyReplicas ?? 0;
}

/** Whether a Work reports its copy as healthy, about the present generation of it. */
export function isReportedHealthy({ metadata, status }: Work): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const isCurrent = ["Applied", "StatusObserved"].every((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === "True" && condition.observedGeneration === metadata.generation;
  });
  const reports = status?.manifestStatuses ?? [];
  return isCurrent && reports.length > 0 && reports.every(({ health }) => health === "Healthy");
}

/** Whether a person removes the cluster whatever is on it; of one that is gone nobody knows. */
export function isForced(cluster: Cluster | undefined): boolean {
  const { deletionTimestamp, annotations = {} } = cluster?.metadata ?? {};
  return deletionTimestamp !== undefined && annotations[wellKnown.FORCE_REMOVAL] === "true";
}

/** What Ready of a cluster says; undefined: nothing. */
export function readyOf(cluster: Cluster | undefined): string | undefined {
  return findCondition(cluster?.status?.conditions, "Ready")?.status;
}
