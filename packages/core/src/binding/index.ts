export {
  clusterNamesOf,
  gracePeriodOf,
  isApplicationFailover,
  isDispatchingSuspended,
  isGenerationScheduled,
  isLeaving,
  isMoving,
  isOn,
  isPlaced,
  isScheduled,
  resultOf,
  shareIn,
  taskOf,
  tasksOf,
} from "./binding.ts";
export { isDrained, isDrainTaint } from "./drain-taint.ts";
export { withResult } from "./result.ts";
export { isDirect, modeOf, type PurgeMode, purgeModeOf, type TaskMode } from "./purge-mode.ts";
