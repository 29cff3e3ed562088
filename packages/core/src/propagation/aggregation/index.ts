export {
  type AggregationPlan,
  type AggregationView,
  decideAggregation,
  type WriteStatusCommand,
} from "./aggregate.ts";
export { type AggregatedItem, aggregatedItems, copiesOf } from "./items.ts";
export {
  type AggregationReason,
  aggregationReasons,
  type FullyAppliedReason,
  fullyAppliedReasons,
} from "./reasons.ts";
