/** The four kinds of role-based access control, as resources of an API server. */
import type { AnyObject, Resource } from "@lifeboat/api";
import type { PolicyRule } from "../authorizer.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The resource of a kind of this group, such as ClusterRoleBinding. */
export function rbacResource(kind: string): Resource {
  return {
    group: RBAC_GROUP,
    version: "v1",
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: !kind.startsWith("Cluster"),
  };
}

/** The rules of a stored role; the schema has seen to their types. */
export function rulesIn(role: AnyObject): readonly PolicyRule[] {
  const { rules } = role as unknown as { readonly rules?: readonly PolicyRule[] | null };
  return rules ?? [];
}
