/** What there is to tell about the failure of a cluster: each thing once, when it is first seen. */
import { findCondition } from "@lifeboat/api";
import { clusterNamesOf, isOn } from "@lifeboat/core/binding";
import { readPreservedState } from "@lifeboat/core/propagation/rendering";
import { STATE_LABEL, TAINT } from "./application.ts";
import type { Milestone } from "./director.ts";
import { isWell, oldCopies, readyOf, type Snapshot, workloadsOn } from "./snapshot.ts";

export interface Story {
  /** The cluster that dies and returns. */
  readonly doomed: string;
  /** The workloads that were on it when it died. */
  readonly affected: readonly string[];
  readonly hasReturned: boolean;
}

/** Everything that holds at this moment, in the order in which it comes about. */
export function milestonesOf(snapshot: Snapshot, story: Story): readonly Milestone[] {
  return story.hasReturned ? ofReturn(snapshot, story) : ofFailure(snapshot, story);
}

function ofFailure(snapshot: Snapshot, { doomed, affected }: Story): readonly Milestone[] {
  const cluster = snapshot.clusters.find(({ metadata }) => metadata.name === doomed);
  if (cluster === undefined) return [];
  const ready = readyOf(cluster);
  const isTainted = (cluster.spec.taints ?? []).some(({ key }) => key === TAINT);
  const evacuation = snapshot.evacuations.find(({ spec }) => spec.cluster === doomed);
  const total = evacuation?.status?.entries?.total ?? 0;
  return [
    ...when(ready !== "True", "not-ready", `${doomed} does not answer: Ready is ${ready}`),
    ...when(isTainted, "tainted", `${doomed} has failed: it gets the taint ${TAINT}:NoExecute`),
    ...when(
      evacuation !== undefined && total > 0,
      "evacuation",
      `evacuation ${evacuation?.metadata.name ?? ""} begins: ${total} workloads have to leave`,
    ),
    ...affected.flatMap((name) => ofWorkload(snapshot, doomed, name)),
    ...when(
      affected.every((name) => hasMoved(snapshot, doomed, name)),
      "all-well",
      `every workload is whole again, without ${doomed}`,
    ),
  ];
}

function ofWorkload(snapshot: Snapshot, doomed: string, name: string): readonly Milestone[] {
  const binding = bindingOf(snapshot, name);
  if (binding === undefined) return [];
  const hasLeft = !workloadsOn(snapshot, doomed).includes(name);
  const value = stateOf(snapshot, name);
  const carrying = value === undefined ? "" : ` with its state (${value})`;
  const targets = clusterNamesOf(binding).join(", ");
  return [
    ...when(hasLeft, `left-${name}`, `${name} leaves ${doomed}${carrying}`),
    ...when(hasMoved(snapshot, doomed, name), `well-${name}`, `${name} is healthy on ${targets}`),
  ];
}

function ofReturn(snapshot: Snapshot, { doomed, affected }: Story): readonly Milestone[] {
  const cluster = snapshot.clusters.find(({ metadata }) => metadata.name === doomed);
  if (cluster === undefined) return [];
  const isTainted = (cluster.spec.taints ?? []).some(({ key }) => key === TAINT);
  const isClean =
    oldCopies(snapshot, doomed) === 0 &&
    findCondition(cluster.status?.conditions, "StaleCopiesRemoved")?.status !== "False";
  const stayed = affected.every((name) => hasMoved(snapshot, doomed, name));
  return [
    ...when(readyOf(cluster) === "True", "ready", `${doomed} answers again: Ready is True`),
    ...when(isClean, "clean", `the old copies are gone from ${doomed}`),
    ...when(!isTainted, "untainted", `${doomed} has recovered: the taint is taken off`),
    ...when(
      isClean && !isTainted && stayed,
      "open",
      `${doomed} takes new work again; what has moved stays where it is`,
    ),
  ];
}

/** The state that a workload carries with it, as `key=value`. */
export function stateOf(snapshot: Snapshot, name: string): string | undefined {
  const { annotations = {} } = bindingOf(snapshot, name)?.metadata ?? {};
  const value = readPreservedState({ metadata: { annotations } })?.labels[STATE_LABEL];
  return value === undefined ? undefined : `${STATE_LABEL}=${value}`;
}

function bindingOf(snapshot: Snapshot, name: string): Snapshot["bindings"][number] | undefined {
  return snapshot.bindings.find(({ spec }) => spec.resource.name === name);
}

function hasMoved(snapshot: Snapshot, doomed: string, name: string): boolean {
  const binding = bindingOf(snapshot, name);
  if (binding === undefined || !isWell(binding)) return false;
  return !isOn(binding, doomed);
}

function when(holds: boolean, id: string, text: string): readonly Milestone[] {
  return holds ? [{ id, text }] : [];
}
