/**
 * Whose turn it is to get a new pod template (federated/rollout.ts), from the Works of a federated StatefulSet, and what a Work
 * is while it is not its turn: all that the set asks for, but the pods.
 *
 * A copy that waits keeps the generation of the template that it was last rendered from, too: so the template's own status shows
 * that the update is not over.
 */
import {
  type Cluster,
  equalJson,
  findCondition,
  type New,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { disruptionBudget, isServing } from "../../federated/budget.ts";
import { isQuorum } from "../../federated/marks.ts";
import { readFederated } from "../../federated/record.ts";
import { decideRollout, type RolloutCopy, type RolloutDecision } from "../../federated/rollout.ts";
import {
  countAt,
  type Fields,
  fieldsAt,
  isFields,
  textAt,
  valueAt,
  withValue,
} from "../../fields.ts";
import { TEMPLATE_GENERATION } from "../../well-known.ts";

export interface Turn {
  readonly cluster: Cluster;
  readonly work: Work;
  /** The Work as it is to be. */
  readonly wanted: New<Work>;
}

/** What decides about pods: changing it replaces some. */
const ROLLED = [
  ["spec", "template"],
  ["spec", "updateStrategy"],
] as const;

/** The clusters whose Works wait; undefined: the binding is not federated, or pods are replaced by hand alone. */
export function decideTurns(
  binding: ResourceBinding,
  turns: readonly Turn[],
): RolloutDecision | undefined {
  const record = readFederated(binding);
  if (record === undefined) return undefined;
  if (turns.some(({ wanted }) => isByHand(manifestOf(wanted)))) return undefined;
  const copies = turns.map(copyOf);
  const budget = disruptionBudget({
    record,
    isQuorum: isQuorum(binding),
    ready: new Map(copies.map(({ cluster, ready }) => [cluster, ready])),
    serving: new Set(
      turns.filter(({ cluster }) => isServing(cluster)).map(({ cluster }) => cluster.metadata.name),
    ),
  });
  return decideRollout(record, copies, budget);
}

/** The Work that waits: as it is to be, with the pods that it has. */
export function heldBack(wanted: New<Work>, work: Work): New<Work> {
  const present = manifestOf(work);
  let manifest = manifestOf(wanted);
  for (const path of [...ROLLED, ["metadata", "annotations", TEMPLATE_GENERATION]])
    manifest = withValue(manifest, path, valueAt(present, ...path));
  return { ...wanted, spec: { ...wanted.spec, workload: { manifests: [manifest] } } };
}

function copyOf({ cluster, work, wanted }: Turn): RolloutCopy {
  const [present, next] = [manifestOf(work), manifestOf(wanted)];
  const reported = work.status?.manifestStatuses?.[0]?.status;
  const strategy = fieldsAt(present, "spec", "updateStrategy");
  return {
    cluster: cluster.metadata.name,
    isLiving: findCondition(cluster.status?.conditions, "Ready")?.status === "True",
    isCurrent: ROLLED.every((path) => equalJson(valueAt(present, ...path), valueAt(next, ...path))),
    isReported: isReported(work) && hasObserved(reported),
    replicas: countAt(present, "spec", "replicas"),
    ready: countAt(reported, "readyReplicas"),
    updated: countAt(reported, "updatedReplicas"),
    partition: countAt(strategy, "rollingUpdate", "partition"),
  };
}

/** Whether the status was observed after this generation of the Work was applied. */
function isReported({ metadata, status }: Work): boolean {
  return ["Applied", "StatusObserved"].every((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === "True" && condition.observedGeneration === metadata.generation;
  });
}

/** Whether the member's own controller has seen the copy as it is. */
function hasObserved(reported: unknown): boolean {
  return countAt(reported, "observedGeneration") >= countAt(reported, "generation");
}

function isByHand(manifest: Fields): boolean {
  return textAt(manifest, "spec", "updateStrategy", "type") === "OnDelete";
}

function manifestOf(work: New<Work>): Fields {
  const [manifest] = work.spec.workload?.manifests ?? [];
  return isFields(manifest) ? manifest : {};
}
