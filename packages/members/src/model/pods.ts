/**
 * Pods as the controllers of workloads see them: which count, which go first, and how a new one is made.
 *
 * Names are derived, not drawn: slot n of an owner always has the same name. So a pod that was created but is not yet
 * seen is refused a second time as AlreadyExists, and a model that starts again after a crash makes no doubles.
 */
import type { KubeObject, NewMeta, ObjectKey, OwnerReference } from "@lifeboat/api";
import { addMs, hashText, type Instant } from "@lifeboat/base";
import type { NewPod, Pod, PodTemplate } from "../kinds.ts";
import { conditionOf, earlier, isTrue, timeOf } from "./status.ts";

/** What a workload's controller wants to happen to its pods, and what it reports. */
export interface PodsPlan<S> {
  readonly create: readonly NewPod[];
  readonly remove: readonly Pod[];
  readonly status: S;
  /** When time alone can change the answer. */
  readonly checkAgainAt?: Instant;
}

/** At most so many pods are created or deleted in one look, so that a mistyped number does not drown a server. */
export const BURST = 500;

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
/** Longer names would leave no room for the suffix in a host name. */
const LONGEST_BASE = 57;

/** Whether a pod has ended by itself. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Whether a pod is being deleted. */
export function isLeaving(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Whether a pod counts as a replica. */
export function isActive(pod: Pod): boolean {
  return !isLeaving(pod) && !isFinished(pod);
}

export function isReady(pod: Pod): boolean {
  return isTrue(pod.status?.conditions, "Ready");
}

/** The node a pod runs on, "" when none was chosen. */
export function nodeOf(pod: Pod): string {
  return pod.spec.nodeName ?? "";
}

/** Since when a pod has been ready long enough to count as available; in the future when it has yet to prove it. */
function availableAt(pod: Pod, minReadySeconds: number): Instant | undefined {
  const ready = conditionOf(pod.status?.conditions, "Ready");
  if (ready?.status !== "True") return undefined;
  const since = timeOf(ready.lastTransitionTime);
  return since === undefined ? undefined : addMs(since, minReadySeconds * 1000);
}

export interface PodCounts {
  readonly ready: number;
  readonly available: number;
  /** When the next ready pod becomes available by time alone. */
  readonly checkAgainAt?: Instant;
}

/** How many of these pods are ready, and how many of those for long enough. */
export function countPods(pods: readonly Pod[], minReadySeconds: number, now: Instant): PodCounts {
  let [ready, available] = [0, 0];
  let next: Instant | undefined;
  for (const pod of pods) {
    if (!isReady(pod)) continue;
    ready++;
    const at = availableAt(pod, minReadySeconds) ?? now;
    if (at <= now) available++;
    else next = earlier(next, at);
  }
  return { ready, available, ...(next !== undefined && { checkAgainAt: next }) };
}

/** Orders pods by who is missed least: no node, not running, not ready, youngest, then by name. */
export function byDispensability(a: Pod, b: Pod): number {
  return (
    rank(a) - rank(b) ||
    compareTexts(b.metadata.creationTimestamp, a.metadata.creationTimestamp) ||
    compareTexts(a.metadata.name, b.metadata.name)
  );
}

function rank(pod: Pod): number {
  if (nodeOf(pod) === "") return 0;
  if (pod.status?.phase !== "Running") return 1;
  return isReady(pod) ? 3 : 2;
}

/** Orders texts by their UTF-16 units, everywhere the same. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The owner that controls an object, if it has one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** The keys of the objects of this kind that control the object in its old or new state. */
export function controllerKeys(
  kind: string,
  old: KubeObject | undefined,
  now: KubeObject | undefined,
): readonly ObjectKey[] {
  const object = now ?? old;
  const reference = object === undefined ? undefined : controllerOf(object);
  if (object === undefined || reference?.kind !== kind) return [];
  return [{ namespace: object.metadata.namespace ?? "", name: reference.name }];
}

/** The reference by which an object is owned and controlled. */
export function ownedBy(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** A name for a child: the same for the same seed, short enough for a host name. */
export function childName(base: string, seed: string): string {
  return `${base.slice(0, LONGEST_BASE)}-${suffixOf(seed)}`;
}

/** The first `count` names of an owner's slots that are not taken. */
export function freeNames(
  owner: KubeObject,
  taken: ReadonlySet<string>,
  count: number,
): readonly string[] {
  const names = new Set<string>();
  for (let slot = 0; names.size < count; slot++) {
    const name = childName(owner.metadata.name, `${owner.metadata.uid}/${slot}`);
    if (!taken.has(name)) names.add(name);
  }
  return [...names];
}

function suffixOf(seed: string): string {
  let rest = hashText(seed);
  let text = "";
  for (let i = 0; i < SUFFIX_LENGTH; i++) {
    text += ALPHABET[rest % ALPHABET.length];
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** A pod of an owner, from the template. */
export function makePod(
  owner: KubeObject,
  template: PodTemplate,
  name: string,
  extra: Pick<NewMeta, "labels" | "annotations"> = {},
): NewPod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: owner.metadata.namespace ?? "",
      labels: { ...labels, ...extra.labels },
      ...((annotations !== undefined || extra.annotations !== undefined) && {
        annotations: { ...annotations, ...extra.annotations },
      }),
      ...(finalizers !== undefined && { finalizers }),
      ownerReferences: [ownedBy(owner)],
    },
    spec: template.spec,
  };
}

/** A short text that is the same for templates that say the same, whatever the order of their fields. */
export function templateHash(template: PodTemplate): string {
  const known = hashes.get(template);
  if (known !== undefined) return known;
  const hash = hashText(stableText(template)).toString(36);
  hashes.set(template, hash);
  return hash;
}

/** Templates are frozen and asked for at every look at their owner. */
const hashes = new WeakMap<PodTemplate, string>();

function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => compareTexts(a, b));
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${stableText(item)}`).join(",")}}`;
}

/** A number or a percentage of a total, rounded up or down; what is neither counts as nothing. */
export function portionOf(
  value: number | string,
  total: number,
  round: (value: number) => number,
): number {
  if (typeof value === "number") return value;
  const percent = Number(value.endsWith("%") ? value.slice(0, -1) : Number.NaN);
  return Number.isNaN(percent) ? 0 : round((percent * total) / 100);
}
