export { clustersInUse, clustersWithCopy } from "./copies.ts";
export {
  decideFollower,
  type FollowerCommand,
  type FollowerPlan,
  type FollowerView,
} from "./follower.ts";
export {
  type FollowerReason,
  followerReasons,
  type ReferrerReason,
  referrerReasons,
} from "./reasons.ts";
export {
  asksForServices,
  dependenciesToRecord,
  dependencyIndex,
  identityIndex,
  type ObjectIdentity,
  recordedDependencies,
  type RecordedDependency,
  refersTo,
} from "./recorded.ts";
export {
  decideReferrer,
  type RecordCommand,
  type ReferrerPlan,
  type ReferrerView,
} from "./referrer.ts";
