export { type TaintReason, taintReasons } from "./reasons.ts";
export {
  decideTaints,
  type PassedState,
  type Taint,
  type TaintCommand,
  type TaintPlan,
  type TaintView,
} from "./taints.ts";
