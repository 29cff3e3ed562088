export {
  ALL_BACKENDS_BLOCKED,
  BACKENDS_LOCATED,
  decideIngress,
  type IngressPlan,
  type IngressView,
} from "./decide.ts";
export { type BackendView, backendServices, providersOf } from "./locations.ts";
export { type IngressReason, ingressReasons } from "./reasons.ts";
