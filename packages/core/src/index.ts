export {
  type AppliedRecord,
  type ApplyCommand,
  type ApplyPlan,
  type ApplyView,
  decideApply,
  describeObject,
  versionOf,
} from "./applying/apply.ts";
export { isOurs, released } from "./applying/ownership.ts";
export { type PodSelection, podsOf } from "./applying/pods.ts";
export {
  applyReasons,
  type ApplyReason,
  removeReasons,
  type RemoveReason,
} from "./applying/reasons.ts";
export {
  decideRemove,
  type RemoveCommand,
  type RemovePlan,
  type RemoveView,
} from "./applying/remove.ts";
export {
  decideLifecycle,
  LEAVING,
  type LifecycleCommand,
  type LifecyclePlan,
  type LifecycleView,
} from "./cluster-lifecycle/lifecycle.ts";
export { type LifecycleReason, lifecycleReasons } from "./cluster-lifecycle/reasons.ts";
export { nodeOfferOf, type NodeOffer, type PodClaim, podClaimOf } from "./capacity/claims.ts";
export {
  type NodeSummary,
  type ResourceModels,
  type ResourceSummary,
  Room,
} from "./capacity/room.ts";
export { hashBytes, safeHash } from "./division/hash.ts";
export { divideByWeights, type Weight } from "./division/webster.ts";
export type { Fields } from "./fields.ts";
export {
  type ClusterKnowledge,
  decideClusterStatus,
  type StatusPlan,
} from "./health/cluster-status.ts";
export {
  type ApiEnablements,
  COMPLETE_ENABLEMENTS,
  decideEnablements,
  type EnablementPlan,
  type EnablementView,
} from "./health/enablements.ts";
export {
  decideReady,
  extendStreak,
  type Observation,
  observeAnswer,
  observeFailure,
  observeUnusable,
  READY,
  type ReadyPlan,
  type ReadyThresholds,
  type ReadyView,
  type Streak,
  streakAfterChange,
} from "./health/ready.ts";
export {
  enablementReasons,
  type EnablementReason,
  readyDecisionReasons,
  type ReadyDecisionReason,
  readyReasons,
  type ReadyReason,
} from "./health/reasons.ts";
export {
  defaultInterpreter,
  hasOwnAnswer,
  interpreterOf,
} from "./interpretation/interpretation.ts";
export type {
  Dependency,
  Health,
  Interpreter,
  ReplicaRequirements,
  Replicas,
  StatusItem,
} from "./interpretation/interpreter.ts";
export { type WorkStatusReason, workStatusReasons } from "./observing/reasons.ts";
export {
  appliedVersions,
  type ApplyOutcome,
  decideWorkStatus,
  type ManifestReport,
  type Reflection,
  type ReportedStatus,
  type WorkStatusCommand,
  type WorkStatusEvent,
  type WorkStatusPlan,
  type WorkStatusView,
} from "./observing/work-status.ts";
export {
  type BindingParts,
  bindingFor,
  isAbout,
  newBinding,
  ownerOf,
  releasedBinding,
  sameClaimedParts,
} from "./matching/binding-for.ts";
export {
  changeOfClaim,
  type Claim,
  claimBy,
  type ClaimChange,
  claimIdsOf,
  claimOf,
} from "./matching/claim.ts";
export {
  type BindingCommand,
  type BindingDecision,
  type BindingView,
  decideBinding,
} from "./matching/decide-binding.ts";
export { type ClaimDecision, type ClaimView, decideClaim } from "./matching/decide-claim.ts";
export { digestOf } from "./matching/digest.ts";
export { type LazyView, waitsForChange } from "./matching/lazy.ts";
export {
  dependentOverridesOf,
  describePolicy,
  isActive,
  isClusterPolicy,
  type Policy,
  policyIdOf,
  selection,
} from "./matching/policy.ts";
export {
  bindingReasons,
  type BindingReason,
  claimReasons,
  type ClaimReason,
} from "./matching/reasons.ts";
export {
  isIgnored,
  isReservedNamespace,
  readNamespacePatterns,
  skipsApi,
} from "./matching/skips.ts";
export { defineReasons, type Plan, type PlannedCondition, type PlannedEvent } from "./plan.ts";
export {
  bindingName,
  clusterOfExecutionNamespace,
  dependedByLabel,
  executionNamespace,
  type ObjectName,
  workName,
} from "./rendering/names.ts";
export {
  formatPreservedState,
  type PreservedState,
  readPreservedState,
} from "./rendering/preserved-state.ts";
export { prune } from "./rendering/prune.ts";
export {
  decideNamespaceSync,
  type NamespaceView,
  renderNamespaceWork,
} from "./rendering/namespace.ts";
export {
  type NamespaceReason,
  namespaceReasons,
  type RenderReason,
  renderReasons,
} from "./rendering/reasons.ts";
export {
  conflictResolutionOf,
  type Rendered,
  renderWork,
  type RenderView,
} from "./rendering/render.ts";
export { completionsByCluster, isWorkload, replicasIn } from "./rendering/shares.ts";
export { matchesCluster } from "./selectors/cluster-affinity.ts";
export { type Precision, precision, precisionOf } from "./selectors/resource-selector.ts";
export * as wellKnown from "./well-known.ts";
