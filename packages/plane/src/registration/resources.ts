/** What registration touches, here and in members, and the names it goes by. Clients know them byte for byte. */
import { type AnyObject, apiVersionOf, type New, type NewMeta, type Resource } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { secretNames } from "@lifeboat/core/clusters/rights";

/** The account by which users are impersonated in the member; shared by all control planes that know it. */
export const IMPERSONATOR = "karmada-impersonator";
export const TOKEN_TYPE = "kubernetes.io/service-account-token";
export const TOKEN_ACCOUNT = "kubernetes.io/service-account.name";

/** The account by which the control plane acts in the member. */
export function accountName(cluster: string): string {
  return `karmada-${cluster}`;
}

/** The ClusterRole and the ClusterRoleBinding of that account. */
export function roleName(cluster: string): string {
  return `karmada-controller-manager:${accountName(cluster)}`;
}

/** The ClusterRole and the ClusterRoleBinding of the impersonator of this namespace. */
export function impersonatorRoleName(namespace: string): string {
  return namespace === wellKnown.CLUSTER_NAMESPACE ? IMPERSONATOR : `${IMPERSONATOR}:${namespace}`;
}

export function impersonatorSecretName(cluster: string): string {
  return secretNames(cluster).impersonator;
}

/** An object that registration makes: it bears the label of the system. */
export function systemObject(
  resource: Resource,
  metadata: NewMeta,
  fields: Readonly<Record<string, unknown>> = {},
): New<AnyObject> {
  const labels = { [wellKnown.SYSTEM]: "true", ...metadata.labels };
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { ...metadata, labels },
    ...fields,
  };
}
