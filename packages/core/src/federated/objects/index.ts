export { bindingProblems, clusterProblems, concernsFederation, setProblems } from "./admission.ts";
export { federatedConditions, federatedConditionTypes } from "./conditions.ts";
export {
  asksForServices,
  decideFederated,
  decideHeadless,
  type FederatedCommand,
  type FederatedKind,
  type GoverningSet,
} from "./services.ts";
