export {
  type AppliedRecord,
  type ApplyCommand,
  type ApplyPlan,
  type ApplyView,
  decideApply,
  versionOf,
} from "./applying/apply.ts";
export { isOurs, released } from "./applying/ownership.ts";
export {
  applyReasons,
  type ApplyReason,
  removeReasons,
  type RemoveReason,
} from "./applying/reasons.ts";
export {
  decideRemove,
  type RemoveCause,
  type RemoveCommand,
  type RemovePlan,
  type RemoveView,
} from "./applying/remove.ts";
export { hashBytes, safeHash } from "./division/hash.ts";
export { divideByWeights, type Weight } from "./division/webster.ts";
export type { Fields } from "./fields.ts";
export {
  defaultInterpreter,
  hasOwnAnswer,
  interpreterOf,
} from "./interpretation/interpretation.ts";
export type {
  Dependency,
  Health,
  Interpreter,
  ReplicaRequirements,
  Replicas,
  StatusItem,
} from "./interpretation/interpreter.ts";
export { defineReasons, type Plan, type PlannedCondition, type PlannedEvent } from "./plan.ts";
export {
  bindingName,
  clusterOfExecutionNamespace,
  dependedByLabel,
  executionNamespace,
  type ObjectName,
  workName,
} from "./rendering/names.ts";
export {
  formatPreservedState,
  type PreservedState,
  readPreservedState,
} from "./rendering/preserved-state.ts";
export { prune } from "./rendering/prune.ts";
export { type RenderReason, renderReasons } from "./rendering/reasons.ts";
export {
  conflictResolutionOf,
  type Rendered,
  renderWork,
  type RenderView,
} from "./rendering/render.ts";
export { completionsByCluster, isWorkload, replicasIn } from "./rendering/shares.ts";
export { matchesCluster } from "./selectors/cluster-affinity.ts";
export { type Precision, precision, precisionOf } from "./selectors/resource-selector.ts";
export * as wellKnown from "./well-known.ts";
