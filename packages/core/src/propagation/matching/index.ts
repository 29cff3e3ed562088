export {
  type BindingParts,
  bindingFor,
  isAbout,
  newBinding,
  ownerOf,
  releasedBinding,
  claimedParts,
  sameClaimedParts,
} from "./binding-for.ts";
export {
  changeOfClaim,
  type Claim,
  claimBy,
  type ClaimChange,
  claimIdsOf,
  claimOf,
  isClaimOf,
} from "./claim.ts";
export {
  type BindingCommand,
  type BindingDecision,
  type BindingView,
  decideBinding,
} from "./decide-binding.ts";
export { type ClaimDecision, type ClaimView, decideClaim } from "./decide-claim.ts";
export { digestOf } from "./digest.ts";
export { hasScheduler, whyUnscheduled } from "./has-scheduler.ts";
export { type LazyView, waitsForChange } from "./lazy.ts";
export {
  dependentOverridesOf,
  describePolicy,
  isActive,
  isClusterPolicy,
  type Policy,
  policyIdOf,
  selection,
} from "./policy.ts";
export { bindingReasons, type BindingReason, claimReasons, type ClaimReason } from "./reasons.ts";
export { isIgnored, isReservedNamespace, readNamespacePatterns, skipsApi } from "./skips.ts";
