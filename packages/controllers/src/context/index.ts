export {
  agentClusterRole,
  endRegistration,
  ensureAgentRights,
  ensureRegistrationRights,
} from "./agent-registration.ts";
export {
  allBindings,
  type Binding,
  bindingOf,
  bindingResource,
  bindingsBy,
  watchingBindings,
} from "./bindings.ts";
export { createMemberConnections } from "./connections/create-connections.ts";
export type { PlaneContext, TokenRegistration } from "./context.ts";
export type { AskedDeletion, DeletionGate } from "./deletion-gate.ts";
export {
  changeRecord,
  FLEET_RECORD,
  readRecord,
  type RecordParts,
  swapRecordStatus,
} from "./fleet-record.ts";
export { createFleetView, type PlaneFleetView } from "./fleet-view.ts";
export { createTemplates, type TemplatesOptions } from "./discovery/discovered-templates.ts";
export {
  type Discovered,
  discover,
  type DiscoveredResource,
  onePerTable,
} from "./discovery/discovered.ts";
export {
  bindingClusters,
  type BindingIndex,
  createPlaneInformers,
  type PlaneInformers,
  type PolicyIndex,
  type Reading,
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
export type { MemberShares, ObservedMember } from "./member-shares.ts";
export { createInterpretation, type InterpretationPorts } from "./scripts/create-interpretation.ts";
export { ADDED_UP } from "./scripts/customizations.ts";
export {
  SCRIPT_LIMITS,
  type ScriptCall,
  type ScriptEngine,
  ScriptFailed,
  type ScriptFailure,
  type ScriptLimits,
} from "./scripts/script-engine.ts";
export { createUnlessThere, ensureOwnNamespace } from "./start-once.ts";
export { TargetRoom } from "./target-room.ts";
export {
  type TemplateHandler,
  type TemplateReference,
  type Templates,
  watchingTemplates,
} from "./templates.ts";
