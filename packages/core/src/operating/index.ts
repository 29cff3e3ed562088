export { decideDrain, DRAIN, type DrainStep, type DrainView } from "./drain.ts";
export {
  evacuationEntries,
  type EvacuationEntriesView,
  type ListedEntry,
} from "./evacuation-entries.ts";
export {
  type RestoreReason,
  restoreReasons,
  type FleetStateReason,
  fleetStateReasons,
} from "./reasons.ts";
export { decideRestore, type RestorePlan, type RestoreView } from "./restore.ts";
export { sharesOf } from "./shares.ts";
export {
  failoverState,
  type FailoverState,
  type FailoverStateView,
  type StaleCluster,
  staleSince,
} from "./status.ts";
