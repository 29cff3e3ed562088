/**
 * The built-in resources that are served: names, verbs and subresources as a real server's discovery lists them
 * (generated), joined with how their objects behave (below, found by trying each kind on a real server).
 */
import { builtinResourcesJson } from "../generated/builtin-resources.ts";
import type { Resource } from "../resource.ts";

/** One subresource as discovery shows it. The kind is the resource's own where the real server's is. */
export interface BuiltinSubresource {
  readonly name: string;
  /** "" when it is the resource's own group and version. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface BuiltinScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Where the selector is found: an object, which the Scale shows as text. */
  readonly labelSelectorPath: string;
}

export interface BuiltinResource extends Resource {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** The subresources that every kind has alike. */
  readonly subresources: {
    readonly status?: boolean;
    readonly scale?: BuiltinScale;
    readonly finalize?: boolean;
    readonly approval?: boolean;
  };
  /** All subresources, `token`, `eviction`, `log` and the like included. */
  readonly discoverySubresources: readonly BuiltinSubresource[];
  /** Whether objects count generations. */
  readonly hasGeneration: boolean;
  /** Whether a PUT of an absent object creates it. */
  readonly createOnUpdate: boolean;
  /** Whether an update without resourceVersion is accepted. */
  readonly unconditionalUpdate: boolean;
  /** Answered and never stored: reviews, bindings, component statuses. */
  readonly virtual: boolean;
}

interface SubresourceRow {
  readonly name: string;
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly verbs: readonly string[];
}

interface ResourceRow {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources?: readonly SubresourceRow[];
}

function readRows(): readonly ResourceRow[] {
  return JSON.parse(builtinResourcesJson) as readonly ResourceRow[];
}

function resourceOf(row: ResourceRow): BuiltinResource {
  const subresources = row.subresources ?? [];
  const has = (name: string) => subresources.some((sub) => sub.name === name);
  return {
    group: row.group,
    version: row.version,
    plural: row.plural,
    singular: row.singular,
    kind: row.kind,
    listKind: `${row.kind}List`,
    namespaced: row.namespaced,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    verbs: row.verbs,
    subresources: {
      ...(has("status") ? { status: true } : {}),
      ...(has("scale") ? { scale: SCALE } : {}),
      ...(has("finalize") ? { finalize: true } : {}),
      ...(has("approval") ? { approval: true } : {}),
    },
    discoverySubresources: subresources.map((sub) => ({
      name: sub.name,
      group: sub.group ?? "",
      version: sub.version ?? "",
      kind: sub.kind ?? row.kind,
      verbs: sub.verbs,
    })),
    hasGeneration: WITH_GENERATION.has(row.kind),
    createOnUpdate: CREATED_ON_UPDATE.has(row.kind),
    unconditionalUpdate: !UPDATED_BY_VERSION_ONLY.has(row.kind),
    virtual: !row.verbs.includes("watch"),
  };
}

const SCALE: BuiltinScale = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

const WITH_GENERATION: ReadonlySet<string> = new Set([
  "CronJob",
  "CustomResourceDefinition",
  "DaemonSet",
  "Deployment",
  "EndpointSlice",
  "Ingress",
  "IngressClass",
  "Job",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "NetworkPolicy",
  "Pod",
  "PodDisruptionBudget",
  "PodTemplate",
  "PriorityClass",
  "ReplicaSet",
  "ReplicationController",
  "StatefulSet",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
]);

const CREATED_ON_UPDATE: ReadonlySet<string> = new Set([
  "ClusterRole",
  "ClusterRoleBinding",
  "Endpoints",
  "Event",
  "Lease",
  "LimitRange",
  "Role",
  "RoleBinding",
  "Service",
]);

const UPDATED_BY_VERSION_ONLY: ReadonlySet<string> = new Set([
  "APIService",
  "CSIDriver",
  "CSINode",
  "CSIStorageCapacity",
  "CustomResourceDefinition",
  "Lease",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "PodDisruptionBudget",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
  "VolumeAttachment",
]);

/** Groups and resources in the order of discovery, of several versions the preferred one first. */
export const builtinResources: readonly BuiltinResource[] = readRows().map(resourceOf);
