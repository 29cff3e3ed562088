export { COMPLETE_ENABLEMENTS, READY, RESPONSES_WITHIN_LIMITS } from "../../well-known.ts";
export {
  awaitsFirstCount,
  type ClusterKnowledge,
  decideClusterStatus,
  type StatusPlan,
  UNCHANGED_STATUS,
} from "./cluster-status.ts";
export {
  type ApiEnablements,
  decideEnablements,
  type EnablementPlan,
  type EnablementView,
} from "./enablements.ts";
export {
  decideHeartbeat,
  hasReported,
  type HeartbeatGraces,
  type HeartbeatPlan,
  type HeartbeatView,
  watchedMs,
} from "./heartbeat.ts";
export { CALM_MS, decideLimits, type Excess, extendExcess, type LimitsView } from "./limits.ts";
export {
  decideReady,
  extendStreak,
  notReadySince,
  type Observation,
  observeAnswer,
  observeFailure,
  observeUnreadable,
  observeUnusable,
  type ReadyPlan,
  type ReadyThresholds,
  type ReadyView,
  type Streak,
  streakAfterChange,
} from "./ready.ts";
export {
  enablementReasons,
  type EnablementReason,
  readyDecisionReasons,
  type ReadyDecisionReason,
  readyReasons,
  type ReadyReason,
  silenceReasons,
  type SilenceReason,
} from "./reasons.ts";
