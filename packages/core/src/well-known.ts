/**
 * The keys under which the control plane leaves word on templates, bindings, Works and objects in members. Clients and
 * existing manifests use them as they are, so they are kept byte for byte.
 */
export const BINDING_ID = "resourcebinding.karmada.io/permanent-id";
export const CLUSTER_BINDING_ID = "clusterresourcebinding.karmada.io/permanent-id";
export const WORK_ID = "work.karmada.io/permanent-id";

/** The ownership mark of objects in members: label, value `true`. */
export const MANAGED = "karmada.io/managed";
export const RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas";

export const BINDING_NAMESPACE = "resourcebinding.karmada.io/namespace";
export const BINDING_NAME = "resourcebinding.karmada.io/name";
export const CLUSTER_BINDING_NAME = "clusterresourcebinding.karmada.io/name";
export const WORK_NAMESPACE = "work.karmada.io/namespace";
export const WORK_NAME = "work.karmada.io/name";
/** `overwrite` or `abort`. */
export const CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution";
export const TEMPLATE_UID = "resourcetemplate.karmada.io/uid";
export const TEMPLATE_GENERATION = "resourcetemplate.karmada.io/generation";
/** The keys a rendering put on an object, so that a later rendering without one of them takes it away again. */
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";
export const APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides";
export const APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides";

/** On a binding: the state saved by the last failover, written with the eviction (see rendering/preserved-state.ts). */
export const PRESERVED_STATE = "lifeboat.dev/preserved-state";

export const EXECUTION_FINALIZER = "karmada.io/execution-controller";
export const EXECUTION_NAMESPACE_PREFIX = "karmada-es-";
export const DEPENDED_BY_PREFIX = "resourcebinding.karmada.io/depended-by-";
