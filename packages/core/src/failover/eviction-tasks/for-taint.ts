/** Where an eviction task comes from. */
import type { EvictionTask } from "@lifeboat/api";
import { TAINT_MANAGER } from "../evacuation/release.ts";

/** Whether a task comes from a taint of its cluster: such an eviction ends when the taint does (D13). */
export function isForTaint({ producer }: EvictionTask): boolean {
  return producer === TAINT_MANAGER;
}
