export { type TaintReason, taintReasons } from "./reasons.ts";
export {
  decideTaints,
  type PassedState,
  type PendingTaint,
  pendingTaints,
  type Taint,
  type TaintCommand,
  type TaintPlan,
  type TaintView,
} from "./taints.ts";
