export { decideTasks, type TaskFate, type TasksPlan, type TaskVerdict } from "./decide-tasks.ts";
export {
  awaitsFence,
  FENCED_CONDITION,
  fenceOf,
  type FenceProof,
  type FenceTrust,
  formatFence,
  isAnswering,
  isSilent,
} from "./fence.ts";
export type { EvictionPlugin } from "./plugins/plugin.ts";
export {
  evictionPluginNames,
  evictionPlugins,
  unknownEvictionPlugins,
} from "./plugins/registry.ts";
export { remedyOf, type TaskReason, taskReasons } from "./reasons.ts";
export {
  awaitsStaleCopies,
  decideStaleCopies,
  STALE_COPIES_REMOVED,
  type StaleCopiesPlan,
  type StaleCopiesReason,
  staleCopiesReasons,
} from "./stale-copies.ts";
export type { LeavingTraffic, UnconfirmedCause } from "./traffic-guard.ts";
export { type TasksView, worksByCluster } from "./view.ts";
