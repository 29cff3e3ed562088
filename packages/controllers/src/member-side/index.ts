export {
  type ClusterExecution,
  type ClusterExecutionParts,
  type ClusterWorks,
  createClusterExecution,
} from "./execution/cluster-execution.ts";
export {
  askBindings,
  type PlaneWord,
  readEndorsements,
  type StrayCopy,
} from "./execution/still-wanted.ts";
