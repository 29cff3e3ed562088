/**
 * The addresses at which a load balancer outside reaches the node ports of a member: some of its nodes, as every node passes
 * requests on to the pods.
 *
 * 1. A node is used while it is ready, takes pods and is not excluded from load balancers. Its external address comes first.
 * 2. There are few addresses, those of the first nodes by name: a large member costs no more than a small one, and a node that comes
 *    or goes elsewhere changes nothing.
 * 3. Nothing is known without a node that can be used: the caller keeps what was known, because the nodes may still answer.
 */
import { deepFreeze } from "@lifeboat/base";
import { compareText, listAt, textAt, textsAt, valueAt } from "../fields.ts";
import { isAddress } from "./names.ts";

/** So many of a member are used. */
export const MAX_NODES = 8;
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
const TYPES = ["ExternalIP", "InternalIP"] as const;

/** The address of a node that can be used; undefined: it cannot. */
export function nodeAddressOf(node: object): string | undefined {
  return valueAt(node, "spec", "unschedulable") === true ? undefined : localNodeAddressOf(node);
}

/** The address of a node that can be used for the pods on it: those stay when it takes no more of them. */
export function localNodeAddressOf(node: object): string | undefined {
  const isReady = listAt(node, "status", "conditions").some(
    (one) => textAt(one, "type") === "Ready" && textAt(one, "status") === "True",
  );
  const isExcluded = Object.hasOwn(textsAt(node, "metadata", "labels"), EXCLUDED);
  if (!isReady || isExcluded) return undefined;
  const all = listAt(node, "status", "addresses");
  const found = TYPES.flatMap((type) => all.filter((one) => textAt(one, "type") === type));
  return found.map((one) => textAt(one, "address")).find(isAddress);
}

/** The addresses of a member, kept up to date node by node. */
export class NodeAddresses {
  readonly #byNode = new Map<string, string>();
  #list: readonly string[] | undefined;

  /** A node came, changed or went; undefined: it cannot be used. */
  change(node: string, address: string | undefined): void {
    if (this.#byNode.get(node) === address) return;
    this.#list = undefined;
    if (address === undefined) this.#byNode.delete(node);
    else this.#byNode.set(node, address);
  }

  /** Sorted, and the same object as before while nothing changed; undefined: none is known. */
  list(): readonly string[] | undefined {
    if (this.#byNode.size === 0) return undefined;
    this.#list ??= deepFreeze(this.#first());
    return this.#list;
  }

  #first(): readonly string[] {
    const inOrder = [...this.#byNode].sort(([a], [b]) => compareText(a, b)).slice(0, MAX_NODES);
    return [...new Set(inOrder.map(([, address]) => address))].sort();
  }
}
