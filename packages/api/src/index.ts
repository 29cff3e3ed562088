export {
  duplicate,
  type FieldError,
  type FieldErrorReason,
  forbidden,
  invalid,
  notSupported,
  required,
  showValue,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";
export { isJsonObject, type Json, type JsonObject } from "./json.ts";
export type { KindSchema, Normalized } from "./kind-schema.ts";
export {
  type AnyObject,
  formatKey,
  type KubeList,
  type KubeObject,
  keyOf,
  type ListMeta,
  type New,
  type NewMeta,
  type ObjectKey,
  type ObjectMeta,
  type OwnerReference,
  parseKey,
  type WatchEvent,
} from "./object.ts";
export type { FieldShape, MergeShape } from "./patch/merge-shape.ts";
export {
  apiVersionOf,
  keptAs,
  parseApiVersion,
  qualifiedName,
  type Resource,
  resourcePath,
} from "./resource.ts";
export {
  alreadyExists,
  badRequest,
  conflict,
  deleted,
  failure,
  forbiddenBecause,
  internalError,
  invalidObject,
  isRefused,
  isRefusedBecause,
  notFound,
  orNothing,
  Refused,
  STALE_VERSION,
  type Status,
  type StatusCause,
  type StatusDetails,
  type Success,
} from "./status.ts";
export type { Column, TablePrinter } from "./table.ts";
export type { KindRules, KindRulesTable } from "./builtin/kind-rules.ts";
export { ageOf, humanDuration } from "./builtin/rules/human-duration.ts";
export {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
} from "./quantity/quantity.ts";
export {
  builtinKinds,
  builtinType,
  type EmbeddedDescription,
  type FieldDescription,
  type FieldType,
  type ScalarName,
  type TypeDescription,
  typeNamed,
} from "./builtin/description.ts";
export {
  type BuiltinResource,
  builtinResources,
  type BuiltinScale,
  type BuiltinSubresource,
} from "./builtin/resources.ts";
export { builtinSchema } from "./builtin/schema.ts";
export {
  certificateSigningRequests,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  daemonSets,
  deployments,
  endpointSlices,
  events,
  leases,
  namespaces,
  nodes,
  pods,
  priorityClasses,
  roleBindings,
  roles,
  secrets,
  selfSubjectReviews,
  serviceAccounts,
  services,
  statefulSets,
} from "./builtin/well-known.ts";
export {
  DecodeError,
  type Decoded,
  decodeJson,
  decodeJsonInSteps,
  decodeUtf8,
  TooLargeError,
  unreadableBody,
} from "./decode/json.ts";
export { type CompiledSchema, compileSchema } from "./schema/compile-schema.ts";
export { applyCrdDefaults, prepareCrd } from "./schema/crd-defaults.ts";
export {
  crdWarnings,
  hasUnenforcedRules,
  validateCrd,
  validateCrdUpdate,
} from "./schema/crd-validation.ts";
export {
  asCrd,
  type CrdColumn,
  type CrdCondition,
  type CrdNames,
  type CrdScale,
  type CrdStatus,
  type CrdVersion,
  crdVersion,
  type CustomResourceDefinition,
  hasCrdCondition,
  storageVersionOf,
} from "./schema/crd.ts";
export { customKindSchema } from "./schema/custom-kind.ts";
export { equalJson } from "./equal-json.ts";
export type { JsonSchema, SchemaMap } from "./schema/json-schema.ts";
export {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  nameProblems,
  type NameRule,
  pathSegmentProblems,
  utf8Length,
} from "./metadata/names.ts";
export {
  type CheckedMeta,
  type MetadataRules,
  validateLabels,
  validateMetadata,
  validateMetadataUpdate,
} from "./metadata/validate-metadata.ts";
export {
  type FieldTerm,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
} from "./selectors/field-selector.ts";
export {
  formatLabelSelector,
  type LabelExpression,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  type LabelSelector,
  labelSelectorFrom,
  matchesLabels,
  parseLabelSelector,
  validateLabelSelector,
} from "./selectors/label-selector.ts";
export { kindRules } from "./builtin/rules/index.ts";
export { decodeProtobuf, type DecodedProtobuf } from "./builtin/protobuf/decode.ts";
export { ProtobufError } from "./builtin/protobuf/reader.ts";
export { applyJsonPatch, MAX_OPERATIONS } from "./patch/json-patch.ts";
export { applyMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMerge } from "./patch/strategic-merge.ts";
export { exceedsValues } from "./decode/count-values.ts";
export { exceedsDepth, MAX_DEPTH } from "./decode/depth.ts";
export { MAX_VALUES } from "./decode/limits.ts";
export { inexactIntegerIn, isInexactInteger } from "./exact-integers.ts";
export { formatLikeGo } from "./go-text.ts";
export {
  compileColumnPath,
  compileJsonPath,
  formatJsonPathResults,
  type JsonPath,
  JsonPathError,
  type JsonPathOptions,
  relaxJsonPath,
} from "./jsonpath/jsonpath.ts";
export {
  type Condition,
  type ConditionStatus,
  findCondition,
  hasCondition,
  type NewCondition,
  removeCondition,
  setCondition,
} from "./conditions/conditions.ts";
export { encodeYaml } from "./decode/encode-yaml.ts";
export { runSteps, type Steps } from "./decode/steps.ts";
export { decodeYaml, decodeYamlInSteps } from "./decode/yaml.ts";
export {
  controlPlaneKinds,
  defaultKind,
  kindDeclaration,
  kindWarnings,
  validateKind,
} from "./kinds/control-plane-kinds.ts";
export { crdOf, type NewCrd } from "./kinds/builder/crd-of.ts";
export type {
  KindDeclaration,
  KindSettings,
  WriteContext,
} from "./kinds/builder/kind-declaration.ts";
export { type Cluster, clusters, IMPERSONATOR_SUFFIX } from "./kinds/cluster.ts";
export {
  clusterPropagationPolicies,
  type ClusterPropagationPolicy,
  propagationPolicies,
  type PropagationPolicy,
} from "./kinds/propagation-policy.ts";
export {
  clusterOverridePolicies,
  type ClusterOverridePolicy,
  overridePolicies,
  type OverridePolicy,
} from "./kinds/override-policy.ts";
export { clusterTaintPolicies, type ClusterTaintPolicy } from "./kinds/cluster-taint-policy.ts";
export {
  type BindingSpec,
  type BindingStatus,
  type ClusterResourceBinding,
  clusterResourceBindings,
  type EvictionTask,
  type ResourceBinding,
  resourceBindings,
} from "./kinds/binding.ts";
export { type Work, works } from "./kinds/work.ts";
export {
  type ResourceInterpreterCustomization,
  resourceInterpreterCustomizations,
} from "./kinds/resource-interpreter-customization.ts";
export { type WorkloadRebalancer, workloadRebalancers } from "./kinds/workload-rebalancer.ts";
export { remedies, type Remedy, REMEDY_ACTIONS, TRAFFIC_CONTROL } from "./kinds/remedy.ts";
export { multiClusterIngresses, type MultiClusterIngress } from "./kinds/multi-cluster-ingress.ts";
export { type MultiClusterService, multiClusterServices } from "./kinds/multi-cluster-service.ts";
export {
  type Evacuation,
  EVACUATION_PHASES,
  type EvacuationApproval,
  evacuationBudgets,
  type EvacuationBudget,
  type EvacuationEntry,
  type EvacuationPhase,
  evacuations,
  evacuationSlices,
  type EvacuationSlice,
  type EvacuationStatus,
  FLEET_BUDGET,
} from "./kinds/evacuation.ts";
export {
  type LedgerEntry,
  type LedgerSlice,
  ledgerSlices,
  MAX_LEDGER_ENTRIES,
} from "./kinds/ledger-slice.ts";
export {
  FAULT_MODES,
  type SimulatedFault,
  type SimulatedMember,
  simulatedMembers,
} from "./kinds/simulated-member.ts";
export type { ClusterAffinity, ResourceSelector } from "./kinds/shared/affinity.ts";
export type { Failover } from "./kinds/shared/failover.ts";
export { stateLabelProblem } from "./kinds/shared/state-label.ts";
export type { Placement } from "./kinds/shared/placement.ts";
export { EVICTING_EFFECTS, TAINT_EFFECTS, type Toleration } from "./kinds/shared/taints.ts";
