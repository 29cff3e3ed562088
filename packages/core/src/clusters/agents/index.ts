export {
  AGENT_GROUP,
  AGENT_SUPPORTED,
  AGENT_USER_PREFIX,
  agentCluster,
  agentUser,
  ENDORSEMENT,
  ENDORSEMENT_VERSION,
  knowsEndorsement,
} from "./agents.ts";
