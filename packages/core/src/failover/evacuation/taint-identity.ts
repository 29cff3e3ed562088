/**
 * The identity of a taint. A taint that was removed and added again is another taint, because tolerations count from
 * `timeAdded` and eligibility is frozen per taint (D7).
 */
import type { EvacuationStatus } from "@lifeboat/api";
import type { EvictingTaint } from "./affected.ts";

export type RecordedTaint = NonNullable<EvacuationStatus["taints"]>[number];
export type TaintIdentity = RecordedTaint["taint"];

/** The identity of a taint that moves workloads. */
export function identityOf(taint: EvictingTaint): TaintIdentity {
  const { key, value, timeAdded } = taint;
  return {
    key,
    ...(value === undefined || value === "" ? {} : { value }),
    effect: taint.effect,
    ...(timeAdded === undefined ? {} : { timeAdded }),
  };
}

/** One text per identity. Taints of a cluster differ in key and effect, so the value is no part of it. */
export function taintId({ key, effect, timeAdded = "" }: TaintIdentity | EvictingTaint): string {
  return `${key}:${effect}@${timeAdded}`;
}

/** As people write it: `key=value:effect`. */
export function describeTaint({ key, value = "", effect }: TaintIdentity | EvictingTaint): string {
  return `${key}${value === "" ? "" : `=${value}`}:${effect}`;
}
