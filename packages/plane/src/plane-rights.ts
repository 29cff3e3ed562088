/**
 * The roles and bindings that a control plane has beyond those of every server, as RBAC objects.
 *
 * 1. A tenant with `view`, `edit` or `admin` in a namespace has the same there on the policies that it can write, and sees
 *    what becomes of its workloads. Works are for no tenant: they hold the content of Secrets, and stand in the
 *    namespaces of clusters.
 * 2. The controllers act as a user of their own, which is no master: it reads everything, labels what it propagates and
 *    writes its status, and creates, changes and deletes objects of the kinds below alone. What it grants to agents it
 *    holds itself, so it needs no right to grant more.
 * 3. Everyone reads `kube-public/cluster-info`, and users of a bootstrap token make certificate requests: that is how a
 *    cluster registers.
 */
import type { AnyObject, New } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { PolicyRule, User } from "@lifeboat/apiserver";
import {
  AGENT_BOOTSTRAPPERS_GROUP,
  CLIENT_SIGNER,
  clusterInfoRoleObjects,
} from "@lifeboat/core/clusters/rights";

/** The user of the controllers of a control plane. */
export const CONTROLLERS_USER: User = Object.freeze({
  name: "system:lifeboat",
  groups: Object.freeze(["system:lifeboat:controllers", "system:authenticated"]),
});

/** The user of the gateway of `lifeboat up`; a `lifeboat gateway` elsewhere can act as the same user. */
export const GATEWAY_USER: User = Object.freeze({
  name: "system:lifeboat:gateway",
  groups: Object.freeze(["system:authenticated"]),
});

const RBAC = "rbac.authorization.k8s.io";
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const POLICIES = ["propagationpolicies", "overridepolicies"];
const ACROSS_CLUSTERS = ["multiclusteringresses", "multiclusterservices"];

export function planeRights(): readonly New<AnyObject>[] {
  return [
    ...tenantRights(),
    ...controllerRights(),
    ...gatewayRights(),
    ...clusterInfoRoleObjects(),
    ...nameServerRights(),
    agentBootstrapBinding(),
  ];
}

/** What tenants may do, as parts of the roles `view`, `edit` and `admin` of every server. */
export function tenantRights(): readonly New<AnyObject>[] {
  return [
    partOf("view", [
      { verbs: READ, apiGroups: ["policy.karmada.io"], resources: POLICIES },
      { verbs: READ, apiGroups: ["networking.karmada.io"], resources: withStatus(ACROSS_CLUSTERS) },
      { verbs: READ, apiGroups: ["work.karmada.io"], resources: withStatus(["resourcebindings"]) },
    ]),
    partOf("edit", [
      { verbs: WRITE, apiGroups: ["policy.karmada.io"], resources: POLICIES },
      { verbs: WRITE, apiGroups: ["networking.karmada.io"], resources: ACROSS_CLUSTERS },
    ]),
  ];
}

/** Lets users of a token that registers clusters make certificate requests; the role is of every server. */
export function agentBootstrapBinding(): New<AnyObject> {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "system:lifeboat:agent-bootstrap" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "system:node-bootstrapper" },
    subjects: [{ apiGroup: RBAC, kind: "Group", name: AGENT_BOOTSTRAPPERS_GROUP }],
  };
}

/** What `lifeboat dns serve` reads, in all namespaces … */
export const NAME_SERVER_ROLE = "system:lifeboat:dns";
/** … and what it reports and a person confirms, in `lifeboat-system` alone. */
export const NAME_SERVER_REPORT_ROLE = "system:lifeboat:dns-report";

/** The roles of `lifeboat dns serve`, bound to no user. */
export function nameServerRights(): readonly New<AnyObject>[] {
  const role = (name: string, rules: readonly PolicyRule[]): New<AnyObject> => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name },
    rules,
  });
  return [
    role(NAME_SERVER_ROLE, [
      allow("", READ, "services"),
      allow("apps", READ, "statefulsets"),
      allow("cluster.karmada.io", READ, "clusters"),
      allow("work.karmada.io", READ, "resourcebindings"),
    ]),
    role(NAME_SERVER_REPORT_ROLE, [
      allow("", READ, "configmaps"),
      allow("coordination.k8s.io", ["get", "create", "update"], "leases"),
    ]),
  ];
}

const CERTIFICATES = "certificates.k8s.io";

