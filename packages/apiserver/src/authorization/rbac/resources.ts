/** The four kinds of role-based access control, as resources of an API server. */
import type { AnyObject, Resource } from "@lifeboat/api";

export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The resource of a kind of this group, such as ClusterRoleBinding. */
export function rbacResource(kind: string): Resource<AnyObject> {
  return {
    group: RBAC_GROUP,
    version: "v1",
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: !kind.startsWith("Cluster"),
  };
}
