/**
 * A workload that left a cluster because it was unhealthy there does not go back before it is healthy elsewhere (D23).
 * Evictions for a fault of the cluster do not count: once the cluster recovers, it is a candidate again.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { EVICTED_FROM } from "../../well-known.ts";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "EvictedFrom";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) were left because the workload was unhealthy there",
  help: "wait until the workload is healthy, or place it there by hand",
});

export const evictedFrom: Filter = {
  name: NAME,
  binds: true,
  prepare: ({ evictedFrom: left }) =>
    left.size === 0 ? undefined : (candidate) => (left.has(candidate.name) ? rejection : undefined),
};

/** The clusters that a workload left because it was unhealthy there, and has not got well since. */
export function evictedFromOf({ metadata }: ResourceBinding): ReadonlySet<string> {
  return new Set(recordedEvictions(metadata.annotations?.[EVICTED_FROM]));
}

/** Whether it may go again to clusters that it was kept from. */
export function isLetBack(before: ResourceBinding, now: ResourceBinding): boolean {
  return evictedFromOf(now).size < evictedFromOf(before).size;
}

/** What the binding's annotation names; nothing when it cannot be read. */
export function recordedEvictions(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) ? names.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
