/**
 * Which node a pod gets: one that its nodeSelector allows, that is not cordoned and has room for what it asks; of
 * these the one with the fewest pods, then by name.
 *
 * The ledger knows what every node has given away. It is kept up to date by single changes, so that a choice costs
 * as much as there are nodes, not as there are pods.
 *
 * 1. A pod is in the ledger once, with the node and the amounts of its newest version.
 * 2. Amounts are whole numbers: thousandths of cores, whole units of everything else.
 */
import { parseQuantity, quantityMilliValue, quantityValue } from "@lifeboat/api";
import type { Container, Node, PodSpec } from "../kinds.ts";
import { compareTexts } from "./pods.ts";

/** How much of each resource, by name. */
export type Amounts = ReadonlyMap<string, number>;

export type Placement =
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "none"; readonly message: string };

interface Entry {
  readonly node: string;
  readonly amounts: Amounts;
}

/** What each node has given away. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly #used = new Map<string, Map<string, number>>();

  /** Writes down that the pod takes these amounts of the node; "" is no node. */
  set(pod: string, node: string, amounts: Amounts): void {
    const old = this.#entries.get(pod);
    if (old?.node === node) return;
    this.remove(pod);
    if (node === "") return;
    this.#entries.set(pod, { node, amounts });
    this.#add(node, amounts, 1);
  }

  remove(pod: string): void {
    const old = this.#entries.get(pod);
    if (old === undefined) return;
    this.#entries.delete(pod);
    this.#add(old.node, old.amounts, -1);
  }

  has(pod: string): boolean {
    return this.#entries.has(pod);
  }

  used(node: string): Amounts {
    return this.#used.get(node) ?? NOTHING;
  }

  #add(node: string, amounts: Amounts, sign: 1 | -1): void {
    const used = this.#used.get(node) ?? new Map<string, number>();
    for (const [name, amount] of amounts) used.set(name, (used.get(name) ?? 0) + sign * amount);
    this.#used.set(node, used);
  }
}

const NOTHING: Amounts = new Map();

/** What a pod asks for: the sum over its containers or its largest init container, and one place for a pod. */
export function requestsOf(spec: PodSpec): Amounts {
  const total = new Map<string, number>([["pods", 1]]);
  for (const container of spec.containers)
    for (const [name, amount] of amountsOf(requested(container)))
      total.set(name, (total.get(name) ?? 0) + amount);
  for (const container of spec.initContainers ?? [])
    for (const [name, amount] of amountsOf(requested(container)))
      total.set(name, Math.max(total.get(name) ?? 0, amount));
  return total;
}

function requested(container: Container): Readonly<Record<string, string>> {
  return container.resources?.requests ?? {};
}

/** The amounts that quantities stand for; what is no quantity is nothing. */
export function amountsOf(quantities: Readonly<Record<string, string>>): Amounts {
  const amounts = new Map<string, number>();
  for (const [name, text] of Object.entries(quantities)) {
    const quantity = parseQuantity(text);
    if (quantity === undefined) continue;
    const amount = name === "cpu" ? quantityMilliValue(quantity) : quantityValue(quantity);
    amounts.set(name, Number(amount));
  }
  return amounts;
}

/** Whether a node has the labels that a pod insists on. */
export function matchesNode(spec: PodSpec, node: Node): boolean {
  const selector = Object.entries(spec.nodeSelector ?? {});
  return selector.every(([key, value]) => node.metadata.labels?.[key] === value);
}

/** Chooses a node for a pod, or says for all nodes together why none will do. Pure. */
export function choosePlace(
  spec: PodSpec,
  requests: Amounts,
  nodes: readonly Node[],
  ledger: Ledger,
): Placement {
  let best: { readonly name: string; readonly pods: number } | undefined;
  const reasons = new Map<string, number>();
  for (const node of nodes) {
    const { name } = node.metadata;
    const used = ledger.used(name);
    const problem = problemOf(spec, requests, node, used);
    if (problem !== undefined) {
      reasons.set(problem, (reasons.get(problem) ?? 0) + 1);
      continue;
    }
    const pods = used.get("pods") ?? 0;
    const better =
      best === undefined ||
      pods < best.pods ||
      (pods === best.pods && compareTexts(name, best.name) < 0);
    if (better) best = { name, pods };
  }
  if (best !== undefined) return { kind: "node", name: best.name };
  return { kind: "none", message: explain(nodes.length, reasons) };
}

function problemOf(
  spec: PodSpec,
  requests: Amounts,
  node: Node,
  used: Amounts,
): string | undefined {
  if (node.spec?.unschedulable === true) return "node(s) were unschedulable";
  if (!matchesNode(spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  const room = amountsOf(node.status?.allocatable ?? {});
  for (const [name, amount] of requests) {
    if (amount === 0 || (used.get(name) ?? 0) + amount <= (room.get(name) ?? 0)) continue;
    return name === "pods" ? "Too many pods" : `Insufficient ${name}`;
  }
  return undefined;
}

function explain(nodes: number, reasons: ReadonlyMap<string, number>): string {
  if (nodes === 0) return "no nodes available to schedule pods";
  const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort(compareTexts);
  return `0/${nodes} nodes are available: ${texts.join(", ")}.`;
}
