export {
  bindingName,
  clusterOfExecutionNamespace,
  dependedByLabel,
  executionNamespace,
  type ObjectName,
  workName,
} from "./names.ts";
export { decideNamespaceSync, type NamespaceView, renderNamespaceWork } from "./namespace.ts";
export {
  formatPreservedState,
  type PreservedState,
  readPreservedState,
} from "./preserved-state.ts";
export { prune } from "./prune.ts";
export {
  type NamespaceReason,
  namespaceReasons,
  type RenderReason,
  renderReasons,
} from "./reasons.ts";
export { conflictResolutionOf, type Rendered, renderWork, type RenderView } from "./render.ts";
export { completionsByCluster, isWorkload, replicasIn } from "./shares.ts";
