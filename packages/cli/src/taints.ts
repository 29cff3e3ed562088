/**
 * What a person says about taints on the command line, and what a cluster's taints are after it:
 *
 *     key=value:Effect    the cluster gets this taint       key:Effect    the same, without a value
 *     key:Effect-         it loses this one                 key-          it loses all with this key
 *
 * 1. A taint is known by its key and effect; another value for one that is there needs consent (`--overwrite`).
 * 2. What is not named stays as it is, and so does the time at which it was added.
 * 3. Taking away what is not there is a mistake that is said, because it is usually a misspelling.
 */
import { type Cluster, labelKeyProblems, labelValueProblems, TAINT_EFFECTS } from "@lifeboat/api";
import { CommandFailed, UsageError } from "./failure.ts";

export type Taint = NonNullable<Cluster["spec"]["taints"]>[number];

export type TaintOrder =
  | { readonly kind: "add"; readonly taint: Taint }
  | { readonly kind: "remove"; readonly key: string; readonly effect: string | undefined };

/** As people write it: `key=value:Effect`. */
export function formatTaint({
  key,
  value = "",
  effect,
}: Pick<Taint, "key" | "value"> & { readonly effect: string }): string {
  return `${key}${value === "" ? "" : `=${value}`}:${effect}`;
}

/** Reads one order; throws UsageError when it is none. */
export function parseTaintOrder(text: string): TaintOrder {
  const isRemoval = text.endsWith("-");
  const [named = "", effect, ...more] = (isRemoval ? text.slice(0, -1) : text).split(":");
  const [key = "", value, ...rest] = named.split("=");
  if (more.length > 0 || rest.length > 0) throw wrong(text, SPELLING);
  refuse(text, "the key", labelKeyProblems(key));
  refuse(text, "the value", labelValueProblems(value ?? ""));
  const known = TAINT_EFFECTS.find((one) => one === effect);
  if (effect !== undefined && known === undefined)
    throw wrong(text, `the effect must be one of ${TAINT_EFFECTS.join(", ")}`);
  if (isRemoval && (value === undefined || known !== undefined))
    return { kind: "remove", key, effect: known };
  if (isRemoval || known === undefined) throw wrong(text, SPELLING);
  const taint = { key, ...(value === undefined || value === "" ? {} : { value }), effect: known };
  return { kind: "add", taint };
}

/** Reads all orders; throws UsageError when one of them is wrong or two of them contradict each other. */
export function parseTaintOrders(texts: readonly string[]): readonly TaintOrder[] {
  const orders = texts.map(parseTaintOrder);
  const seen = new Set<string>();
  for (const order of orders) {
    const { key, effect } = order.kind === "add" ? order.taint : order;
    const both = effect === undefined ? TAINT_EFFECTS : [effect];
    for (const one of both) {
      const id = `${key}:${one}`;
      if (seen.has(id)) throw new UsageError(`${id} is named twice`);
      seen.add(id);
    }
  }
  return orders;
}

/** The taints after the orders; throws CommandFailed when one of them cannot be carried out. */
export function applyTaintOrders(
  taints: readonly Taint[],
  orders: readonly TaintOrder[],
  overwrite: boolean,
): readonly Taint[] {
  return orders.reduce<readonly Taint[]>(
    (now, order) =>
      order.kind === "add"
        ? withTaint(now, order.taint, overwrite)
        : withoutTaint(now, order.key, order.effect),
    taints,
  );
}

/** The same list when the taint is there already. */
export function withTaint(
  taints: readonly Taint[],
  taint: Taint,
  overwrite: boolean,
): readonly Taint[] {
  const there = taints.find(({ key, effect }) => key === taint.key && effect === taint.effect);
  if (there === undefined) return [...taints, taint];
  if ((there.value ?? "") === (taint.value ?? "")) return taints;
  if (!overwrite)
    throw new CommandFailed(
      `it has the taint ${formatTaint(there)} already; --overwrite gives it another value`,
    );
  return taints.map((one) => (one === there ? taint : one));
}

function withoutTaint(
  taints: readonly Taint[],
  key: string,
  effect: string | undefined,
): readonly Taint[] {
  const left = taints.filter(
    (one) => one.key !== key || (effect !== undefined && one.effect !== effect),
  );
  if (left.length < taints.length) return left;
  const what = effect === undefined ? key : `${key}:${effect}`;
  const has = taints.length === 0 ? "it has none" : `it has ${taints.map(formatTaint).join(", ")}`;
  throw new CommandFailed(`it has no taint ${what}: ${has}`);
}

const SPELLING =
  "key=value:Effect or key:Effect is needed to add a taint, key:Effect- or key- to remove it";

function refuse(text: string, part: string, problems: readonly string[]): void {
  const [problem] = problems;
  if (problem !== undefined) throw wrong(text, `${part}: ${problem}`);
}

function wrong(text: string, need: string): UsageError {
  return new UsageError(`"${text}" is not valid: ${need}`);
}
