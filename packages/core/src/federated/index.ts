export {
  copyName,
  type FederatedPod,
  idBase,
  MOST_COPY_NAME,
  MOST_REPLICAS,
  nameCollision,
  nameProblem,
  peersName,
  podName,
  podsOf,
  replicaList,
} from "./names.ts";
export {
  budgetViewOf,
  disruptionBudget,
  type DisruptionBudget,
  isServing,
  refuseTakingDown,
} from "./budget.ts";
export { presentDeparture } from "./departure.ts";
export {
  asksForFederation,
  confirmedDepartures,
  federatedMarks,
  isQuorum,
  neverMoves,
} from "./marks.ts";
export {
  assignedReplicas,
  type FederatedRecord,
  isFederated,
  NO_RECORD,
  readFederated,
  withFederated,
} from "./record.ts";
export { podLabelsToSet, type Topology } from "./pod-labels.ts";
export { decideForget } from "./forget.ts";
export { decideLetGo } from "./let-go.ts";
