/** What a ReplicaSet needs: as many active pods as it says. Pods that ended or are leaving do not count. */
import { matchesLabels, labelSelectorFrom } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import type { Pod, ReplicaSet, ReplicaSetStatus } from "../kinds.ts";
import {
  BURST,
  byDispensability,
  countPods,
  freeNames,
  isActive,
  makePod,
  type PodsPlan,
} from "./pods.ts";

/** Decides for one ReplicaSet and the pods it owns, the leaving ones included. Pure. */
export function decideReplicaSet(
  set: ReplicaSet,
  owned: readonly Pod[],
  now: Instant,
): PodsPlan<ReplicaSetStatus> {
  const active = owned.filter(isActive);
  const leaving = set.metadata.deletionTimestamp !== undefined;
  const missing = leaving ? 0 : (set.spec.replicas ?? 1) - active.length;
  const taken = new Set(owned.map((pod) => pod.metadata.name));
  const names = freeNames(set, taken, Math.min(Math.max(missing, 0), BURST));
  const counts = countPods(active, set.spec.minReadySeconds ?? 0, now);
  const template = labelSelectorFrom({ matchLabels: set.spec.template.metadata?.labels ?? {} });
  return {
    create: names.map((name) => makePod(set, set.spec.template, name)),
    remove:
      missing < 0 ? active.toSorted(byDispensability).slice(0, Math.min(-missing, BURST)) : [],
    status: {
      ...set.status,
      replicas: active.length,
      fullyLabeledReplicas: active.filter((pod) => matchesLabels(template, pod.metadata.labels))
        .length,
      readyReplicas: counts.ready,
      availableReplicas: counts.available,
      observedGeneration: set.metadata.generation ?? 0,
    },
    ...(counts.checkAgainAt !== undefined && { checkAgainAt: counts.checkAgainAt }),
  };
}
