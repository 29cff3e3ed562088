/**
 * The size of a member from what its Cluster reports: so many nodes, alike, and pods of others that take what the copies do
 * not. Sums are exact, so that a member of this size reports what the real one did.
 */
import { type Cluster, formatQuantity, parseQuantity, type Quantity } from "@lifeboat/api";
import type { NodeOptions } from "@lifeboat/members";

type Amounts = Readonly<Record<string, string>>;

/** The nodes of a member; undefined when nothing is known of them. */
export function nodesOf({ status }: Cluster): readonly NodeOptions[] | undefined {
  const count = status?.nodeSummary?.totalNum ?? 0;
  const allocatable = status?.resourceSummary?.allocatable as Amounts | undefined;
  if (count < 1 || allocatable === undefined) return undefined;
  return shared(allocatable, count).map((capacity, i) => ({ name: `node-${i + 1}`, capacity }));
}

/** What the pods of others ask for, one entry per pod, when ours take so much. */
export function othersOf({ status }: Cluster, ours: Amounts): readonly Amounts[] {
  const allocated = (status?.resourceSummary?.allocated ?? {}) as Amounts;
  const left = Object.fromEntries(
    Object.entries(allocated).flatMap(([name, amount]) => {
      const rest = difference(amount, ours[name] ?? "0");
      return rest === undefined ? [] : [[name, rest]];
    }),
  );
  const { pods = "0", ...requests } = left;
  const count = Number(pods);
  return Number.isSafeInteger(count) ? shared(requests, count) : [];
}

/** Divides amounts into so many equal parts; what does not divide is in the first. */
function shared(amounts: Amounts, count: number): readonly Amounts[] {
  const shares = Object.entries(amounts).map(
    ([name, amount]) => [name, split(name, amount, count)] as const,
  );
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(shares.map(([name, { first, other }]) => [name, i === 0 ? first : other])),
  );
}

function split(
  name: string,
  amount: string,
  count: number,
): { readonly first: string; readonly other: string } {
  const quantity = quantityOf(amount);
  const grain = name === "cpu" ? THOUSANDTH : ONE;
  const other = (quantity.nanos / BigInt(count) / grain) * grain;
  const first = quantity.nanos - other * BigInt(count - 1);
  const text = (nanos: bigint): string => formatQuantity({ ...quantity, nanos });
  return { first: text(first), other: text(other) };
}

/** In billionths. */
const ONE = 1_000_000_000n;
const THOUSANDTH = 1_000_000n;

/** What is left, above nothing. */
function difference(amount: string, taken: string): string | undefined {
  const all = quantityOf(amount);
  const nanos = all.nanos - quantityOf(taken).nanos;
  return nanos > 0n ? formatQuantity({ ...all, nanos }) : undefined;
}

function quantityOf(text: string): Quantity {
  return parseQuantity(text) ?? { nanos: 0n, format: "DecimalSI" };
}
