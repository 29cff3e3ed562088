export {
  type AggregationPlan,
  type AggregationView,
  decideAggregation,
  type WriteStatusCommand,
} from "./aggregation/aggregate.ts";
export { type AggregatedItem, aggregatedItems, copiesOf } from "./aggregation/items.ts";
export {
  type AggregationReason,
  aggregationReasons,
  type FullyAppliedReason,
  fullyAppliedReasons,
} from "./aggregation/reasons.ts";
export {
  type AppliedRecord,
  type ApplyCommand,
  type ApplyPlan,
  type ApplyView,
  decideApply,
  describeObject,
  uidIn,
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
export { undoFrom, type Undone, undoneOnceMore } from "./applying/undo-pace.ts";
export {
  decideLifecycle,
  LEAVING,
  type LifecycleCommand,
  type LifecyclePlan,
  type LifecycleView,
} from "./cluster-lifecycle/lifecycle.ts";
export { type LifecycleReason, lifecycleReasons } from "./cluster-lifecycle/reasons.ts";
export { stuckOn, stuckReasons, whyStuck, workloadOf } from "./cluster-lifecycle/stuck.ts";
export { nodeOfferOf, type NodeOffer, type PodClaim, podClaimOf } from "./capacity/claims.ts";
export {
  type NodeSummary,
  type ResourceModels,
  type ResourceSummary,
  Room,
} from "./capacity/room.ts";
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
} from "./brake/brake.ts";
export { type DeletionReason, deletionReasons } from "./brake/reasons.ts";
export { clustersInUse, clustersWithCopy } from "./dependencies/copies.ts";
export {
  decideFollower,
  type FollowerCommand,
  type FollowerPlan,
  type FollowerView,
} from "./dependencies/follower.ts";
export {
  type FollowerReason,
  followerReasons,
  type ReferrerReason,
  referrerReasons,
} from "./dependencies/reasons.ts";
export {
  asksForServices,
  dependenciesToRecord,
  dependencyIndex,
  identityIndex,
  type ObjectIdentity,
  recordedDependencies,
  type RecordedDependency,
  refersTo,
} from "./dependencies/recorded.ts";
export {
  decideReferrer,
  type RecordCommand,
  type ReferrerPlan,
  type ReferrerView,
} from "./dependencies/referrer.ts";
export { hashBytes, safeHash } from "./division/hash.ts";
export { divideByWeights, type Weight } from "./division/webster.ts";
export type { Fields } from "./fields.ts";
export {
  type ClusterKnowledge,
  decideClusterStatus,
  type StatusPlan,
  UNCHANGED_STATUS,
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
export { podDependencies } from "./interpretation/pod-dependencies.ts";
export { requirementsOf } from "./interpretation/pod-requirements.ts";
export {
  aggregateFromScript,
  dependenciesFromScript,
  healthFromScript,
  objectFromScript,
  replicasFromScript,
  type ScriptAnswer,
  statusFromScript,
} from "./interpretation/script-answers.ts";
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
export { hasScheduler } from "./matching/has-scheduler.ts";
export {
  type BindingParts,
  bindingFor,
  isAbout,
  newBinding,
  ownerOf,
  releasedBinding,
  claimedParts,
  sameClaimedParts,
} from "./matching/binding-for.ts";
export {
  changeOfClaim,
  type Claim,
  claimBy,
  type ClaimChange,
  claimIdsOf,
  claimOf,
  isClaimOf,
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
export {
  type Amounts as ResourceAmounts,
  type Candidate,
  candidateOf,
  type Fleet,
  fleetOf,
} from "./placement/candidate.ts";
export {
  followsClusters,
  formatPlacement,
  isRescheduleTriggered,
  whyDue,
} from "./placement/due.ts";
export {
  countedMessage,
  roomByCluster,
  type Verdict,
  verdictsOf,
  whatHelps,
} from "./placement/explain.ts";
export { findTarget, type TargetCheck } from "./placement/find-target.ts";
export { place } from "./placement/place.ts";
export {
  type PlacementReason,
  placementReasons,
  type ScheduleReason,
  scheduleReasons,
} from "./placement/reasons.ts";
export { purgesUnderWay } from "./placement/purge.ts";
export { reservationsOf, reservedBy, type RoomReservation } from "./placement/reserve.ts";
export { type PlacementRules, readPlacement } from "./placement/rules.ts";
export type { Explanation, PlacementDecision, PlacementView, Target } from "./placement/view.ts";
export { defineReasons, type Plan, type PlannedCondition, type PlannedEvent } from "./plan.ts";
export {
  expiryOf,
  type ObservedWorkload,
  orderedAnew,
  pendingWorkloads,
  type RebalancedWorkload,
  rebalanceReasons,
  rebalancerStatus,
} from "./rebalancing/rebalance.ts";
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
export { isProvenHealthy, mayBeHealthy } from "./works/copy-health.ts";
export {
  bindingFinalizer,
  clusterOfWork,
  decideWorks,
  type SyncFailure,
  workKey,
  type WorksCommand,
  type WorksPlan,
  type WorksView,
} from "./works/decide-works.ts";
export {
  type SyncFailureReason,
  syncFailures,
  type WorksReason,
  worksReasons,
} from "./works/reasons.ts";
export { judgeStray, type StrayVerdict, type StrayView } from "./works/stray.ts";
export { isPurgedDirectly, type Targets, targetsOf } from "./works/targets.ts";
export * as wellKnown from "./well-known.ts";
export { type TaintReason, taintReasons } from "./taints/reasons.ts";
export {
  decideTaints,
  type PassedState,
  type Taint,
  type TaintCommand,
  type TaintPlan,
  type TaintView,
} from "./taints/taints.ts";
export {
  type Affected,
  affectedBy,
  evictingTaints,
  type EvictingTaint,
  type PurgeMode,
  purgeModeOf,
  tolerates,
} from "./evacuation/affected.ts";
export { type BudgetView, reserve, type TokenReservation } from "./evacuation/budget.ts";
export {
  type EntryState,
  entryState,
  type EntryTerm,
  type EntryView,
  evictionMarks,
} from "./evacuation/entry.ts";
export { evict, type EvictionOrder, rollBack } from "./evacuation/evict.ts";
export { formerResult } from "./evacuation/former-result.ts";
export {
  type EntryCounts,
  isStoppedByGate,
  type Line as EvacuationLine,
  progressOf,
  type ProgressView,
  secondsLeft,
  closedByGate,
  wasStoppedByGate,
} from "./evacuation/progress.ts";
export { signResult } from "./evacuation/own-result.ts";
export { EvictionQueue, type Lane, type Queued } from "./evacuation/queue.ts";
export {
  DEFAULT_RATES,
  type FleetHealth,
  fleetHealth,
  isDrained,
  isFailed,
  passiveRateOf,
  type Rate,
  rateOf,
  type RateOptions,
  type RateReason,
  rateReasons,
} from "./evacuation/rate.ts";
export {
  type ExemptReason,
  exemptReasons,
  type HeldReason,
  heldReasons,
  type PhaseReason,
  phaseReasons,
} from "./evacuation/reasons.ts";
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
} from "./evacuation/record.ts";
export {
  decideRelease,
  type ReleaseDecision,
  type ReleaseView,
  TAINT_MANAGER,
  TAINT_UNTOLERATED,
} from "./evacuation/release.ts";
export {
  describeTaint,
  identityOf,
  isDrainTaint,
  type RecordedTaint,
  taintId,
  type TaintIdentity,
} from "./evacuation/taint-identity.ts";
export {
  type ExtractedState,
  extractState,
  type StateRule,
  type StateView,
} from "./state/extract.ts";
export { type StateReason, stateReasons } from "./state/reasons.ts";
export { type CarriedState, type CarriedStateView, stateToCarry } from "./state/state-to-carry.ts";
export {
  decideTasks,
  type TaskFate,
  type TasksPlan,
  type TaskVerdict,
} from "./eviction/decide-tasks.ts";
export {
  type FenceProof,
  formatFence,
  isAnswering,
  isSilent,
  operatorFence,
} from "./eviction/fence.ts";
export type { EvictionPlugin } from "./eviction/plugins/plugin.ts";
export {
  evictionPluginNames,
  evictionPlugins,
  unknownEvictionPlugins,
} from "./eviction/plugins/registry.ts";
export { isForTaint, modeOf, type TaskMode } from "./eviction/purge-mode.ts";
export { remedyOf, type TaskReason, taskReasons } from "./eviction/reasons.ts";
export { type TasksView, worksByCluster } from "./eviction/view.ts";
export {
  type ApplicationPlan,
  applicationPurgeMode,
  type ApplicationView,
  decideApplication,
  evictApplication,
  hasNowhereElse,
  isKeptOut,
} from "./application-failover/decide.ts";
export {
  type ApplicationHeldReason,
  applicationHeldReasons,
  type ApplicationReason,
  applicationReasons,
} from "./application-failover/reasons.ts";
export {
  evictedFromOf,
  isApplicationFailover,
  isLetBack,
} from "./placement/filters/evicted-from.ts";
export {
  awaitsStaleCopies,
  decideStaleCopies,
  STALE_COPIES_REMOVED,
  type StaleCopiesPlan,
  type StaleCopiesReason,
  staleCopiesReasons,
} from "./eviction/stale-copies.ts";
