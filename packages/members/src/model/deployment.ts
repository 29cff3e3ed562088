/**
 * What a Deployment needs: one ReplicaSet per template it ever had, the newest of them at full size, the others going
 * down as far as its strategy allows. One look takes one step; the ReplicaSets' statuses bring the next.
 *
 * 1. While rolling, the ReplicaSets together never ask for more than replicas + maxSurge.
 * 2. An old ReplicaSet is made smaller only as far as replicas - maxUnavailable stay available.
 * 3. The status counts what the ReplicaSets report, never what was only asked for.
 */
import { addMs, formatTime, type Instant } from "@lifeboat/base";
import type {
  Deployment,
  DeploymentStatus,
  KindCondition,
  PodTemplate,
  ReplicaSet,
} from "../kinds.ts";
import { compareTexts, ownedBy, portionOf, templateHash } from "./pods.ts";
import { conditionOf, timeOf, withCondition } from "./status.ts";

export const REVISION = "deployment.kubernetes.io/revision";
const TEMPLATE_HASH = "pod-template-hash";
const DEFAULT_DEADLINE_S = 600;
/** A deadline this long is the API's way to say that there is none. */
const NO_DEADLINE_S = 2 ** 31 - 1;

export interface DeploymentView {
  readonly deployment: Deployment;
  /** Those that it owns. */
  readonly replicaSets: readonly ReplicaSet[];
  /** The uids of ReplicaSets that still have pods, the leaving ones included. */
  readonly withPods: ReadonlySet<string>;
}

/** A ReplicaSet to be created. */
export type NewReplicaSet = Omit<ReplicaSet, "metadata" | "status"> & {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly ReturnType<typeof ownedBy>[];
  };
};

export interface DeploymentPlan {
  readonly create?: NewReplicaSet;
  /** ReplicaSets with another size or revision than they have. */
  readonly update: readonly ReplicaSet[];
  /** ReplicaSets beyond the history that is kept. */
  readonly remove: readonly ReplicaSet[];
  /** The revision that the Deployment shall show; absent when it shows it. */
  readonly revision?: string;
  readonly status: DeploymentStatus;
  readonly checkAgainAt?: Instant;
}

/** Decides the next step for one Deployment. Pure. */
export function decideDeployment(view: DeploymentView, now: Instant): DeploymentPlan {
  const { deployment } = view;
  const sets = view.replicaSets.toSorted(byAge);
  const hash = templateHash(deployment.spec.template);
  const newest = sets.find((set) => set.metadata.labels?.[TEMPLATE_HASH] === hash);
  const old = sets.filter((set) => set !== newest);
  const report = reportStatus(deployment, newest, old, now);
  if (deployment.metadata.deletionTimestamp !== undefined)
    return { update: [], remove: [], ...report };
  if (deployment.spec.paused === true) return { ...resizePaused(deployment, sets), ...report };
  const sizes = decideSizes(view, newest, old);
  const revision = revisionFor(newest, old);
  const update = old
    .map((set) => resized(set, sizes.old.get(set)))
    .filter((set) => set !== undefined);
  if (newest === undefined)
    return {
      create: newReplicaSet(deployment, hash, sizes.newest, revision),
      update,
      remove: [],
      ...report,
    };
  const grown = resized(withRevision(newest, revision), sizes.newest, newest);
  return {
    update: grown === undefined ? update : [grown, ...update],
    remove: beyondHistory(deployment, old),
    ...(deployment.metadata.annotations?.[REVISION] !== revision && { revision }),
    ...report,
  };
}

interface Sizes {
  readonly newest: number;
  readonly old: ReadonlyMap<ReplicaSet, number>;
}

function decideSizes(
  view: DeploymentView,
  newest: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Sizes {
  const { deployment, withPods } = view;
  const desired = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy?.type === "Recreate") {
    const gone = old.every((set) => sizeOf(set) === 0 && !withPods.has(set.metadata.uid));
    const size = gone ? desired : Math.min(desired, sizeOf(newest));
    return { newest: size, old: new Map(old.map((set) => [set, 0])) };
  }
  const { surge, unavailable } = roomOf(deployment, desired);
  const total = sum(old, sizeOf) + sizeOf(newest);
  const room = Math.max(desired + surge - total, 0);
  const size = Math.min(desired, sizeOf(newest) + room);
  return { newest: size, old: shrinkOld(newest, old, desired - unavailable) };
}

