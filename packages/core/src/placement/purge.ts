/** What an eviction in mode Directly still has to remove before its replicas are placed anew (D10). */
import type { ResourceBinding } from "@lifeboat/api";

/** How many replicas have to go first (`PlacementView.waitForPurge`); undefined: nothing to wait for. */
export function purgesUnderWay({ spec }: ResourceBinding): number | undefined {
  let replicas: number | undefined;
  for (const task of spec.gracefulEvictionTasks ?? []) {
    if (task.purgeMode !== "Directly" && task.purgeMode !== "Immediately") continue;
    replicas = (replicas ?? 0) + Math.max(0, task.replicas ?? 0);
  }
  return replicas;
}
