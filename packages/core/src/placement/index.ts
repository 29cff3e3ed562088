export {
  type Amounts as ResourceAmounts,
  type Candidate,
  candidateOf,
  type CandidateFleet,
  fleetOf,
} from "./candidate.ts";
export { followsClusters, formatPlacement, isRescheduleTriggered, whyDue } from "./due.ts";
export {
  countedMessage,
  ofOneCluster,
  roomByCluster,
  type Verdict,
  verdictsOf,
  whatHelps,
} from "./explain.ts";
export { evictedFromOf, isLetBack } from "./filters/evicted-from.ts";
export { findTarget, type TargetCheck } from "./find-target.ts";
export { place } from "./place.ts";
export {
  type FleetView,
  fleetViewOf,
  type PlacementPurpose,
  placementViewOf,
} from "./placement-view.ts";
export {
  type PlacementReason,
  placementReasons,
  type ScheduleReason,
  scheduleReasons,
} from "./reasons.ts";
export { reservationsOf, reservedBy, type RoomReservation } from "./reserve.ts";
export { type PlacementRules, readPlacement } from "./rules.ts";
export type { Explanation, PlacementDecision, PlacementView, Target } from "./view.ts";
