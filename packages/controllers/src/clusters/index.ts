export { createAgents } from "./agents/create-agents.ts";
export { createCertificates } from "./certificates/create-certificates.ts";
export { createBootstrapTokens } from "./bootstrap-tokens/create-bootstrap-tokens.ts";
export {
  type ClusterMonitorOptions,
  createClusterMonitor,
} from "./cluster-monitor/create-cluster-monitor.ts";
export {
  type ClusterStatusOptions,
  createClusterStatus,
} from "./cluster-status/create-cluster-status.ts";
export {
  createMemberShares,
  type MemberSharesOptions,
  type RunningShares,
} from "./member-shares/create-member-shares.ts";
export { createClusterController } from "./lifecycle/create-cluster-controller.ts";
