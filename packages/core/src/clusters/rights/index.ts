export { agentRefusal, type AgentWrite, isAgentsWrite } from "./agent-admission.ts";
export {
  AGENT_OF,
  agentNamespaces,
  agentRoleObjects,
  CLUSTER_UID,
  clusterInfoRoleObjects,
  REGISTERED_BY,
  REGISTERED_UNTIL,
} from "./agent-roles.ts";
export {
  AGENT_BOOTSTRAPPERS_GROUP,
  AGENTS_GROUP,
  agentRoleName,
  agentUser,
  BOOTSTRAP_USER_PREFIX,
  BOOTSTRAPPERS_GROUP,
  CLIENT_SIGNER,
  clusterOfAgent,
  isAgentUser,
  REGISTRATION_GROUP_PREFIX,
  registrationGroup,
  renewalRequestName,
} from "./identity.ts";
