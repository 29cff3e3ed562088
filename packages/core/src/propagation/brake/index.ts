export {
  brakeCondition,
  decideDeletion,
  type DeletionCause,
  type DeletionPlan,
  type DeletionView,
  isExempt,
  type LetThrough,
  MASS_DELETION,
  releasedUntil,
  releaseTime,
  stateOfBrake,
} from "./brake.ts";
export {
  agreedConditions,
  isHeldByRestore,
  type MemberSurvey,
  RESTORED,
  movedInCondition,
  restoredCondition,
  UNKNOWN_COPIES,
  unknownCopiesCondition,
} from "./restored.ts";
export { type DeletionReason, deletionReasons } from "./reasons.ts";
