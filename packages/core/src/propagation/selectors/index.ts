export { matchesCluster } from "./cluster-affinity.ts";
export { type Precision, precision, precisionOf } from "./resource-selector.ts";
