export { agentRefusal, type AgentWrite, isAgentsWrite } from "./agent-admission.ts";
export {
  AGENT_OF,
  agentNamespaces,
  agentRoleObjects,
  CLUSTER_UID,
  clusterInfoRoleObjects,
  registrationRoleObjects,
  REGISTERED_BY,
  REGISTERED_SINCE,
  REGISTERED_UNTIL,
} from "./agent-roles.ts";
export { afterOneEvent, type EventAllowance, MAX_AGENT_EVENT } from "./event-allowance.ts";
export { isDetectorCondition } from "./detector-condition.ts";
export { detectorRefusal, detectorRoleObjects, isDetectorsWrite } from "./detector.ts";
export {
  AGENT_BOOTSTRAPPERS_GROUP,
  AGENTS_GROUP,
  agentIdentity,
  agentRoleName,
  agentUser,
  BOOTSTRAP_USER_PREFIX,
  BOOTSTRAPPERS_GROUP,
  CLIENT_SIGNER,
  clusterOfAgent,
  clusterOfDetector,
  detectorIdentity,
  detectorRoleName,
  DETECTORS_GROUP,
  detectorUser,
  isAgentUser,
  REGISTRATION_GROUP_PREFIX,
  registrationGroup,
  type RenewedIdentity,
  secretNames,
} from "./identity.ts";
