/**
 * What one pod of a workload asks of a cluster.
 *
 * 1. Containers run at the same time and add up; init containers run one after another before them, so only the largest
 *    counts; init containers that keep running (sidecars) add up with everything that starts after them.
 * 2. A limit stands in for a missing request, as it does in a member.
 * 3. What is no quantity, or zero, asks for nothing. A pod that asks for nothing at all has no requirements.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "@lifeboat/api";
import {
  compareText,
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  textsAt,
  valueAt,
} from "../../fields.ts";
import type { Replicas, ReplicaRequirements } from "./interpreter.ts";

type Amounts = Map<string, Quantity>;

/** What a pod of this spec asks for, by the name of the resource. */
export function podRequests(podSpec: Fields): ReadonlyMap<string, Quantity> {
  return amountsOf(podSpec);
}

/** Replicas with the requirements of their pod template, given by its spec. */
export function replicasOf(replicas: number, podSpec: Fields): Replicas {
  const requirements = requirementsOf(podSpec);
  return requirements === undefined ? { replicas } : { replicas, requirements };
}

export function requirementsOf(podSpec: Fields): ReplicaRequirements | undefined {
  const nodeClaim = nodeClaimOf(podSpec);
  const resourceRequest = formatAmounts(amountsOf(podSpec));
  if (nodeClaim === undefined && resourceRequest === undefined) return undefined;
  return {
    ...(nodeClaim === undefined ? {} : { nodeClaim }),
    ...(resourceRequest === undefined ? {} : { resourceRequest }),
  };
}

function nodeClaimOf(podSpec: Fields): ReplicaRequirements["nodeClaim"] {
  const hardNodeAffinity = valueAt(
    podSpec,
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
  );
  const nodeSelector = textsAt(podSpec, "nodeSelector");
  const tolerations = listAt(podSpec, "tolerations");
  const claim = {
    ...(isFields(hardNodeAffinity) ? { hardNodeAffinity } : {}),
    ...(Object.keys(nodeSelector).length > 0 ? { nodeSelector } : {}),
    ...(tolerations.length > 0 ? { tolerations } : {}),
  };
  return Object.keys(claim).length > 0 ? claim : undefined;
}

function amountsOf(podSpec: Fields): Amounts {
  const running: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of listAt(podSpec, "initContainers")) {
    const request = requestOf(container);
    if (valueAt(container, "restartPolicy") === "Always") {
      add(running, request);
    } else {
      add(request, running);
      raise(starting, request);
    }
  }
  for (const container of listAt(podSpec, "containers")) add(running, requestOf(container));
  raise(running, starting);
  add(running, parseAmounts(fieldsAt(podSpec, "overhead")));
  return running;
}

function requestOf(container: unknown): Amounts {
  const request = parseAmounts(fieldsAt(container, "resources", "limits"));
  for (const [name, amount] of parseAmounts(fieldsAt(container, "resources", "requests")))
    request.set(name, amount);
  return request;
}

function parseAmounts(resources: Fields): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, text] of Object.entries(resources)) {
    // Quantities may be written as plain numbers.
    if (typeof text !== "string" && typeof text !== "number") continue;
    const amount = parseQuantity(String(text));
    if (amount !== undefined && amount.nanos >= 0n) amounts.set(name, amount);
  }
  return amounts;
}

function add(sum: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

function raise(highest: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const before = highest.get(name);
    if (before === undefined || compareQuantities(before, amount) < 0) highest.set(name, amount);
  }
}

function formatAmounts(amounts: Amounts): Record<string, string> | undefined {
  const names = [...amounts].filter(([, amount]) => amount.nanos > 0n);
  if (names.length === 0) return undefined;
  names.sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(names.map(([name, amount]) => [name, formatQuantity(amount)]));
}
