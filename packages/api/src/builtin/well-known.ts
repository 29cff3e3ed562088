/**
 * The built-in resources that our own code reads and writes, described once. `resources.ts` lists every resource that
 * the server serves; here are only those that code addresses by name.
 */
import type { Resource } from "../resource.ts";

export const configMaps = core("configmaps", "ConfigMap", true);
export const events = core("events", "Event", true);
export const namespaces = core("namespaces", "Namespace", false);
export const nodes = core("nodes", "Node", false);
export const pods = core("pods", "Pod", true);
export const secrets = core("secrets", "Secret", true);
export const serviceAccounts = core("serviceaccounts", "ServiceAccount", true);
export const services = core("services", "Service", true);

export const daemonSets = resource("apps", "daemonsets", "DaemonSet", true);
export const deployments = resource("apps", "deployments", "Deployment", true);
export const statefulSets = resource("apps", "statefulsets", "StatefulSet", true);

export const customResourceDefinitions = resource(
  "apiextensions.k8s.io",
  "customresourcedefinitions",
  "CustomResourceDefinition",
  false,
);
export const certificateSigningRequests = resource(
  "certificates.k8s.io",
  "certificatesigningrequests",
  "CertificateSigningRequest",
  false,
);
/** Answered and never stored. */
export const selfSubjectReviews = resource(
  "authentication.k8s.io",
  "selfsubjectreviews",
  "SelfSubjectReview",
  false,
);
export const endpointSlices = resource("discovery.k8s.io", "endpointslices", "EndpointSlice", true);
export const leases = resource("coordination.k8s.io", "leases", "Lease", true);

export const priorityClasses = resource(
  "scheduling.k8s.io",
  "priorityclasses",
  "PriorityClass",
  false,
);

export const roles = rbac("roles", "Role", true);
export const roleBindings = rbac("rolebindings", "RoleBinding", true);
export const clusterRoles = rbac("clusterroles", "ClusterRole", false);
export const clusterRoleBindings = rbac("clusterrolebindings", "ClusterRoleBinding", false);

function core(plural: string, kind: string, namespaced: boolean): Resource {
  return resource("", plural, kind, namespaced);
}

function rbac(plural: string, kind: string, namespaced: boolean): Resource {
  return resource("rbac.authorization.k8s.io", plural, kind, namespaced);
}

function resource(group: string, plural: string, kind: string, namespaced: boolean): Resource {
  return { group, version: "v1", plural, kind, namespaced };
}
