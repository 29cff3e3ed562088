export {
  decideLifecycle,
  LEAVING,
  type LifecycleCommand,
  type LifecyclePlan,
  type LifecycleView,
} from "./lifecycle.ts";
export { type LifecycleReason, lifecycleReasons } from "./reasons.ts";
export { stuckOn, stuckReasons, whyStuck, workloadOf } from "./stuck.ts";
export {
  decideOwnCluster,
  type MemberIdentity,
  type OwnClusterPlan,
  type OwnClusterReason,
  ownClusterReasons,
  type OwnClusterView,
} from "./own-cluster.ts";
