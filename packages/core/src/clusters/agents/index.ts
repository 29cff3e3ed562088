export { AGENT_SUPPORTED, ENDORSEMENT, ENDORSEMENT_VERSION, knowsEndorsement } from "./agents.ts";
