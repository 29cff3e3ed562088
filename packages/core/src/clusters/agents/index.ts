export {
  AGENT_SUPPORTED,
  agentReasons,
  agentSupport,
  decideAgentSupport,
  ENDORSEMENT_VERSION,
  knowsEndorsement,
} from "./agents.ts";
