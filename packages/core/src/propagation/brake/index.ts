export {
  brakeCondition,
  decideDeletion,
  type DeletionCause,
  type DeletionPlan,
  type DeletionView,
  isExempt,
  type LetThrough,
  MASS_DELETION,
  releaseTime,
} from "./brake.ts";
export { type DeletionReason, deletionReasons } from "./reasons.ts";
