export { letGoBy, withApproval } from "./approve.ts";
export {
  clusterHealth,
  type ClusterHealth,
  type ClusterRole,
  type ClusterRow,
  roleOf,
} from "./cluster-row.ts";
export {
  decideDrain,
  decideTainted,
  DRAIN,
  drainRefusals,
  type DrainStep,
  type DrainView,
} from "./drain.ts";
export { policiesById } from "./policies-by-id.ts";
export {
  evacuationEntries,
  type EvacuationEntriesView,
  type ListedEntry,
} from "./evacuation-entries.ts";
export {
  createForesight,
  type Foresight,
  type ForeseenCluster,
  type ForeseenFailure,
  type ForeseenWorkload,
  type ForesightView,
} from "./foresee.ts";
export {
  type Outcome,
  type OutcomeReason,
  outcomeReasons,
  plainOutcome,
  remains,
  strengthWithout,
} from "./outcome.ts";
export {
  type ControllersState,
  type ShortWorkload,
  statusPage,
  type Hidden,
  type StatusPage,
  type StatusPageView,
  type Verdict,
} from "./page.ts";
export {
  asksForFailback,
  decideFailback,
  type FailbackDecision,
  failbackRuleOf,
  type FailbackView,
  isReturning,
  mayFailBack,
} from "./failback.ts";
export { type FailbackRule, opensAt, parseFailback } from "./failback-rule.ts";
export {
  decideIfDied,
  type IfDied,
  type IfDiedSettings,
  type IfDiedView,
  type Precondition,
} from "./if-died.ts";
export { readyReplicas, type ReadyReplicas, replicasByCluster } from "./ready-replicas.ts";
export {
  type RestoreReason,
  restoreReasons,
  type FailbackReason,
  failbackReasons,
  type FleetStateReason,
  fleetStateReasons,
} from "./reasons.ts";
export { decideRecovery, type RecoveryPlan } from "./recover.ts";
export {
  decideRestore,
  type RestoredState,
  type RestorePlan,
  type RestoreView,
} from "./restore.ts";
export { sharesOf } from "./shares.ts";
export {
  failoverState,
  type FailoverState,
  type FailoverStateView,
  type StaleCluster,
  staleSince,
} from "./status.ts";
export {
  mattersForStrength,
  PERSON_REASONS,
  type PersonReason,
  type Shortfall,
  type Strength,
  strengthOf,
  waitingIn,
} from "./strength.ts";
export { type Wait, type WaitReason, waitsOf } from "./waits.ts";
