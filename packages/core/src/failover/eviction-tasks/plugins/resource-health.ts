/**
 * The old copy may go when the workload is where it is to be and every copy of the result is healthy, in a status that was
 * observed after this version of it was applied.
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
