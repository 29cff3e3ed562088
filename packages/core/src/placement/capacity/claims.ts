/**
 * What counts of a node and of a pod when the room of a member is added up; everything else of them is dropped before it
 * is kept, so that a member with thousands of pods costs little.
 */
import { fieldsAt, listAt, textAt, valueAt } from "../../fields.ts";
import { podRequests } from "../../propagation/interpretation/pod-requirements.ts";
import { type Amounts, amountsFrom, countOf, parseAmounts } from "./amounts.ts";

/** What a node offers. */
export interface NodeOffer {
  readonly ready: boolean;
  readonly allocatable: Amounts;
}

/** What a pod takes, itself included; none for one that has ended. */
export interface PodClaim {
  /** "" while it waits for a node. */
  readonly node: string;
  readonly amounts: Amounts;
}

export const PODS = "pods";

export function nodeOfferOf(node: object): NodeOffer {
  return {
    ready: hasTrueCondition(node, "Ready"),
    allocatable: parseAmounts(fieldsAt(node, "status", "allocatable")),
  };
}

export function podClaimOf(pod: object): PodClaim | undefined {
  const phase = textAt(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed") return undefined;
  const requests = amountsFrom(podRequests(fieldsAt(pod, "spec")));
  const amounts = [...requests.filter(([name]) => name !== PODS), ...countOf(PODS, 1)];
  return { node: nodeOf(pod), amounts };
}

/** A pod that was scheduled but could not be bound has its node in its status. */
function nodeOf(pod: object): string {
  const bound = textAt(pod, "spec", "nodeName");
  if (bound !== "" || !hasTrueCondition(pod, "PodScheduled")) return bound;
  return textAt(pod, "status", "nominatedNodeName");
}

function hasTrueCondition(object: object, type: string): boolean {
  return listAt(object, "status", "conditions").some(
    (condition) => valueAt(condition, "type") === type && valueAt(condition, "status") === "True",
  );
}
