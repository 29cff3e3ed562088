export {
  type ApplicationPlan,
  applicationPurgeMode,
  type ApplicationView,
  decideApplication,
  evictApplication,
  hasNowhereElse,
  isKeptOut,
} from "./decide.ts";
export { type ApplicationReason, applicationReasons } from "./reasons.ts";
