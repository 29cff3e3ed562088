/**
 * What of a control plane is moved to another API server, and in which order it is made there. Pure.
 *
 * 1. What an API server makes for itself stays behind: the new one has its own.
 * 2. Credentials of the old API server (certificates, tokens) stay behind: the new one does not accept them.
 * 3. An object is made after its owners, and after what it is likely to name: Clusters before bindings, bindings before Works.
 */
import {
  type AnyObject,
  controlPlaneKinds,
  keyOf,
  qualifiedName,
  type Resource,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";

export interface Table {
  readonly resource: Resource;
  readonly objects: readonly AnyObject[];
}

export interface MovedObject {
  readonly resource: Resource;
  readonly object: AnyObject;
}

export interface Inventory {
  /** In the order in which they are made. */
  readonly moved: readonly MovedObject[];
  /** How many of which kind stay behind, and why. */
  readonly stays: readonly {
    readonly kind: string;
    readonly why: string;
    readonly count: number;
  }[];
}

export function takeInventory(tables: readonly Table[]): Inventory {
  const moved: MovedObject[] = [];
  const stays = new Map<string, { kind: string; why: string; count: number }>();
  for (const { resource, objects } of tables)
    for (const object of objects) {
      const why = whyItStays(resource, object);
      if (why === undefined) moved.push({ resource, object });
      else {
        const key = `${resource.kind} ${why}`;
        stays.set(key, { kind: resource.kind, why, count: (stays.get(key)?.count ?? 0) + 1 });
      }
    }
  return { moved: moved.toSorted((a, b) => rankOf(a) - rankOf(b)), stays: [...stays.values()] };
}

const THEIR_OWN = "an API server makes its own";
const OF_THE_SERVER = "it belongs to the API server itself";
const NO_PROOF = "another API server does not accept it: issue it again there";
const ADMISSION = "admission of the new API server is set up there";
const PASSING = "it is of the moment";

/** Kinds of which nothing is moved. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["Event", PASSING],
  ["SimulatedMember", "simulated members belong to the machine they run on"],
  ["CertificateSigningRequest", NO_PROOF],
  ["APIService", OF_THE_SERVER],
  ["ComponentStatus", OF_THE_SERVER],
  ["IPAddress", THEIR_OWN],
  ["ServiceCIDR", THEIR_OWN],
]);

const ADMISSION_GROUP = "admissionregistration.k8s.io";
const RBAC_GROUP = "rbac.authorization.k8s.io";
const SERVER_NAMESPACES: ReadonlySet<string> = new Set([
  "kube-system",
  "kube-public",
  "kube-node-lease",
]);
const SERVER_ROLES: ReadonlySet<string> = new Set(["admin", "cluster-admin", "edit", "view"]);
const PROOFS: ReadonlySet<string> = new Set([
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
]);
const OWN_KINDS: ReadonlySet<string> = new Set(
  controlPlaneKinds.map((kind) => qualifiedName(kind)),
);

/** Whether a kind is one of the control plane's own. */
export function isOwnKind(resource: Resource): boolean {
  return OWN_KINDS.has(qualifiedName(resource));
}

/** Undefined: it moves. */
export function whyItStays(resource: Resource, object: AnyObject): string | undefined {
  const { namespace, name } = keyOf(object);
  const { group, kind } = resource;
  if (KINDS.has(kind)) return KINDS.get(kind);
  if (group === ADMISSION_GROUP) return ADMISSION;
  if (kind === "CustomResourceDefinition" && OWN_KINDS.has(name)) return THEIR_OWN;
  if (kind === "Namespace" && SERVER_NAMESPACES.has(name)) return THEIR_OWN;
  if (SERVER_NAMESPACES.has(namespace)) return OF_THE_SERVER;
  if (group === RBAC_GROUP && (name.startsWith("system:") || SERVER_ROLES.has(name)))
    return THEIR_OWN;
  if (namespace === "default" && name === "kubernetes" && SERVICE_KINDS.has(kind)) return THEIR_OWN;
  if (kind === "ConfigMap" && name === "kube-root-ca.crt") return THEIR_OWN;
  if (kind === "Secret" && PROOFS.has(String(object["type"]))) return NO_PROOF;
  if (kind === "Lease" && namespace !== wellKnown.CLUSTER_NAMESPACE) return PASSING;
  if (namespace !== wellKnown.OWN_NAMESPACE) return undefined;
  return kind === "ConfigMap" && name === DEFAULT_POLICIES ? undefined : THEIR_OWN;
}

const SERVICE_KINDS: ReadonlySet<string> = new Set(["Service", "Endpoints", "EndpointSlice"]);
/** Shows that the default taint policies were made once: if they are gone, a person deleted them (D2). */
export const DEFAULT_POLICIES = "default-policies";

const RANKS: ReadonlyMap<string, number> = new Map([
  ["Namespace", 0],
  ["CustomResourceDefinition", 1],
  ["ResourceBinding", 5],
  ["ClusterResourceBinding", 5],
  ["Evacuation", 5],
  ["EvacuationSlice", 6],
  ["EvacuationBudget", 6],
  ["Work", 7],
]);

/** Objects of a lower rank are made first. */
export function rankOf({ resource }: Pick<MovedObject, "resource">): number {
  const isOwn = isOwnKind(resource);
  const builtin = resource.kind === "Namespace" || resource.kind === "CustomResourceDefinition";
  if (isOwn || builtin) return RANKS.get(resource.kind) ?? 4;
  return 2;
}

/** What is already there on a new API server without being another control plane's: it is taken as it is, or brought in line. */
export function mayBeThere({ resource, object }: MovedObject): "kept" | "replaced" | undefined {
  const { namespace, name } = keyOf(object);
  if (resource.kind === "Namespace") return "kept";
  if (resource.kind === "ServiceAccount" && name === "default") return "kept";
  if (resource.kind === "EvacuationBudget") return "replaced";
  if (resource.kind === "ClusterTaintPolicy" && name.startsWith("default-")) return "replaced";
  if (resource.kind === "ConfigMap" && namespace === wellKnown.OWN_NAMESPACE) return "kept";
  return undefined;
}
