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
  type BindingIndex,
  createPlaneInformers,
  type PlaneInformers,
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
export { createMemberConnections } from "./connections/create-connections.ts";
export { type Discovered, discover, type DiscoveredResource } from "./discovery/discovered.ts";
export { createTemplates, type TemplatesOptions } from "./discovery/discovered-templates.ts";
export { createClusterController } from "./cluster/create-cluster-controller.ts";
