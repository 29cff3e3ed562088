/**
 * How an object that is there is brought in line with the one that is installed, and what differs. Pure.
 *
 * 1. Labels and annotations of others stay. Every other field that is installed is replaced whole.
 * 2. Other entries of a ConfigMap stay: tokens sign cluster-info there.
 * 3. The bundle of a webhook and of an APIService stays: the manager writes it.
 */
import { type AnyObject, equalJson, isJsonObject, type JsonObject, type New } from "@lifeboat/api";
import type { Webhook } from "../webhook/resources.ts";

export function mergedObject(found: AnyObject, wanted: New<AnyObject>): AnyObject {
  const { metadata, apiVersion: _apiVersion, kind: _kind, ...fields } = wanted;
  const merged: Record<string, unknown> = { ...found, ...fields };
  if (Array.isArray(fields["webhooks"]))
    merged["webhooks"] = keepBundles(fields["webhooks"] as readonly Webhook[], found);
  if (found.kind === "APIService") merged["spec"] = keepBundle(fields["spec"], found["spec"]);
  if (found.kind === "ConfigMap")
    merged["data"] = { ...(found["data"] as JsonObject), ...(fields["data"] as JsonObject) };
  merged["metadata"] = {
    ...found.metadata,
    labels: { ...found.metadata.labels, ...metadata.labels },
  };
  return merged as unknown as AnyObject;
}

function keepBundle(wanted: unknown, found: unknown): unknown {
  const caBundle = isJsonObject(found) ? found["caBundle"] : undefined;
  return isJsonObject(wanted) && caBundle !== undefined ? { ...wanted, caBundle } : wanted;
}

function keepBundles(wanted: readonly Webhook[], found: AnyObject): readonly Webhook[] {
  const before = (found["webhooks"] ?? []) as unknown as readonly Webhook[];
  // One bundle for all: a webhook that is new trusts what the others trust.
  const [bundle] = before.flatMap(({ clientConfig }) => clientConfig.caBundle ?? []);
  if (bundle === undefined) return wanted;
  return wanted.map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle: bundle },
  }));
}

/** What the server itself counts and keeps: no difference that anyone installed. */
const KEPT_BY_SERVER: ReadonlySet<string> = new Set([
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.managedFields",
  "metadata.uid",
  "metadata.creationTimestamp",
  "status",
]);

/** The differences of two objects as lines: `-path: value` and `+path: value`. */
export function differences(before: unknown, after: unknown): readonly string[] {
  return compare(before, after, "");
}

function compare(before: unknown, after: unknown, path: string): readonly string[] {
  if (KEPT_BY_SERVER.has(path)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
    return fields.flatMap((field) =>
      compare(before[field], after[field], path === "" ? field : `${path}.${field}`),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => compare(before[i], after[i], `${path}[${i}]`)).flat();
  }
  if (equalJson(before, after)) return [];
  return [
    ...(before === undefined ? [] : [`-${path}: ${JSON.stringify(before)}`]),
    ...(after === undefined ? [] : [`+${path}: ${JSON.stringify(after)}`]),
  ];
}

/** Whether the first version is newer, by the numbers of their names: `1.10.0` is newer than `1.9.3`, and than `1.10.0-rc.1`. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (let i = 0; i < 3; i++) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  if (a.suffix === b.suffix) return false;
  if (a.suffix === "" || b.suffix === "") return a.suffix === "";
  return a.suffix > b.suffix;
}

function partsOf(version: string): {
  readonly numbers: readonly number[];
  readonly suffix: string;
} {
  const [, numbers = "", suffix = ""] = /^v?([\d.]*)(?:-([^_+]*))?/.exec(version) ?? [];
  return { numbers: numbers.split(".").map(Number), suffix };
}
