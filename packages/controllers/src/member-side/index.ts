export {
  type ClusterExecution,
  type ClusterExecutionParts,
  type ClusterWorks,
  createClusterExecution,
} from "./execution/cluster-execution.ts";
