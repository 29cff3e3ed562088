/**
 * What a StatefulSet needs: pods with the names 0, 1, 2 …, made one after the other and taken away from the end.
 *
 * 1. With OrderedReady, a pod is made only when all before it are ready, and taken away only when none after it is left.
 * 2. An update replaces pods from the highest number down to the partition, the next when the last is ready again.
 * 3. Claims are made before their pod and never deleted.
 *
 * Revisions are hashes of the template in status and labels. There are no ControllerRevision objects, so a pod below
 * the partition that dies comes back with the new template.
 */
import type { Instant } from "@lifeboat/base";
import type { Claim, NewPod, Pod, StatefulSet, StatefulSetStatus } from "../kinds.ts";
import {
  BURST,
  countPods,
  isActive,
  isFinished,
  isLeaving,
  isReady,
  makePod,
  type PodsPlan,
  templateHash,
} from "./pods.ts";

export const REVISION_LABEL = "controller-revision-hash";
const POD_NAME = "statefulset.kubernetes.io/pod-name";
const POD_INDEX = "apps.kubernetes.io/pod-index";

/** A claim to be created if it is not there. */
export interface NewClaim {
  readonly apiVersion: "v1";
  readonly kind: "PersistentVolumeClaim";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: Claim["spec"];
}

interface Steps {
  readonly create: readonly NewPod[];
  readonly remove: readonly Pod[];
}

const NO_STEPS: Steps = Object.freeze({ create: [], remove: [] });

/** Decides the next step for one StatefulSet and the pods it owns. Pure. */
export function decideStatefulSet(
  set: StatefulSet,
  owned: readonly Pod[],
  now: Instant,
): PodsPlan<StatefulSetStatus> {
  const revision = `${set.metadata.name}-${templateHash(set.spec.template)}`;
  const steps =
    set.metadata.deletionTimestamp === undefined ? nextSteps(set, owned, revision) : NO_STEPS;
  return { ...steps, ...report(set, owned, revision, now) };
}

/** The claims that a pod of the set needs. Pure. */
export function claimsFor(set: StatefulSet, pod: NewPod): readonly NewClaim[] {
  const templates = set.spec.volumeClaimTemplates ?? [];
  return templates.map(({ metadata, spec }) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: `${metadata.name}-${pod.metadata.name}`,
      namespace: pod.metadata.namespace,
      labels: { ...metadata.labels, ...set.spec.template.metadata?.labels },
    },
    spec,
  }));
}

function nextSteps(set: StatefulSet, owned: readonly Pod[], revision: string): Steps {
  const first = set.spec.ordinals?.start ?? 0;
  const replicas = set.spec.replicas ?? 1;
  const ordered = set.spec.podManagementPolicy !== "Parallel";
  const byOrdinal = new Map(owned.map((pod) => [ordinalOf(set, pod), pod]));
  const create: NewPod[] = [];
  const remove: Pod[] = [];
  let healthy = true;
  for (let ordinal = first; ordinal < first + replicas && create.length < BURST; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) create.push(podOf(set, ordinal, revision));
    else if (isFinished(pod) && !isLeaving(pod)) remove.push(pod);
    if (pod !== undefined && isActive(pod) && isReady(pod)) continue;
    healthy = false;
    if (ordered) return { create, remove };
  }
  const surplus = owned
    .filter((pod) => !isWanted(ordinalOf(set, pod), first, replicas))
    .sort((a, b) => ordinalOf(set, b) - ordinalOf(set, a));
  const next = ordered ? surplus.slice(0, 1) : surplus;
  remove.push(...next.filter((pod) => !isLeaving(pod)));
  if (!healthy || surplus.length > 0) return { create, remove };
  const outdated = nextOutdated(set, byOrdinal, revision);
  return { create, remove: outdated === undefined ? remove : [...remove, outdated] };
}

/** Called when all pods are ready: the highest one with another revision, down to the partition. */
function nextOutdated(
  set: StatefulSet,
  byOrdinal: ReadonlyMap<number, Pod>,
  revision: string,
): Pod | undefined {
  const { type = "RollingUpdate", rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return undefined;
  const first = set.spec.ordinals?.start ?? 0;
  const last = first + (set.spec.replicas ?? 1) - 1;
  for (let ordinal = last; ordinal >= first + (rollingUpdate?.partition ?? 0); ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (pod !== undefined && revisionOf(pod) !== revision) return pod;
  }
  return undefined;
}

function podOf(set: StatefulSet, ordinal: number, revision: string): NewPod {
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = { [REVISION_LABEL]: revision, [POD_NAME]: name, [POD_INDEX]: String(ordinal) };
  const pod = makePod(set, set.spec.template, name, { labels });
  const claimed = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  const names = new Set(claimed.map((volume) => volume.name));
  const others = (pod.spec.volumes ?? []).filter((volume) => !names.has(volume.name));
  const volumes = [...others, ...claimed];
  return { ...pod, spec: { ...pod.spec, hostname: name, ...(volumes.length > 0 && { volumes }) } };
}

function report(
  set: StatefulSet,
  owned: readonly Pod[],
  revision: string,
  now: Instant,
): Pick<PodsPlan<StatefulSetStatus>, "status" | "checkAgainAt"> {
  const active = owned.filter(isActive);
  const counts = countPods(active, set.spec.minReadySeconds ?? 0, now);
  const updated = active.filter((pod) => revisionOf(pod) === revision).length;
  const current = currentRevision(set, updated, counts.ready, revision);
  const status = {
    ...set.status,
    observedGeneration: set.metadata.generation ?? 0,
    replicas: active.length,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    currentReplicas: active.filter((pod) => revisionOf(pod) === current).length,
    updatedReplicas: updated,
    currentRevision: current,
    updateRevision: revision,
  };
  return {
    status,
    ...(counts.checkAgainAt !== undefined && { checkAgainAt: counts.checkAgainAt }),
  };
}

/** The update becomes current when every pod has it and is ready. */
function currentRevision(
  set: StatefulSet,
  updated: number,
  ready: number,
  revision: string,
): string {
  const before = set.status?.currentRevision ?? revision;
  const wanted = set.spec.replicas ?? 1;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  return partition === 0 && updated === wanted && ready === wanted ? revision : before;
}

function revisionOf(pod: Pod): string {
  return pod.metadata.labels?.[REVISION_LABEL] ?? "";
}

function isWanted(ordinal: number, first: number, replicas: number): boolean {
  return ordinal >= first && ordinal < first + replicas;
}

/** The number at the end of a pod's name; -1 for a name that the set would not give. */
function ordinalOf(set: StatefulSet, pod: Pod): number {
  const prefix = `${set.metadata.name}-`;
  if (!pod.metadata.name.startsWith(prefix)) return -1;
  const ordinal = Number(pod.metadata.name.slice(prefix.length));
  return Number.isSafeInteger(ordinal) && ordinal >= 0 ? ordinal : -1;
}
