export {
  AGENT_SUPPORTED,
  agentReasons,
  agentSupport,
  decideAgentSupport,
  endorsementOf,
  knowsEndorsement,
} from "./agents.ts";
