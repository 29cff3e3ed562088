export {
  allBindings,
  type Binding,
  bindingOf,
  bindingResource,
  bindingsBy,
  watchingBindings,
} from "./bindings.ts";
export type { PlaneContext } from "./context.ts";
export {
  bindingClusters,
  type BindingIndex,
  createPlaneInformers,
  type PlaneInformers,
  type PolicyIndex,
  selectsIndex,
  type WorkIndex,
} from "./informers.ts";
export {
  builtinInterpretation,
  type Interpretation,
  InterpretationFailed,
} from "./interpretation.ts";
export type {
  ConnectMember,
  MemberAccess,
  MemberClient,
  MemberConnection,
  MemberConnections,
} from "./member-connections.ts";
export {
  type TemplateHandler,
  type TemplateReference,
  type Templates,
  watchingTemplates,
} from "./templates.ts";
export { createClockWatch } from "./clock-watch/create-clock-watch.ts";
export { createMemberConnections } from "./connections/create-connections.ts";
export { type Discovered, discover, type DiscoveredResource } from "./discovery/discovered.ts";
export { createTemplates, type TemplatesOptions } from "./discovery/discovered-templates.ts";
export { createClusterController } from "./cluster/create-cluster-controller.ts";
export {
  type ClusterStatusOptions,
  createClusterStatus,
} from "./cluster-status/create-cluster-status.ts";
export {
  createNamespaceSync,
  type NamespaceSyncOptions,
} from "./namespace-sync/create-namespace-sync.ts";
export {
  type ClusterExecution,
  type ClusterExecutionParts,
  type ClusterWorks,
  createClusterExecution,
} from "./execution/cluster-execution.ts";
export { createExecution } from "./execution/create-execution.ts";
export { createDetector, type DetectorOptions } from "./detector/create-detector.ts";
export { createBindingStatus } from "./binding-status/create-binding-status.ts";
export { createDependencies } from "./dependencies/create-dependencies.ts";
export { createWorkloadRebalancer } from "./workload-rebalancer/create-workload-rebalancer.ts";
export type { AskedDeletion, DeletionGate } from "./deletion-gate.ts";
export { createDeletionGate } from "./deletion-gate/create-deletion-gate.ts";
export { createBindingController } from "./binding/create-binding-controller.ts";
export {
  createTaintPolicies,
  type TaintPoliciesOptions,
} from "./taint-policy/create-taint-policies.ts";
export { createDefaultPolicies } from "./default-policies/create-default-policies.ts";
export {
  createScheduler,
  type Estimator,
  type SchedulerOptions,
} from "./scheduler/create-scheduler.ts";
export {
  createSettings,
  type PublishedSettings,
  readSettings,
} from "./settings/create-settings.ts";
export {
  createGracefulEviction,
  DEFAULT_GRACEFUL_EVICTION,
  type GracefulEvictionOptions,
} from "./graceful-eviction/create-graceful-eviction.ts";
export {
  type ApplicationFailoverOptions,
  createApplicationFailover,
} from "./application-failover/create-application-failover.ts";
export { createStaleCopies } from "./stale-copies/create-stale-copies.ts";
export {
  createEvacuations,
  DEFAULT_EVACUATIONS,
  type EvacuationsOptions,
} from "./evacuation/create-evacuations.ts";
export { createInterpretation, type InterpretationPorts } from "./scripts/create-interpretation.ts";
export {
  SCRIPT_LIMITS,
  type ScriptCall,
  type ScriptEngine,
  ScriptFailed,
  type ScriptFailure,
  type ScriptLimits,
} from "./scripts/script-engine.ts";
export { createUnlessThere } from "./start-once.ts";
