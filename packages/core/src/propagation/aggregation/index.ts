export {
  type AggregationPlan,
  type AggregationView,
  decideAggregation,
  type WriteStatusCommand,
} from "./aggregate.ts";
export { type AggregatedItem, aggregatedItems, copiesOf } from "./items.ts";
export { STATUS_UP_TO_DATE, templateStatus } from "./outdated.ts";
export {
  type AggregationReason,
  aggregationReasons,
  type FullyAppliedReason,
  fullyAppliedReasons,
  type StatusUpToDateReason,
  statusUpToDateReasons,
} from "./reasons.ts";
