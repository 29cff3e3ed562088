/** Why a person's order cannot be carried out. */
import { defineReasons } from "../plan.ts";

export const restoreReasons = defineReasons({
  NothingRecorded: "No eviction of it is recorded: there is nothing to go back to.",
  AlreadyThere: "It runs where it ran before.",
  ClusterGone: "A cluster that it ran on is no cluster of the fleet any more.",
  ClusterNotReady: "A cluster that it would go back to does not answer, or is not well.",
  ClusterCannotTake: "A cluster that it would go back to cannot take it now.",
  NoRoom: "A cluster that it would go back to has no room for its replicas.",
  DispatchingSuspended: "Dispatching is suspended: no copy would be made where it goes back to.",
  StateNotReadable: "The state that it must carry cannot be read.",
});

export type RestoreReason = keyof typeof restoreReasons;
