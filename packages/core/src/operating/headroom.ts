/**
 * How much of a cluster is free, as one figure for a table: the share that is left of the resource of which least is left, among
 * those that every workload needs.
 *
 * It is what the cluster last reported. Room that is promised to workloads and not yet visible there counts as free: placement
 * subtracts it, a table for people does not.
 */
import type { Cluster } from "@lifeboat/api";
import { PODS, readAmounts } from "../placement/candidate.ts";

export interface Headroom {
  readonly resource: string;
  /** From 0 to 1. */
  readonly free: number;
}

const RESOURCES = ["cpu", "memory", PODS];

/** Undefined: the cluster has not counted its nodes yet, or has none. */
export function headroomOf({ status }: Cluster): Headroom | undefined {
  const { allocatable, allocated, allocating } = status?.resourceSummary ?? {};
  const whole = readAmounts(allocatable ?? {});
  const taken = [readAmounts(allocated ?? {}), readAmounts(allocating ?? {})];
  let least: Headroom | undefined;
  for (const resource of RESOURCES) {
    const all = whole.get(resource) ?? 0;
    if (all <= 0) continue;
    const left = taken.reduce((rest, amounts) => rest - (amounts.get(resource) ?? 0), all);
    const free = Math.max(0, left / all);
    if (least === undefined || free < least.free) least = { resource, free };
  }
  return least;
}