/** How many pods may be too many or too few while rolling. Both zero would stand still, so one may be missing then. */
function roomOf(
  deployment: Deployment,
  desired: number,
): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge = "25%", maxUnavailable = "25%" } =
    deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = portionOf(maxSurge, desired, Math.ceil);
  const unavailable = Math.min(portionOf(maxUnavailable, desired, Math.floor), desired);
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** Takes away what is not available first, then what the minimum can spare, each from the oldest on. */
function shrinkOld(
  newest: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  minimum: number,
): ReadonlyMap<ReplicaSet, number> {
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  const total = sum(old, sizeOf) + sizeOf(newest);
  const unproven = Math.max(sizeOf(newest) - availableOf(newest), 0);
  let spare = Math.max(total - minimum - unproven, 0);
  for (const set of old) {
    const taken = Math.min(spare, Math.max(sizeOf(set) - availableOf(set), 0));
    sizes.set(set, sizeOf(set) - taken);
    spare -= taken;
  }
  let dispensable = Math.max(sum(old, availableOf) + availableOf(newest) - minimum, 0);
  for (const set of old) {
    const size = sizes.get(set) ?? 0;
    const taken = Math.min(spare, dispensable, size);
    sizes.set(set, size - taken);
    spare -= taken;
    dispensable -= taken;
  }
  return sizes;
}

/** A paused Deployment does not roll, but what it has follows its size when that is a single ReplicaSet. */
function resizePaused(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
): Pick<DeploymentPlan, "update" | "remove"> {
  const inUse = sets.filter((set) => sizeOf(set) > 0);
  const only = inUse.length === 1 ? inUse[0] : undefined;
  const update = only === undefined ? undefined : resized(only, deployment.spec.replicas ?? 1);
  return { update: update === undefined ? [] : [update], remove: [] };
}

/** The set with this size; undefined when it is what `stored` already says. */
function resized(
  set: ReplicaSet,
  replicas: number | undefined,
  stored: ReplicaSet = set,
): ReplicaSet | undefined {
  if (set === stored && (replicas === undefined || replicas === sizeOf(set))) return undefined;
  return { ...set, spec: { ...set.spec, replicas: replicas ?? sizeOf(set) } };
}

function withRevision(set: ReplicaSet, revision: string): ReplicaSet {
  if (set.metadata.annotations?.[REVISION] === revision) return set;
  const annotations = { ...set.metadata.annotations, [REVISION]: revision };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

/** One more than any other has; the newest keeps its own while it is the highest. */
function revisionFor(newest: ReplicaSet | undefined, old: readonly ReplicaSet[]): string {
  const highest = Math.max(0, ...old.map(revisionOf));
  const own = newest === undefined ? 0 : revisionOf(newest);
  return String(own > highest ? own : highest + 1);
}

function revisionOf(set: ReplicaSet): number {
  const revision = Number(set.metadata.annotations?.[REVISION] ?? "0");
  return Number.isSafeInteger(revision) ? revision : 0;
}

function newReplicaSet(
  deployment: Deployment,
  hash: string,
  replicas: number,
  revision: string,
): NewReplicaSet {
  const { template, minReadySeconds, selector } = deployment.spec;
  const { name, namespace = "" } = deployment.metadata;
  const labels = { ...template.metadata?.labels, [TEMPLATE_HASH]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { [REVISION]: revision },
      ownerReferences: [ownedBy(deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: {
        ...selector,
        matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH]: hash },
      },
      template: withLabels(template, labels),
    },
  };
}

function withLabels(template: PodTemplate, labels: Readonly<Record<string, string>>): PodTemplate {
  return { ...template, metadata: { ...template.metadata, labels } };
}

function beyondHistory(deployment: Deployment, old: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  const empty = old.filter(
    (set) =>
      sizeOf(set) === 0 &&
      (set.status?.replicas ?? 0) === 0 &&
      set.metadata.deletionTimestamp === undefined,
  );
  const byRevision = empty.toSorted((a, b) => revisionOf(a) - revisionOf(b) || byAge(a, b));
  return byRevision.slice(0, Math.max(empty.length - limit, 0));
}

