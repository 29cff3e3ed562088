export {
  type AgentPair,
  type CertificateRenewalOptions,
  type CertificateRenewalPorts,
  createCertificateRenewal,
} from "./certificates/create-certificate-renewal.ts";
export {
  type ClusterDetector,
  type ClusterDetectorOptions,
  createClusterDetector,
  type Probe,
} from "./detector/create-cluster-detector.ts";
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
export {
  type ClusterLeaseOptions,
  type ClusterLeaseParts,
  createClusterLease,
} from "./registration/cluster-lease.ts";
export { reportingClusterLeft } from "./registration/left-cluster.ts";
export {
  clusterGone,
  ensureNamespace,
  memoryKey,
  type OwnClusterParts,
  registerCluster,
  type Registered,
} from "./registration/own-cluster.ts";
export { StrayReports } from "./execution/stray-reports.ts";
