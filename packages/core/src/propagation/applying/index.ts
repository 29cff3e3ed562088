export {
  type AppliedRecord,
  type ApplyCommand,
  type ApplyPlan,
  type ApplyView,
  decideApply,
  describeObject,
  uidIn,
  versionOf,
} from "./apply.ts";
export { isOurs, released } from "./ownership.ts";
export { type PodSelection, podsOf } from "./pods.ts";
export { applyReasons, type ApplyReason, removeReasons, type RemoveReason } from "./reasons.ts";
export { decideRemove, type RemoveCommand, type RemovePlan, type RemoveView } from "./remove.ts";
export { undoFrom, type Undone, undoneOnceMore } from "./undo-pace.ts";
