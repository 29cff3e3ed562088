/**
 * The end state of a world in one comparable text per object: what two runs must agree on that differ only in faults.
 *
 * 1. What honestly differs is left out: uids, versions, generations, times, Events, Leases, and the names and addresses
 *    that are drawn by chance. Pods and ReplicaSets are known by their owner and not by name.
 * 2. Everything else is in.
 */
import type { AnyObject, Json } from "@lifeboat/api";
import type { Ledger } from "../disk/ledger.ts";

/** From where an object is to what it says. */
export type Ending = ReadonlyMap<string, string>;

const LEFT_OUT_TABLES = new Set([
  "/events",
  "coordination.k8s.io/leases",
  "apiextensions.k8s.io/customresourcedefinitions",
  // It says when the last release was reserved and what the fleet was like then.
  "lifeboat.dev/evacuationbudgets",
  // Which changes share a slice, and when they were met, is a matter of time.
  "lifeboat.dev/ledgerslices",
]);
/** Objects whose names are made of uids or times. */
const NAMELESS_TABLES = new Set(["/pods", "apps/replicasets", "lifeboat.dev/evacuationslices"]);
const LEFT_OUT_FIELDS = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "observedGeneration",
  "creationTimestamp",
  "managedFields",
  "podIP",
  "podIPs",
  "hostIP",
  "clusterIP",
  "clusterIPs",
  "containerID",
  "schedulerObservedGeneration",
  "resourceTemplateGeneration",
  "resourcetemplate.karmada.io/generation",
  "work.karmada.io/permanent-id",
  "lifeboat.dev/taint-policies",
]);
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
/** Versions in messages. */
const VERSION = /rv:\d+/g;
/** That of published backends, in an annotation: it is a time. */
const PUBLISHED = /\\"generation\\":\d+/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** The ending of some servers. */
export function endingOf(ledger: Ledger, servers: readonly string[]): Ending {
  const shown: (readonly [string, string])[] = [];
  for (const server of servers)
    for (const { table, key, object } of ledger.all(server)) {
      if (LEFT_OUT_TABLES.has(table)) continue;
      const nameless = NAMELESS_TABLES.has(table);
      const where = `${server} ${table} ${nameless ? ownerOf(object) : key}`;
      shown.push([where, textOf(nameless ? withoutName(object) : object)]);
    }
  return numbered(shown);
}

/** What differs between two endings, in words. */
export function differences(expected: Ending, actual: Ending): readonly string[] {
  const found: string[] = [];
  for (const [where, text] of expected) {
    const other = actual.get(where);
    if (other === undefined) found.push(`${where} is missing`);
    else if (other !== text) found.push(`${where} differs: ${around(text, other)}`);
  }
  for (const where of actual.keys()) if (!expected.has(where)) found.push(`${where} is surplus`);
  return found;
}

function textOf(object: AnyObject): string {
  return JSON.stringify(strip(object as Json))
    .replaceAll(UID, "UID")
    .replaceAll(VERSION, "VERSION")
    .replaceAll(PUBLISHED, "PUBLISHED")
    .replaceAll(TIME, "TIME");
}

function strip(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(strip);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as Readonly<Record<string, Json>>)
    .filter(([key]) => !LEFT_OUT_FIELDS.has(key))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, strip(inner)] as const);
  return Object.fromEntries(entries);
}

function ownerOf({ metadata }: AnyObject): string {
  const [owner] = metadata.ownerReferences ?? [];
  const name = owner?.kind === "ReplicaSet" ? owner.name.replace(/-[^-]+$/, "") : owner?.name;
  return `${metadata.namespace}/${name ?? "nobody"}`;
}

function withoutName(object: AnyObject): AnyObject {
  const { generateName: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, name: "" } };
}

/** Gives those that share a place a number, by what they say. */
function numbered(shown: readonly (readonly [string, string])[]): Ending {
  const sorted = shown.toSorted(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)));
  const counts = new Map<string, number>();
  return new Map(
    sorted.map(([where, text]) => {
      const count = (counts.get(where) ?? 0) + 1;
      counts.set(where, count);
      return [count === 1 ? where : `${where} (${count})`, text] as const;
    }),
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function around(expected: string, actual: string): string {
  let at = 0;
  while (expected[at] === actual[at]) at += 1;
  const cut = (text: string): string => text.slice(Math.max(0, at - 60), at + 100);
  return `expected …${cut(expected)}… but found …${cut(actual)}…`;
}
