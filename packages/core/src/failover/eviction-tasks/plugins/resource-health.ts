/**
 * The old copy may go when the workload is placed and every copy of the result is healthy, by a status that was observed
 * after the present version of the copy was applied.
 */
import { clusterNamesOf } from "../../../binding/index.ts";
import { isDependable, isSettled } from "../view.ts";
import type { EvictionPlugin } from "./plugin.ts";

export const resourceHealth: EvictionPlugin = {
  name: "ResourceHealth",
  reason: "TargetsHealthy",
  passes: (view) =>
    isSettled(view) && clusterNamesOf(view.binding).every((name) => isDependable(view, name)),
};
