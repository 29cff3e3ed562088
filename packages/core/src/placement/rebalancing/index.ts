export {
  expiryOf,
  type ObservedWorkload,
  orderedAnew,
  pendingWorkloads,
  type RebalancedWorkload,
  rebalanceReasons,
  rebalancerStatus,
} from "./rebalance.ts";
