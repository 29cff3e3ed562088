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
import type { PolicyRule, User } from "@lifeboat/apiserver";
import {
  AGENT_BOOTSTRAPPERS_GROUP,
  CLIENT_SIGNER,
  clusterInfoRoleObjects,
} from "@lifeboat/core/clusters/rights";

/** As whom the controllers of a control plane act. */
export const CONTROLLERS_USER: User = Object.freeze({
  name: "system:lifeboat",
  groups: Object.freeze(["system:lifeboat:controllers", "system:authenticated"]),
});

const RBAC = "rbac.authorization.k8s.io";
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const POLICIES = ["propagationpolicies", "overridepolicies"];
const ACROSS_CLUSTERS = ["multiclusteringresses", "multiclusterservices"];

export function planeRights(): readonly New<AnyObject>[] {
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
    ...controllerRights(),
    ...clusterInfoRoleObjects(),
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "system:lifeboat:agent-bootstrap" },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "system:node-bootstrapper" },
      subjects: [{ apiGroup: RBAC, kind: "Group", name: AGENT_BOOTSTRAPPERS_GROUP }],
    },
  ];
}

const CHANGE = ["create", "delete", "update"];
const CERTIFICATES = "certificates.k8s.io";

/** Exported for its test, which holds it against what controllers ask for. */
export const CONTROLLER_RULES: readonly PolicyRule[] = [
  // Templates are of any kind: they are read, get the labels of their policy, and show the status of their copies.
  { verbs: [...READ, "patch"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["update"], apiGroups: ["*"], resources: ["*/status"] },
  { verbs: CHANGE, apiGroups: ["cluster.karmada.io"], resources: ["clusters"] },
  {
    verbs: CHANGE,
    apiGroups: ["work.karmada.io"],
    resources: ["clusterresourcebindings", "resourcebindings", "works"],
  },
  {
    verbs: CHANGE,
    apiGroups: ["policy.karmada.io"],
    resources: ["clusterpropagationpolicies", "clustertaintpolicies", "propagationpolicies"],
  },
  { verbs: CHANGE, apiGroups: ["apps.karmada.io"], resources: ["workloadrebalancers"] },
  {
    verbs: CHANGE,
    apiGroups: ["lifeboat.dev"],
    resources: ["evacuationbudgets", "evacuations", "evacuationslices"],
  },
  { verbs: CHANGE, apiGroups: [""], resources: ["configmaps", "namespaces", "secrets"] },
  { verbs: CHANGE, apiGroups: ["coordination.k8s.io"], resources: ["leases"] },
  { verbs: CHANGE, apiGroups: ["", "events.k8s.io"], resources: ["events"] },
  // The rights of agents: escalation keeps them within these rules.
  {
    verbs: CHANGE,
    apiGroups: [RBAC],
    resources: ["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
  },
  { verbs: CHANGE, apiGroups: [CERTIFICATES], resources: ["certificatesigningrequests"] },
  {
    verbs: ["update"],
    apiGroups: [CERTIFICATES],
    resources: ["certificatesigningrequests/approval"],
  },
  {
    verbs: ["approve", "sign"],
    apiGroups: [CERTIFICATES],
    resources: ["signers"],
    resourceNames: [CLIENT_SIGNER],
  },
];

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

/** A part of one of the roles that tenants get. */
function partOf(role: "view" | "edit", rules: readonly PolicyRule[]): New<AnyObject> {
  const labels = { [`${RBAC}/aggregate-to-${role}`]: "true" };
  const metadata = { name: `system:lifeboat:aggregate-to-${role}`, labels };
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata, rules };
}

function withStatus(plurals: readonly string[]): readonly string[] {
  return plurals.flatMap((plural) => [plural, `${plural}/status`]);
}
