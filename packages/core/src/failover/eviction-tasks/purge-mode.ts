/** What eviction tasks say, in today's words. */
import type { EvictionTask } from "@lifeboat/api";
import { TAINT_MANAGER } from "../evacuation/release.ts";
import { isPurgedDirectly } from "../../propagation/works/targets.ts";

/** What becomes of the old copy. */
export type TaskMode = "Gracefully" | "Directly" | "Never";

/** The mode of a task; Graciously and Immediately are old spellings, and absent means Gracefully. */
export function modeOf(task: EvictionTask): TaskMode {
  if (isPurgedDirectly(task)) return "Directly";
  return task.purgeMode === "Never" ? "Never" : "Gracefully";
}

/** Whether a task comes from a taint of its cluster: such an eviction ends when the taint does (D13). */
export function isForTaint({ producer }: EvictionTask): boolean {
  return producer === TAINT_MANAGER;
}
