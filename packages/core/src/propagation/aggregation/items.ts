/**
 * What is known of the copies of a resource, one item for each Work, as a binding reports it.
 *
 * 1. Items are in the order of their clusters' names; a Work that is being deleted has none.
 * 2. Health counts only when the Work's current generation was applied and its status was observed after that (D9):
 *    otherwise it is Unknown, whatever was reported before.
 * 3. A status that was reported stays until another one is.
 */
import { type BindingStatus, findCondition, type ResourceBinding, type Work } from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import { isScheduled } from "../../binding/index.ts";
import { compareText } from "../../fields.ts";
import type { StatusItem } from "../interpretation/interpreter.ts";
import { clusterOfExecutionNamespace } from "../rendering/names.ts";
import { clustersWithCopy } from "../dependencies/copies.ts";

/** An entry of a binding's `status.aggregatedStatus`. */
export type AggregatedItem = NonNullable<BindingStatus["aggregatedStatus"]>[number];

/** The items of some Works. */
export function aggregatedItems(works: readonly Work[]): readonly AggregatedItem[] {
  const items: AggregatedItem[] = [];
  for (const work of works) {
    const clusterName = clusterOfExecutionNamespace(work.metadata.namespace ?? "");
    if (clusterName === undefined || work.metadata.deletionTimestamp !== undefined) continue;
    items.push(itemOf(clusterName, work));
  }
  return items.sort((a, b) => compareText(a.clusterName, b.clusterName));
}

/**
 * The copies from which the template's status is made: the reported ones, and those that are still to come, about which
 * nothing is known. A resource that has not been placed yet has one of them, in no cluster: so nothing counts as observed
 * or done only because there is nothing to wait for.
 */
export function copiesOf(
  binding: ResourceBinding,
  items: readonly AggregatedItem[],
): readonly StatusItem[] {
  const reported = new Set(items.map(({ clusterName }) => clusterName));
  const awaited = [...clustersWithCopy(binding)].filter((name) => !reported.has(name));
  const copies: StatusItem[] = [...items, ...awaited.map((clusterName) => ({ clusterName }))];
  if (copies.length === 0 && !isScheduled(binding)) return [{ clusterName: "" }];
  return copies.sort((a, b) => compareText(a.clusterName, b.clusterName));
}

function itemOf(clusterName: string, work: Work): AggregatedItem {
  const applied = findCondition(work.status?.conditions, "Applied");
  const reported = work.status?.manifestStatuses?.[0];
  const item: AggregatedItem = {
    clusterName,
    ...(reported?.status !== undefined && { status: reported.status }),
  };
  if (applied?.status === "True")
    return {
      ...anew,
      ...item,
      applied: true,
      health: (isCurrent(work) && reported?.health) || "Unknown",
    };
  if (applied === undefined) return { ...anew, ...item, health: "Unknown" };
  const { message } = applied;
  return {
    ...anew,
    ...item,
    applied: false,
    ...(message !== "" && { appliedMessage: message }),
    health: "Unknown",
  };
}

function isCurrent({ metadata, status }: Work): boolean {
  return ["Applied", "StatusObserved"].every((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === "True" && condition.observedGeneration === metadata.generation;
  });
}