/** Exported for its test, which holds it against what controllers ask for. */
export const CONTROLLER_RULES: readonly PolicyRule[] = [
  // Templates are of any kind: they are read, get the labels of their policy, and show the status of their copies.
  { verbs: [...READ, "patch"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["update"], apiGroups: ["*"], resources: ["*/status"] },
  allow("cluster.karmada.io", ["create", "delete", "update"], "clusters"),
  allow("work.karmada.io", ["create", "update"], "clusterresourcebindings", "resourcebindings"),
  allow("work.karmada.io", ["create", "delete", "update"], "works"),
  allow("policy.karmada.io", ["update"], "clusterpropagationpolicies", "propagationpolicies"),
  // The Services of a federated StatefulSet's pods, and the policies that place them.
  allow("policy.karmada.io", ["create", "delete"], "propagationpolicies"),
  allow("", ["create", "delete", "update"], "services"),
  allow("policy.karmada.io", ["create"], "clustertaintpolicies"),
  allow("apps.karmada.io", ["delete"], "workloadrebalancers"),
  allow("lifeboat.dev", ["create", "delete"], "evacuations"),
  allow("lifeboat.dev", ["create"], "evacuationslices"),
  allow("lifeboat.dev", ["create", "delete"], "ledgerslices"),
  allow("lifeboat.dev", ["create", "update"], "evacuationbudgets"),
  allow("", ["create", "update"], "configmaps"),
  allow("", ["create", "delete"], "namespaces"),
  allow("", ["create", "delete", "update"], "secrets"),
  allow("", ["create"], "events"),
  allow("events.k8s.io", ["create"], "events"),
  allow("coordination.k8s.io", ["create", "update"], "leases"),
  // The rights of agents: escalation keeps them within these rules.
  allow(RBAC, ["create", "delete"], "clusterrolebindings", "clusterroles", "rolebindings", "roles"),
  allow(CERTIFICATES, ["create", "delete"], "certificatesigningrequests"),
  allow(CERTIFICATES, ["update"], "certificatesigningrequests/approval"),
  {
    ...allow(CERTIFICATES, ["approve", "sign"], "signers"),
    resourceNames: [CLIENT_SIGNER],
  },
];

function allow(
  group: string,
  verbs: readonly string[],
  ...resources: readonly string[]
): PolicyRule {
  return { verbs, apiGroups: [group], resources };
}

function controllerRights(): readonly New<AnyObject>[] {
  const apiVersion = `${RBAC}/v1`;
  const metadata = { name: "system:lifeboat:controllers" };
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: metadata.name };
  const subjects = [{ apiGroup: RBAC, kind: "User", name: CONTROLLERS_USER.name }];
  return [
    { apiVersion, kind: "ClusterRole", metadata, rules: CONTROLLER_RULES },
    { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects },
  ];
}

/** A load balancer reads ingresses and certificates … */
export const GATEWAY_RULES = [
  {
    verbs: ["list", "watch"],
    apiGroups: ["networking.karmada.io"],
    resources: ["multiclusteringresses"],
  },
  { verbs: ["list", "watch"], apiGroups: [""], resources: ["secrets"] },
] as const;

/** … and confirms on its own Lease, in lifeboat-system, what it has carried out (D27). */
export const GATEWAY_OWN_RULES = [
  { verbs: ["create", "get", "update"], apiGroups: ["coordination.k8s.io"], resources: ["leases"] },
] as const;

function gatewayRights(): readonly New<AnyObject>[] {
  const apiVersion = `${RBAC}/v1`;
  const { name } = GATEWAY_USER;
  const subjects = [{ apiGroup: RBAC, kind: "User", name }];
  const own = { name, namespace: wellKnown.OWN_NAMESPACE };
  const bound = (kind: string) => ({ roleRef: { apiGroup: RBAC, kind, name }, subjects });
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules: GATEWAY_RULES },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, ...bound("ClusterRole") },
    { apiVersion, kind: "Role", metadata: own, rules: GATEWAY_OWN_RULES },
    { apiVersion, kind: "RoleBinding", metadata: own, ...bound("Role") },
  ];
}

/** A part of one of the roles that tenants get. */
function partOf(role: "view" | "edit", rules: readonly PolicyRule[]): New<AnyObject> {
  const labels = { [`${RBAC}/aggregate-to-${role}`]: "true" };
  const metadata = { name: `system:lifeboat:aggregate-to-${role}`, labels };
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata, rules };
}

function withStatus(plurals: readonly string[]): readonly string[] {
  return plurals.flatMap((plural) => [plural, `${plural}/status`]);
}
