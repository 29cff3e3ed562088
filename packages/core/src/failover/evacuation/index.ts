export {
  type Affected,
  affectedBy,
  evictingTaints,
  type EvictingTaint,
  tolerates,
} from "./affected.ts";
export {
  APPROVAL_MODES,
  type ApprovalMode,
  asksForApproval,
  isApproved,
  needsApproval,
  nextExpiry,
} from "./approval.ts";
export { type BudgetView, reserve, type TokenReservation } from "./budget.ts";
export {
  type EntryState,
  entryState,
  type EntryTerm,
  type EntryView,
  evictionMarks,
  strandedBy,
} from "./entry.ts";
export { evict, type EvictionOrder, rollBack } from "./evict.ts";
export { formerResult } from "./former-result.ts";
export {
  type Isolation,
  agreementTime,
  isolationCondition,
  isolationOf,
  type IsolationReason,
  isolationReasons,
  PLANE_MAY_BE_ISOLATED,
} from "./isolation.ts";
export { signResult } from "./own-result.ts";
export {
  type EntryCounts,
  isStoppedByGate,
  type Line as EvacuationLine,
  progressOf,
  type ProgressView,
  secondsLeft,
  closedByGate,
  wasStoppedByGate,
} from "./progress.ts";
export { isClusterPaused, isNamespacePaused, type PauseTarget, withPause } from "./pauses.ts";
export { priorityOf } from "./priority.ts";
export { EvictionQueue, type Lane, type Queued } from "./queue.ts";
export {
  DEFAULT_RATES,
  type FleetHealth,
  fleetHealth,
  isFailed,
  overrideOf,
  overrideUntil,
  setRateText,
  type SetRate,
  passiveRateOf,
  type Rate,
  rateOf,
  type RateOptions,
  type RateReason,
  rateReasons,
} from "./rate.ts";
export { type ExemptReason, exemptReasons, type PhaseReason, phaseReasons } from "./reasons.ts";
export {
  currentOf,
  isOpen,
  judge,
  type JudgeOptions,
  nextEvacuation,
  nextOrdinal,
  numberOf,
  recordTaints,
  slicesFor,
  surplusOf,
  type TaintChanges,
} from "./record.ts";
export {
  decideRelease,
  type ReleaseDecision,
  type ReleaseView,
  TAINT_MANAGER,
  TAINT_UNTOLERATED,
} from "./release.ts";
export { type TakenOut, takenOutOf } from "./taken-out.ts";
export {
  describeTaint,
  identityOf,
  type RecordedTaint,
  taintId,
  type TaintIdentity,
} from "./taint-identity.ts";
