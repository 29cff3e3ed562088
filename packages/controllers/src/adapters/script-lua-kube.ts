/**
 * The module `kube`: what scripts would otherwise have to work out themselves about pods and quantities.
 *
 *     resourceAdd(q1, q2, …)               the sum of quantities, as a quantity
 *     accuratePodRequirements(template)    what a pod of this template asks of a cluster; nil when it asks for nothing
 *     getPodDependencies(template, ns)     what a pod of this template refers to in its namespace
 *     getResourceQuantity(q)               a quantity as a number
 */
import {
  addQuantities,
  formatQuantity,
  type Json,
  parseQuantity,
  type Quantity,
} from "@lifeboat/api";
import type { Fields } from "@lifeboat/core";
import { podDependencies, requirementsOf } from "@lifeboat/core/propagation/interpretation";

/** The error that a function returns instead of a result. */
export class Problem extends Error {
  override readonly name = "Problem";
}

export type KubeFunction = (given: readonly Json[]) => Json;

/** The functions by name; they throw `Problem` for what they cannot take. */
export const KUBE_FUNCTIONS: ReadonlyMap<string, KubeFunction> = new Map<string, KubeFunction>([
  ["resourceAdd", (given) => formatQuantity(given.map(quantityOf).reduce(addQuantities, ZERO))],
  ["accuratePodRequirements", ([template = null]) => requirements(template)],
  [
    "getPodDependencies",
    ([template = null, namespace = null]) => dependencies(template, namespace),
  ],
  ["getResourceQuantity", ([quantity = null]) => numberOf(quantityOf(quantity))],
]);

const ZERO: Quantity = { nanos: 0n, format: "DecimalSI" };

function requirements(template: Json): Json {
  const found = requirementsOf(podSpecOf(template));
  return found === undefined ? null : plain(found);
}

function dependencies(template: Json, namespace: Json): Json {
  const inNamespace = namespace === null ? "default" : namespace;
  if (typeof inNamespace !== "string") throw new Problem("the namespace is no text");
  return plain(podDependencies({ metadata: { namespace: inNamespace } }, podSpecOf(template)));
}

function podSpecOf(template: Json): Fields {
  if (!isFields(template)) throw new Problem("the template of the pod is no table");
  const { spec } = template;
  return isFields(spec) ? spec : {};
}

function quantityOf(text: Json): Quantity {
  if (text === null) return ZERO;
  if (typeof text !== "string" && typeof text !== "number")
    throw new Problem("a quantity is a text such as 100m or 2Gi");
  const quantity = parseQuantity(String(text));
  if (quantity === undefined) throw new Problem(`'${text}' is no quantity such as 100m or 2Gi`);
  return quantity;
}

function numberOf({ nanos }: Quantity): number {
  if (nanos < 0n) throw new Problem("the quantity is negative");
  // In two parts, so that neither large quantities nor small ones lose what a double can hold.
  return Number(nanos / NANOS) + Number(nanos % NANOS) / Number(NANOS);
}

const NANOS = 1_000_000_000n;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Interfaces have no index signature; what core answers is JSON all the same. */
function plain(value: object): Json {
  return value as Json;
}
