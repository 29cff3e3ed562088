export {
  type ApplicationPlan,
  applicationGraceSeconds,
  applicationPurgeMode,
  type ApplicationView,
  decideApplication,
  evictApplication,
  hasNowhereElse,
  isKeptOut,
  toleratedSecondsOf,
} from "./decide.ts";
export { type ApplicationReason, applicationReasons } from "./reasons.ts";
