/**
 * The roles and bindings that a control plane has beyond those of every server, as RBAC objects.
 *
 * 1. A tenant with `view`, `edit` or `admin` in a namespace has the same there on the policies that it can write, and sees
 *    what becomes of its workloads. Works are for no tenant: they hold the content of Secrets, and stand in the
 *    namespaces of clusters.
 * 2. Everyone reads `kube-public/cluster-info`, and users of a bootstrap token make certificate requests: that is how a
 *    cluster registers.
 */
import type { AnyObject, New } from "@lifeboat/api";
import type { PolicyRule } from "@lifeboat/apiserver";
import { AGENT_BOOTSTRAPPERS_GROUP, clusterInfoRoleObjects } from "@lifeboat/core/clusters/rights";

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

/** A part of one of the roles that tenants get. */
function partOf(role: "view" | "edit", rules: readonly PolicyRule[]): New<AnyObject> {
  const labels = { [`${RBAC}/aggregate-to-${role}`]: "true" };
  const metadata = { name: `system:lifeboat:aggregate-to-${role}`, labels };
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata, rules };
}

function withStatus(plurals: readonly string[]): readonly string[] {
  return plurals.flatMap((plural) => [plural, `${plural}/status`]);
}
