/**
 * From a binding to its Works: which to make, change and remove.
 *
 * 1. A Work is made only in a cluster that the binding names, and at most one of a binding per cluster is made.
 * 2. A Work of a cluster that the binding names (wanted, or leaving and kept) is never removed.
 * 3. While a Work exists, going or not, in a cluster that is left in mode Directly, no new Work is made (D10); those that
 *    exist elsewhere are kept current.
 * 4. Clusters that are only left keep their Work as it is: nothing changes in a copy that may be the last one running.
 * 5. A template that cannot be read changes nothing (D20). A cluster that cannot be rendered fails alone.
 * 6. No removal takes the copies that serve from one or more to none (D9), except in mode Directly, after the grace period
 *    of a failing application whose old copy is unhealthy, with the binding, with the Cluster, when nothing is scheduled because the user's own placement excludes the cluster (D8), or when no workload
 *    needs a resource any more that is there for others alone. What a workload needs stays for as long as its Work does.
 * 7. `preserveResourcesOnDeletion` is for deleting a template and for unjoin, graceful or forced, also when a substitute was
 *    placed elsewhere (D21). Before any other removal it is taken off the Work, and mode Directly is written on it, in a write of
 *    its own. So the removal of the copy needs nothing but the Work; the removal itself carries the version that was
 *    prepared.
 * 8. Works of Pull clusters bear an endorsement while their cluster is in the result and they were not tried (first-copy.ts).
 *    It is withdrawn in the pass that finds the cluster out of the result, by the write that pass makes anyway. An agent that
 *    does not know endorsement gets no new Work (clusters/agents/).
 * 9. A new pod template reaches the clusters of a federated StatefulSet one after the other (turns.ts).
 * 10. A Work that is going and should exist is waited for. A Work that is as it should be is not touched.
 *
 * Works that an eviction leaves behind are marked while the task stands, so that their removal is known for an eviction's
 * after the task is gone.
 */
