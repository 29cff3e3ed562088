/** Purge modes in today's spelling: what becomes of the old copy when a workload leaves a cluster. */
import type { EvictionTask } from "@lifeboat/api";

/** What a policy of cluster failover may ask for. */
export type PurgeMode = "Gracefully" | "Directly";
/** The modes that a task may have: a failing application may also leave its old copy behind. */
export type TaskMode = PurgeMode | "Never";

/** Graciously and Immediately are old spellings. */
const SPELLINGS: ReadonlyMap<string, TaskMode> = new Map([
  ["Gracefully", "Gracefully"],
  ["Graciously", "Gracefully"],
  ["Directly", "Directly"],
  ["Immediately", "Directly"],
  ["Never", "Never"],
]);

/** The mode of a task, or of a policy's wish; absent means Gracefully. */
export function modeOf({ purgeMode = "" }: { readonly purgeMode?: string }): TaskMode {
  return SPELLINGS.get(purgeMode) ?? "Gracefully";
}

/** The mode of cluster failover that a text names; `otherwise` when it names none. */
export function purgeModeOf<Otherwise extends PurgeMode | undefined>(
  text: string | undefined,
  otherwise: Otherwise,
): PurgeMode | Otherwise {
  const mode = SPELLINGS.get(text ?? "");
  return mode === undefined || mode === "Never" ? otherwise : mode;
}

/** Whether the old copy must be gone before a new one may appear (D10). */
export function isDirect(task: Pick<EvictionTask, "purgeMode">): boolean {
  return modeOf(task) === "Directly";
}
