/**
 * Amounts of resources that are added up and taken off again, exactly: billionths as BigInt, by the resource's name.
 *
 * 1. A sum does not depend on the order of its parts; what was added and taken off again leaves nothing.
 * 2. How an amount is written depends on its resource alone, so that equal sums are equal texts.
 * 3. What is written stays small, whatever names a member makes up.
 */
import { formatQuantity, parseQuantity, type Quantity } from "@lifeboat/api";
import { compareText, type Fields } from "../../fields.ts";

/** A few amounts, small and frozen. Pairs, because names come from members and may be any text. */
export type Amounts = readonly (readonly [name: string, nanos: bigint])[];

const NANOS = 1_000_000_000n;
const BINARY: ReadonlySet<string> = new Set(["memory", "ephemeral-storage", "storage"]);

/** Longer names are none. */
const LONGEST_NAME = 317;
/** So many resources of a member are written: Kubernetes' own, then the first by name. */
const MOST_NAMES = 200;

/** The amounts of a resource list in an object; what is no quantity, or not above zero, is left out. */
export function parseAmounts(list: Fields): Amounts {
  const parsed: [string, Quantity][] = [];
  for (const [name, text] of Object.entries(list)) {
    if (typeof text !== "string" && typeof text !== "number") continue;
    const amount = parseQuantity(String(text));
    if (amount !== undefined) parsed.push([name, amount]);
  }
  return amountsFrom(parsed);
}

export function amountsFrom(quantities: Iterable<readonly [string, Quantity]>): Amounts {
  const amounts: [string, bigint][] = [];
  for (const [name, { nanos }] of quantities)
    if (nanos > 0n && name.length <= LONGEST_NAME) amounts.push([name, nanos]);
  return amounts;
}

/** So many of something that is counted, such as pods. */
export function countOf(name: string, count: number): Amounts {
  return count > 0 ? [[name, BigInt(count) * NANOS]] : [];
}

/** A running sum. */
export class Sum {
  readonly #nanos = new Map<string, bigint>();

  add(amounts: Amounts): void {
    for (const [name, nanos] of amounts) this.#put(name, this.of(name) + nanos);
  }

  subtract(amounts: Amounts): void {
    for (const [name, nanos] of amounts) this.#put(name, this.of(name) - nanos);
  }

  /** In billionths; 0 for what was never added. */
  of(name: string): bigint {
    return this.#nanos.get(name) ?? 0n;
  }

  amounts(): Amounts {
    return [...this.#nanos];
  }

  /** As a resource list, in a fixed order; undefined when there is nothing. */
  format(): Readonly<Record<string, string>> | undefined {
    if (this.#nanos.size === 0) return undefined;
    const sorted = [...this.#nanos].sort(([a], [b]) => compareNames(a, b)).slice(0, MOST_NAMES);
    return Object.fromEntries(sorted.map(([name, nanos]) => [name, formatAmount(name, nanos)]));
  }

  #put(name: string, nanos: bigint): void {
    if (nanos === 0n) this.#nanos.delete(name);
    else this.#nanos.set(name, nanos);
  }
}

function compareNames(a: string, b: string): number {
  return Number(a.includes("/")) - Number(b.includes("/")) || compareText(a, b);
}

function formatAmount(name: string, nanos: bigint): string {
  const isBinary = BINARY.has(name) || name.startsWith("hugepages-");
  return formatQuantity({ nanos, format: isBinary ? "BinarySI" : "DecimalSI" });
}
