export { type ExtractedState, extractState, type StateRule, type StateView } from "./extract.ts";
export { type StateReason, stateReasons } from "./reasons.ts";
export { type CarriedState, type CarriedStateView, stateToCarry } from "./state-to-carry.ts";