function reportStatus(
  deployment: Deployment,
  newest: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  now: Instant,
): Pick<DeploymentPlan, "status" | "checkAgainAt"> {
  const sets = newest === undefined ? old : [newest, ...old];
  const desired = deployment.spec.replicas ?? 1;
  const replicas = sum(sets, (set) => set.status?.replicas ?? 0);
  const available = sum(sets, availableOf);
  const counts = {
    replicas,
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum(sets, (set) => set.status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(Math.max(replicas, desired) - available, 0),
  };
  const before = deployment.status?.conditions;
  const minimum = desired - roomOf(deployment, desired).unavailable;
  const withAvailable = updated(before, availability(available >= minimum), now);
  const progress = progressOf(deployment, newest, counts, now);
  const conditions = updated(withAvailable, progress.condition, now, progress.moved);
  return {
    status: {
      ...deployment.status,
      observedGeneration: deployment.metadata.generation ?? 0,
      ...counts,
      conditions,
    },
    ...(progress.checkAgainAt !== undefined && { checkAgainAt: progress.checkAgainAt }),
  };
}

function availability(enough: boolean): KindCondition {
  return enough
    ? {
        type: "Available",
        status: "True",
        reason: "MinimumReplicasAvailable",
        message: "Deployment has minimum availability.",
      }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
}

type Counts = Required<
  Pick<
    DeploymentStatus,
    "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas" | "unavailableReplicas"
  >
>;

interface Progress {
  readonly condition: KindCondition;
  /** Whether the deadline counts from now on. */
  readonly moved: boolean;
  readonly checkAgainAt?: Instant;
}

function progressOf(
  deployment: Deployment,
  newest: ReplicaSet | undefined,
  counts: Counts,
  now: Instant,
): Progress {
  const { status, spec, metadata } = deployment;
  const old = conditionOf(status?.conditions, "Progressing");
  const name = newest?.metadata.name ?? "";
  const condition = Object.freeze({ type: "Progressing", status: "True" } as const);
  if (isComplete(deployment, counts) && newest !== undefined) {
    const message = `ReplicaSet "${name}" has successfully progressed.`;
    const reason = "NewReplicaSetAvailable";
    return { condition: { ...condition, reason, message }, moved: old?.reason !== reason };
  }
  const isNew = metadata.generation !== status?.observedGeneration;
  const moved = old === undefined || isNew || hasMoved(status ?? {}, counts);
  const reason = newest === undefined ? "NewReplicaSetCreated" : "ReplicaSetUpdated";
  const message =
    newest === undefined
      ? `Deployment "${metadata.name}" is progressing.`
      : `ReplicaSet "${name}" is progressing.`;
  if (moved)
    return { condition: { ...condition, reason, message }, moved, ...deadlineIn(spec, now) };
  // A Deployment that was complete and lost pods is not rolling: only a rollout has a deadline.
  if (old.reason === "NewReplicaSetAvailable" || old.status === "False")
    return { condition: old, moved };
  const since = timeOf(old.lastUpdateTime) ?? now;
  const deadline = deadlineIn(spec, since);
  if (deadline.checkAgainAt === undefined || now < deadline.checkAgainAt)
    return { condition: old, moved, ...deadline };
  return {
    condition: {
      type: "Progressing",
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `ReplicaSet "${name}" has timed out progressing.`,
    },
    moved: true,
  };
}

function deadlineIn(spec: Deployment["spec"], since: Instant): { readonly checkAgainAt?: Instant } {
  const seconds = spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_S;
  if (seconds >= NO_DEADLINE_S || spec.paused === true) return {};
  // Written times have whole seconds: one more makes sure that the deadline is never early.
  return { checkAgainAt: addMs(since, (seconds + 1) * 1000) };
}

function isComplete(deployment: Deployment, counts: Counts): boolean {
  const desired = deployment.spec.replicas ?? 1;
  return (
    counts.updatedReplicas === desired &&
    counts.replicas === desired &&
    counts.availableReplicas === desired
  );
}

function hasMoved(before: DeploymentStatus, counts: Counts): boolean {
  const oldBefore = (before.replicas ?? 0) - (before.updatedReplicas ?? 0);
  return (
    counts.updatedReplicas > (before.updatedReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < oldBefore ||
    counts.readyReplicas > (before.readyReplicas ?? 0) ||
    counts.availableReplicas > (before.availableReplicas ?? 0)
  );
}

/** Sets a condition; its update time moves with its content, or when asked to. */
function updated(
  conditions: readonly KindCondition[] | undefined,
  condition: KindCondition,
  now: Instant,
  moved = false,
): readonly KindCondition[] {
  const old = conditionOf(conditions, condition.type);
  const same =
    old?.status === condition.status &&
    old.reason === condition.reason &&
    old.message === condition.message;
  if (same && !moved) return conditions ?? [];
  return withCondition(conditions, { ...condition, lastUpdateTime: formatTime(now) }, now);
}

function sizeOf(set: ReplicaSet | undefined): number {
  return set === undefined ? 0 : (set.spec.replicas ?? 1);
}

function availableOf(set: ReplicaSet | undefined): number {
  return set?.status?.availableReplicas ?? 0;
}

function sum(sets: readonly ReplicaSet[], numberOf: (set: ReplicaSet) => number): number {
  return sets.reduce((total, set) => total + numberOf(set), 0);
}

function byAge(a: ReplicaSet, b: ReplicaSet): number {
  return (
    compareTexts(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
    compareTexts(a.metadata.name, b.metadata.name)
  );
}
