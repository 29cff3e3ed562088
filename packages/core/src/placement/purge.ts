/** What an eviction in mode Directly still has to remove before its replicas are placed again (D10). */
import type { ResourceBinding } from "@lifeboat/api";
import { isDirect, tasksOf } from "../binding/index.ts";

/** How many replicas have to go first (`PlacementView.waitForPurge`); undefined: nothing to wait for. */
export function purgesUnderWay(binding: ResourceBinding): number | undefined {
  let replicas: number | undefined;
  for (const task of tasksOf(binding)) {
    if (!isDirect(task)) continue;
    replicas = (replicas ?? 0) + Math.max(0, task.replicas ?? 0);
  }
  return replicas;
}
