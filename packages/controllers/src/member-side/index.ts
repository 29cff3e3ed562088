export {
  type AgentPair,
  type CertificateRenewalOptions,
  type CertificateRenewalPorts,
  createCertificateRenewal,
} from "./certificates/create-certificate-renewal.ts";
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
