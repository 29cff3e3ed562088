/**
 * What a DaemonSet needs: one pod on every node that its template's nodeSelector allows. The pods are made with their
 * node, whatever room it has; cordoned nodes get them too.
 */
import type { Instant } from "@lifeboat/base";
import type { DaemonSet, DaemonSetStatus, NewPod, Node, Pod } from "../kinds.ts";
import {
  childName,
  compareTexts,
  countPods,
  isActive,
  isFinished,
  isLeaving,
  isReady,
  makePod,
  nodeOf,
  type PodsPlan,
  portionOf,
  templateHash,
} from "./pods.ts";
import { matchesNode } from "./placement.ts";
import { REVISION_LABEL } from "./stateful-set.ts";

/** Decides for one DaemonSet, the pods it owns and all nodes. Pure. */
export function decideDaemonSet(
  set: DaemonSet,
  owned: readonly Pod[],
  nodes: readonly Node[],
  now: Instant,
): PodsPlan<DaemonSetStatus> {
  const hash = templateHash(set.spec.template);
  const wanted = nodes
    .filter((node) => matchesNode(set.spec.template.spec, node))
    .map((node) => node.metadata.name)
    .sort(compareTexts);
  const steps = nextSteps(set, owned, wanted, hash);
  const places = new Set(wanted);
  const active = owned.filter(isActive);
  const placed = active.filter((pod) => places.has(nodeOf(pod)));
  const counts = countPods(placed, set.spec.minReadySeconds ?? 0, now);
  return {
    ...(set.metadata.deletionTimestamp === undefined ? steps : { create: [], remove: [] }),
    status: {
      ...set.status,
      observedGeneration: set.metadata.generation ?? 0,
      desiredNumberScheduled: wanted.length,
      currentNumberScheduled: placed.length,
      numberMisscheduled: active.length - placed.length,
      numberReady: counts.ready,
      numberAvailable: counts.available,
      numberUnavailable: wanted.length - counts.available,
      updatedNumberScheduled: placed.filter((pod) => isCurrent(pod, hash)).length,
    },
    ...(counts.checkAgainAt !== undefined && { checkAgainAt: counts.checkAgainAt }),
  };
}

function nextSteps(
  set: DaemonSet,
  owned: readonly Pod[],
  wanted: readonly string[],
  hash: string,
): { readonly create: readonly NewPod[]; readonly remove: readonly Pod[] } {
  const places = new Set(wanted);
  const occupied = new Set(owned.map(nodeOf));
  const create = wanted.filter((node) => !occupied.has(node)).map((node) => podOn(set, node, hash));
  const staying = owned.filter((pod) => !isLeaving(pod));
  const remove = staying.filter((pod) => !places.has(nodeOf(pod)) || isFinished(pod));
  return { create, remove: [...remove, ...outdated(set, owned, wanted, hash)] };
}

/** Pods of another template, as many as may be missing at once; those that are not ready do not count. */
function outdated(
  set: DaemonSet,
  owned: readonly Pod[],
  wanted: readonly string[],
  hash: string,
): readonly Pod[] {
  const { type = "RollingUpdate", rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return [];
  const places = new Set(wanted);
  const active = owned.filter((pod) => isActive(pod) && places.has(nodeOf(pod)));
  const old = active.filter((pod) => !isCurrent(pod, hash)).sort(byName);
  const mayMiss = Math.max(
    portionOf(rollingUpdate?.maxUnavailable ?? 1, wanted.length, Math.ceil),
    1,
  );
  const missing = wanted.length - active.filter(isReady).length;
  const ready = old.filter(isReady).slice(0, Math.max(mayMiss - missing, 0));
  return [...old.filter((pod) => !isReady(pod)), ...ready];
}

function podOn(set: DaemonSet, node: string, hash: string): NewPod {
  const name = childName(set.metadata.name, `${set.metadata.uid}/${node}/${hash}`);
  const pod = makePod(set, set.spec.template, name, { labels: { [REVISION_LABEL]: hash } });
  return { ...pod, spec: { ...pod.spec, nodeName: node } };
}

function isCurrent(pod: Pod, hash: string): boolean {
  return pod.metadata.labels?.[REVISION_LABEL] === hash;
}

function byName(a: Pod, b: Pod): number {
  return compareTexts(a.metadata.name, b.metadata.name);
}
