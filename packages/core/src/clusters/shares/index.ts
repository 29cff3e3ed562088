export {
  actsUntil,
  type Claim,
  type Claims,
  isOwner,
  lapsed,
  listed,
  type ListedReplica,
  mayAct,
  newClaim,
  renewed,
  renewing,
  replicasOf,
  type ShareTimes,
  wouldOwn,
} from "./claim.ts";
export { questionFor, secondOpinion, type SecondOpinion } from "./opinion.ts";
export {
  EMPTY_REPORT,
  formatReport,
  MOST_NAMES,
  parseReport,
  type ReplicaReport,
  type SecondAnswer,
} from "./report.ts";
export { comesBefore, ownerOf, type ReplicaView, secondOf } from "./shares.ts";
export {
  decideSight,
  MOST_LOST,
  type ProbedMember,
  type SightPlan,
  type SightReason,
  sightReasons,
  type SightView,
} from "./sight.ts";