import {
  type Cluster,
  equalJson,
  type EvictionTask,
  findCondition,
  type New,
  type ObjectKey,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { agentSupport } from "../../clusters/agents/agents.ts";
import { gracePeriodOf, isMoving, resultOf } from "../../binding/index.ts";
import type { DeletionCause } from "../brake/brake.ts";
import { isFederated, readFederated } from "../../federated/record.ts";
import type { RolloutDecision } from "../../federated/rollout.ts";
import { compareText, type Fields, textAt } from "../../fields.ts";
import { formatPlacement } from "../../placement/due.ts";
import { clusterOfExecutionNamespace, executionNamespace, workName } from "../rendering/names.ts";
import type { RenderReason } from "../rendering/reasons.ts";
import { type Rendered, renderWork } from "../rendering/render.ts";
import { matchesCluster } from "../selectors/cluster-affinity.ts";
import {
  APPLIED_CLUSTER_OVERRIDES,
  APPLIED_OVERRIDES,
  APPLIED_PLACEMENT,
  BINDING_FINALIZER,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_BINDING_NAME,
  CLUSTER_POLICY_ID,
  ENDORSED,
  EXECUTION_FINALIZER,
  GRACE_PERIOD,
  POLICY_ID,
  PURGE_MODE,
  WORK_ID,
} from "../../well-known.ts";
import { isProtected, isProvenHealthy } from "./copy-health.ts";
import { endorsementOf, wasTried, withdrawn } from "./first-copy.ts";
import type { SyncFailureReason, WorksReason } from "./reasons.ts";
import { decideTurns, heldBack, type Turn } from "./turns.ts";
import { type WorkClusters, workClustersOf } from "./work-clusters.ts";

export interface WorksView {
  readonly binding: ResourceBinding;
  /** The binding's own template; absent when there is none, or another object of its name. */
  readonly template?: Fields | undefined;
  /** All Works that bear the binding's id, those that are going included. */
  readonly works: readonly Work[];
  /** Works of other bindings, or of none, under the names that this binding's Works would have, by cluster. */
  readonly occupants: ReadonlyMap<string, Work>;
  /** The Clusters that exist, of those that matter. */
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly clusterOverridePolicies: readonly object[];
  readonly overridePolicies: readonly object[];
  /** Clusters that hold Works of workloads that need this resource, scheduled there or not. */
  readonly neededIn: ReadonlySet<string>;
  /** Where a script sets replicas: its answer by cluster, or why it has none. */
  readonly revised: ReadonlyMap<string, Fields | Error>;
  /** Ids for Works that do not exist yet, by cluster. */
  readonly newWorkIds: ReadonlyMap<string, string>;
}

export type WorksCommand =
  | { readonly kind: "create"; readonly cluster: string; readonly work: New<Work> }
  | {
      readonly kind: "update";
      readonly cluster: string;
      readonly work: Work;
      /** The write allows an agent a first copy (D26): the binding is read from the server before. */
      readonly endorses?: true;
    }
  | {
      readonly kind: "delete";
      readonly cluster: string;
      readonly work: Work;
      readonly cause: DeletionCause;
    }
  /** Nothing is left: the binding may go. */
  | { readonly kind: "releaseBinding"; readonly binding: ResourceBinding }
  /** The binding must not go before its Works do. */
  | { readonly kind: "holdBinding"; readonly binding: ResourceBinding };

export interface SyncFailure {
  readonly cluster: string;
  readonly reason: SyncFailureReason | Exclude<RenderReason, "Rendered">;
  readonly message: string;
}

export interface WorksPlan {
  /** Removals first, then changes, then new ones; each by cluster. Clusters do not depend on each other. */
  readonly commands: readonly WorksCommand[];
  readonly failures: readonly SyncFailure[];
  /** Clusters whose Work would go if another copy were healthy. */
  readonly spared: readonly string[];
  /** Clusters of `commands` whose copy overrides were applied to. */
  readonly overridden: readonly string[];
  readonly reason: WorksReason;
  /** Of a federated StatefulSet: how far its pod template has come. */
  readonly rollout?: RolloutDecision | undefined;
}

/** What to do about the Works of one binding. */
export function decideWorks(view: WorksView): WorksPlan {
  if (view.binding.metadata.deletionTimestamp !== undefined) return removeAll(view);
  const clusters = workClustersOf(view.binding);
  if (view.template === undefined)
    return plan({ commands: withdrawalsOf(view, clusters), reason: "TemplateMissing" });
  const synced = sync(view, clusters, view.template);
  const removals = removalsOf(view, clusters, isCovered(view, clusters, synced));
  const isBarred = isPurging(view.works, clusters);
  const creates = isBarred ? [] : synced.creates;
  return plan({
    commands: [
      ...removals.commands,
      ...synced.updates,
      ...(creates.length === 0 ? [] : holdBinding(view.binding)),
      ...creates,
    ],
    failures: synced.failures,
    spared: removals.spared,
    overridden: synced.overridden,
    rollout: synced.rollout,
    reason: isBarred ? "AwaitingPurge" : removals.spared.length > 0 ? "LastHealthyCopy" : "InStep",
  });
}

/** The cluster of a Work; "" when it is in no execution namespace. */
export function clusterOfWork(work: Work): string {
  return clusterOfExecutionNamespace(work.metadata.namespace ?? "") ?? "";
}

/** Where the Work of a template in a cluster is. */
export function workKey(template: Fields, cluster: string): ObjectKey {
  const kind = textAt(template, "kind");
  const name = textAt(template, "metadata", "name");
  const namespace = textAt(template, "metadata", "namespace");
  return { namespace: executionNamespace(cluster), name: workName({ kind, namespace, name }) };
}

/** The finalizer that keeps a binding until its Works are gone. */
export function bindingFinalizer({ metadata }: ResourceBinding): string {
  return (metadata.namespace ?? "") === "" ? CLUSTER_BINDING_FINALIZER : BINDING_FINALIZER;
}

function plan(parts: Partial<WorksPlan> & Pick<WorksPlan, "reason">): WorksPlan {
  const { commands = [], failures = [], spared = [], overridden = [], rollout } = parts;
  const isStill = commands.length === 0 || parts.reason !== "InStep";
  const reason = isStill ? parts.reason : "Changing";
  return deepFreeze({ commands, failures, spared, overridden, reason, rollout });
}

function removeAll(view: WorksView): WorksPlan {
  const { binding, works, template } = view;
  const isGone = template === undefined || textAt(template, "metadata", "deletionTimestamp") !== "";
  const cause: DeletionCause = isGone ? "TemplateDeleted" : "BindingDeleted";
  const commands: WorksCommand[] = works
    .filter((work) => !isGoing(work))
    .map((work) => ({ kind: "delete", cluster: clusterOfWork(work), work, cause }));
  const isHeld = binding.metadata.finalizers?.includes(bindingFinalizer(binding)) === true;
  if (works.length === 0 && isHeld) commands.push({ kind: "releaseBinding", binding });
  return plan({ commands: byCluster(commands), reason: "BindingDeleted" });
}

function holdBinding(binding: ResourceBinding): WorksCommand[] {
  const isHeld = binding.metadata.finalizers?.includes(bindingFinalizer(binding)) === true;
  return isHeld ? [] : [{ kind: "holdBinding", binding }];
}

function isGoing(work: Work): boolean {
  return work.metadata.deletionTimestamp !== undefined;
}

/** Whether a copy still exists that must be gone first. One that is wanted again counts while it is going. */
function isPurging(works: readonly Work[], { wanted, purged }: WorkClusters): boolean {
  return works.some((work) => {
    const cluster = clusterOfWork(work);
    return purged.has(cluster) && (isGoing(work) || !wanted.has(cluster));
  });
}

interface Removals {
  readonly commands: readonly WorksCommand[];
  readonly spared: readonly string[];
}

/** Whether a copy that stays is healthy, and is what it should be now. */
function isCovered({ works }: WorksView, { wanted }: WorkClusters, { updates }: Synced): boolean {
  const changing = new Set(updates.map((command) => ("cluster" in command ? command.cluster : "")));
  return works.some((work) => {
    const cluster = clusterOfWork(work);
    return wanted.has(cluster) && !changing.has(cluster) && isProvenHealthy(work);
  });
}

function removalsOf(view: WorksView, clusters: WorkClusters, hasCover: boolean): Removals {
  const commands: WorksCommand[] = [];
  const spared: string[] = [];
  for (const work of view.works) {
    const cluster = clusterOfWork(work);
    // seed: wanted-here
    if (isGoing(work) || clusters.wanted.has(cluster)) continue;
    const task = clusters.leaving.get(cluster);
    if (task !== undefined) {
      commands.push(...markEvicted(cluster, work, task));
    } else if (clusters.purged.has(cluster)) {
      commands.push(remove(cluster, prepared(work, "Directly"), work, "Evicted"));
    } else if (mayBeFirst(work)) {
      // The brake may stop the removal: the withdrawal does not wait for it.
      commands.push({ kind: "update", cluster, work: withdrawn(work) });
    } else if (view.neededIn.has(cluster)) {
      continue;
    } else if (hasCover || mayGo(view, clusters, work)) {
      const ready = isReleased(view, cluster, work) ? work : prepared(work);
      commands.push(remove(cluster, ready, work, causeOf(view, work)));
    } else {
      spared.push(cluster);
    }
  }
  return { commands: byCluster(commands), spared: spared.toSorted(compareText) };
}

/** Whether the copy stays in the member, without our marks: its cluster leaves the fleet and its policy preserves it (D21). */
function isReleased({ clusters }: WorksView, cluster: string, work: Work): boolean {
  return clusters.get(cluster)?.metadata.deletionTimestamp !== undefined && !isEvicted(work);
}

/** Whether a Work may go although no other copy is proven healthy. */
function mayGo({ binding, clusters }: WorksView, { wanted }: WorkClusters, work: Work): boolean {
  const cluster = clusters.get(clusterOfWork(work));
  if (cluster === undefined || !isProtected(work) || isShareGivenUp(binding, work)) return true;
  if (wanted.size > 0) return false;
  if (isFollower(binding)) return true;
  return !isEvicted(work) && isExcluded(binding, cluster) && isPlacedNowhere(binding);
}

/** Whether a person scaled a federated StatefulSet out of the cluster, or forgot its share there (D15). */
function isShareGivenUp(binding: ResourceBinding, work: Work): boolean {
  return readFederated(binding)?.shares.has(clusterOfWork(work)) === false;
}

/**
 * Whether the scheduler reports of this placement that no cluster fits. A result is empty also for the moment between an
 * eviction and its sequel, and a report about a former placement does not hold for one that the scheduler has not tried.
 */
function isPlacedNowhere(binding: ResourceBinding): boolean {
  const { metadata, spec, status } = binding;
  const scheduled = findCondition(status?.conditions, "Scheduled");
  return (
    !isMoving(binding) &&
    metadata.annotations?.[APPLIED_PLACEMENT] === formatPlacement(spec.placement) &&
    scheduled?.status === "False" &&
    scheduled.reason === "NoClusterFit"
  );
}

/** Whether the resource has no policy and no schedule of its own: it is where workloads need it. */
function isFollower(binding: ResourceBinding): boolean {
  const { labels = {} } = binding.metadata;
  const isClaimed = labels[POLICY_ID] !== undefined || labels[CLUSTER_POLICY_ID] !== undefined;
  return !isClaimed && binding.spec.placement === undefined && resultOf(binding).length === 0;
}

/** Whether the user's own placement excludes the cluster. */
function isExcluded({ spec }: ResourceBinding, cluster: Cluster): boolean {
  const { clusterAffinity, clusterAffinities } = spec.placement ?? {};
  if (clusterAffinities !== undefined && clusterAffinities.length > 0)
    return clusterAffinities.every((affinity) => !matchesCluster(cluster, affinity));
  return !matchesCluster(cluster, clusterAffinity);
}

function causeOf({ binding, clusters }: WorksView, work: Work): DeletionCause {
  if (!clusters.has(clusterOfWork(work))) return "ClusterDeleted";
  if (isEvicted(work)) return "Evicted";
  // Its workloads are elsewhere, and their own removal from here has passed the brake. Without workloads it is not known
  // whether they were deleted or a policy was edited, so that counts.
  const hasWorkloads = (binding.spec.requiredBy ?? []).length > 0;
  return isFollower(binding) && hasWorkloads ? "WorkloadMoved" : "Descheduled";
}

function isEvicted({ metadata }: Work): boolean {
  return metadata.annotations?.[PURGE_MODE] !== undefined;
}

/** The Work is first written as it must be when it goes, then removed at a later reconcile. */
function remove(cluster: string, ready: Work, work: Work, cause: DeletionCause): WorksCommand {
  if (ready !== work) return { kind: "update", cluster, work: ready };
  return { kind: "delete", cluster, work, cause };
}

function prepared(work: Work, purgeMode?: "Directly"): Work {
  let ready = work;
  if (work.spec.preserveResourcesOnDeletion === true)
    ready = { ...ready, spec: { ...ready.spec, preserveResourcesOnDeletion: false } };
  return purgeMode === undefined ? ready : withdrawn(withPurgeMode(ready, purgeMode));
}

/** Whether an agent may still make a first copy of the Work. */
function mayBeFirst(work: Work): boolean {
  return withdrawn(work) !== work && !wasTried(work);
}

/** Clusters outside the result get no first copy (D26), whatever else cannot be decided. */
function withdrawalsOf({ works }: WorksView, { wanted }: WorkClusters): readonly WorksCommand[] {
  const late = works.filter(
    (work) => mayBeFirst(work) && !isGoing(work) && !wanted.has(clusterOfWork(work)),
  );
  return byCluster(
    late.map((work) => ({ kind: "update", cluster: clusterOfWork(work), work: withdrawn(work) })),
  );
}

function withPurgeMode(work: Work, purgeMode: "Directly" | "Gracefully"): Work {
  if (work.metadata.annotations?.[PURGE_MODE] === purgeMode) return work;
  const annotations = { ...work.metadata.annotations, [PURGE_MODE]: purgeMode };
  return { ...work, metadata: { ...work.metadata, annotations } };
}

function markEvicted(cluster: string, work: Work, task: EvictionTask): WorksCommand[] {
  const evicted = withPurgeMode(work, "Gracefully");
  const marked = withdrawn(withGracePeriod(evicted, gracePeriodOf(task)));
  return marked === work ? [] : [{ kind: "update", cluster, work: marked }];
}

function withGracePeriod(work: Work, seconds: number | undefined): Work {
  const { [GRACE_PERIOD]: former, ...others } = work.metadata.annotations ?? {};
  const wanted = seconds === undefined ? undefined : String(seconds);
  if (former === wanted) return work;
  const annotations = wanted === undefined ? others : { ...others, [GRACE_PERIOD]: wanted };
  return { ...work, metadata: { ...work.metadata, annotations } };
}

interface Synced {
  readonly updates: readonly WorksCommand[];
  readonly creates: readonly WorksCommand[];
  readonly failures: readonly SyncFailure[];
  readonly overridden: readonly string[];
  readonly rollout: RolloutDecision | undefined;
}

function sync(view: WorksView, clusters: WorkClusters, template: Fields): Synced {
  const updates: WorksCommand[] = [];
  const creates: WorksCommand[] = [];
  const failures: SyncFailure[] = [];
  const overridden: string[] = [];
  const existing = worksByKey(view);
  const rollout = rolloutOf(view, clusters, template, existing);
  for (const name of [...clusters.wanted].toSorted(compareText)) {
    const { namespace, name: expected } = workKey(template, name);
    const work = existing.get(`${namespace}/${expected}`);
    const step = syncOne(view, template, name, work, rollout);
    if (step === undefined) continue;
    if ("reason" in step) {
      failures.push(step);
      continue;
    }
    (step.command.kind === "create" ? creates : updates).push(step.command);
    if (step.hasOverrides) overridden.push(name);
  }
  return { updates, creates, failures, overridden, rollout };
}

function rolloutOf(
  view: WorksView,
  { wanted }: WorkClusters,
  template: Fields,
  existing: ReadonlyMap<string, Work>,
): RolloutDecision | undefined {
  if (!isFederated(view.binding)) return undefined;
  const turns = [...wanted].flatMap((name): readonly Turn[] => {
    const { namespace, name: expected } = workKey(template, name);
    const work = existing.get(`${namespace}/${expected}`);
    const cluster = view.clusters.get(name);
    if (work === undefined || cluster === undefined || isGoing(work)) return [];
    const rendered = render(view, template, cluster, work);
    return "cluster" in rendered ? [] : [{ cluster, work, wanted: rendered.work }];
  });
  return decideTurns(view.binding, turns);
}

function worksByKey({ works }: WorksView): ReadonlyMap<string, Work> {
  return new Map(
    works.map((work) => [`${work.metadata.namespace ?? ""}/${work.metadata.name}`, work]),
  );
}

/** What to do in one cluster; undefined: nothing, or nothing yet. */
function syncOne(
  view: WorksView,
  template: Fields,
  name: string,
  own: Work | undefined,
  rollout: RolloutDecision | undefined,
): { readonly command: WorksCommand; readonly hasOverrides: boolean } | SyncFailure | undefined {
  const cluster = view.clusters.get(name);
  if (cluster === undefined)
    return failed(name, "ClusterMissing", `the cluster ${name} does not exist`);
  const work = own ?? view.occupants.get(name);
  if (work === undefined && cluster.metadata.deletionTimestamp !== undefined)
    return failed(name, "ClusterLeaving", `the cluster ${name} is being deleted`);
  if (work === undefined && agentSupport(cluster) !== "supported")
    return agentSupport(cluster) === "unknown"
      ? undefined
      : failed(name, "AgentUnsupported", `the agent of the cluster ${name} gets no new Works`);
  if (work !== undefined && isGoing(work)) return undefined;
  if (own === undefined && work !== undefined && !namesBinding(work, view.binding))
    return failed(name, "WorkNameTaken", `another binding has the Work ${work.metadata.name}`);
  const rendered = render(view, template, cluster, work);
  if ("cluster" in rendered) return rendered;
  const hasOverrides = rendered.hasOverrides;
  if (work === undefined)
    return { command: { kind: "create", cluster: name, work: rendered.work }, hasOverrides };
  const isHeld = rollout?.held.has(name) === true;
  const wanted = isHeld ? heldBack(rendered.work, work) : rendered.work;
  const endorsement = endorsementOf({ cluster: name, work, binding: view.binding }, cluster);
  const updated = updatedWork(work, wanted, endorsement);
  if (updated === undefined) return undefined;
  const isNew = endorsement !== undefined && work.metadata.annotations?.[ENDORSED] !== endorsement;
  const command: WorksCommand = { kind: "update", cluster: name, work: updated };
  return { command: isNew ? { ...command, endorses: true } : command, hasOverrides };
}

function render(
  view: WorksView,
  template: Fields,
  cluster: Cluster,
  work: Work | undefined,
): Extract<Rendered, { outcome: "rendered" }> | SyncFailure {
  const name = cluster.metadata.name;
  const revised = view.revised.get(name);
  if (revised instanceof Error) return failed(name, "ReplicasUnknown", revised.message);
  const result = renderWork({
    template,
    ...(revised === undefined ? {} : { revised }),
    binding: view.binding,
    cluster,
    clusterOverridePolicies: view.clusterOverridePolicies,
    overridePolicies: view.overridePolicies,
    workId: work?.metadata.labels?.[WORK_ID] ?? view.newWorkIds.get(name) ?? "",
  });
  if (result.outcome === "failed") return failed(name, result.reason, result.message);
  return result;
}

function failed(cluster: string, reason: SyncFailure["reason"], message: string): SyncFailure {
  return { cluster, reason, message };
}

/** Whether a Work that lost its binding's id is this binding's after all: it names it. */
function namesBinding({ metadata }: Work, { metadata: binding }: ResourceBinding): boolean {
  const { annotations = {} } = metadata;
  const namespace = binding.namespace ?? "";
  if (namespace === "") return annotations[CLUSTER_BINDING_NAME] === binding.name;
  return annotations[BINDING_NAMESPACE] === namespace && annotations[BINDING_NAME] === binding.name;
}

/** What rendering writes on a Work and takes away again when it no longer applies; others' keys stay. */
const OWN_ANNOTATIONS = [
  APPLIED_OVERRIDES,
  APPLIED_CLUSTER_OVERRIDES,
  PURGE_MODE,
  GRACE_PERIOD,
  ENDORSED,
];

/** The Work as it is to be; undefined when it is that already. */
function updatedWork(
  work: Work,
  wanted: New<Work>,
  endorsement: string | undefined,
): Work | undefined {
  const { metadata } = work;
  const kept = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => !OWN_ANNOTATIONS.includes(key),
  );
  const annotations = {
    ...Object.fromEntries(kept),
    ...wanted.metadata.annotations,
    ...(endorsement !== undefined && { [ENDORSED]: endorsement }),
  };
  const labels = { ...metadata.labels, ...wanted.metadata.labels };
  const finalizers = metadata.finalizers?.includes(EXECUTION_FINALIZER)
    ? metadata.finalizers
    : [...(metadata.finalizers ?? []), EXECUTION_FINALIZER];
  const isSame =
    equalJson(labels, metadata.labels ?? {}) &&
    equalJson(annotations, metadata.annotations ?? {}) &&
    finalizers === metadata.finalizers &&
    equalJson(wanted.spec, work.spec);
  if (isSame) return undefined;
  return {
    ...work,
    metadata: { ...metadata, labels, annotations, finalizers },
    spec: wanted.spec,
  };
}

function byCluster(commands: readonly WorksCommand[]): readonly WorksCommand[] {
  const clusterOf = (command: WorksCommand): string =>
    "cluster" in command ? command.cluster : "";
  return commands.toSorted((a, b) => compareText(clusterOf(a), clusterOf(b)));
}
