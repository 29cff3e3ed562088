export {
  AGENT_OF,
  agentNamespaces,
  agentRoleObjects,
  clusterInfoRoleObjects,
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
