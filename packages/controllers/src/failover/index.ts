export {
  type ApplicationFailoverOptions,
  createApplicationFailover,
} from "./application/create-application-failover.ts";
export { createDefaultPolicies } from "./default-policies/create-default-policies.ts";
export { createFailback, type FailbackOptions } from "./failback/create-failback.ts";
export {
  createEvacuations,
  DEFAULT_EVACUATIONS,
  type EvacuationsOptions,
} from "./evacuation/create-evacuations.ts";
export {
  createGracefulEviction,
  DEFAULT_GRACEFUL_EVICTION,
  type GracefulEvictionOptions,
} from "./graceful-eviction/create-graceful-eviction.ts";
export { createStaleCopies } from "./stale-copies/create-stale-copies.ts";
export {
  createTaintPolicies,
  type TaintPoliciesOptions,
} from "./taint-policy/create-taint-policies.ts";
