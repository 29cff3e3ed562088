/** What became of the state that a workload is to carry to its next cluster. */
import { defineReasons } from "../../plan.ts";

export const stateReasons = defineReasons({
  NothingAsked: "The policy names no state to keep.",
  SwitchedOff:
    "The policy names state to keep, and the feature gate StatefulFailoverInjection is off; nothing is kept.",
  HandedOn:
    "The old copy was never healthy in its cluster, so the state that it was given there is passed on unchanged.",
  Preserved: "The state was read from the status that the old copy last reported.",
  NotAlone:
    "The cluster did not hold all replicas, so its copy does not have the state of the whole workload; nothing is kept.",
  StatusMissing: "The old copy never reported a status, so there is nothing to keep.",
  KeyMissing: "The status has no value for a rule.",
  SeveralValues: "A rule finds more than one value.",
  NotALabel: "A rule finds a value that cannot be a label.",
  InexactInteger:
    "A rule finds an integer that is too large to be kept exactly; as a text it could be kept.",
  ForbiddenLabel: "A rule names a label that is not free for state.",
  BadPath: "The JSONPath of a rule cannot be carried out.",
});

export type StateReason = keyof typeof stateReasons;
