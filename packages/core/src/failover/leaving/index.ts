export {
  type Carried,
  decideLeaving,
  type Held,
  type LeavingDecision,
  type LeavingView,
} from "./decide.ts";
export { type HeldReason, heldReasons } from "./reasons.ts";
