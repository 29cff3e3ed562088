/** Everything that `lifeboat install` puts into a kube-apiserver, in the order in which it is needed. Pure. */
import {
  type AnyObject,
  apiVersionOf,
  controlPlaneKinds,
  crdOf,
  type JsonObject,
  type New,
  type Resource,
} from "@lifeboat/api";
import { SYSTEM_NAMESPACE, WEBHOOK_SERVICE, WEBHOOKS_NAME } from "../webhook/resources.ts";
import { managerClusterRules, managerSystemRules } from "./rights.ts";
import { configurationResources, type WebhookPlace, webhooksOf } from "./webhooks.ts";

export interface InstalledObject {
  readonly resource: Resource;
  readonly object: New<AnyObject>;
  /** What uninstalling does about it. */
  readonly leaves: "always" | "never" | "with the kinds";
}

export interface InstallOptions {
  /** Of Lifeboat itself. */
  readonly version: string;
  readonly webhook: WebhookPlace;
}

/** Tell what was installed by Lifeboat, and by which version. */
export const MANAGED_BY = "app.kubernetes.io/managed-by";
export const VERSION_LABEL = "app.kubernetes.io/version";
export const MANAGER_NAME = "lifeboat";
/** The account of the manager in its own namespace. */
export const MANAGER_ACCOUNT = "lifeboat-manager";
/** The pods of the manager, for the Service of the webhook. */
const POD_LABELS = { "app.kubernetes.io/name": "lifeboat-manager" } as const;
const WEBHOOK_PORT = 8443;

const core = { group: "", version: "v1" } as const;
const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const NAMESPACES: Resource = {
  ...core,
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const ACCOUNTS: Resource = {
  ...core,
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
};
const SERVICES: Resource = { ...core, plural: "services", kind: "Service", namespaced: true };
const CLUSTER_ROLES: Resource = {
  ...rbac,
  plural: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
};
const CLUSTER_ROLE_BINDINGS: Resource = {
  ...rbac,
  plural: "clusterrolebindings",
  kind: "ClusterRoleBinding",
  namespaced: false,
};
const ROLES: Resource = { ...rbac, plural: "roles", kind: "Role", namespaced: true };
const ROLE_BINDINGS: Resource = {
  ...rbac,
  plural: "rolebindings",
  kind: "RoleBinding",
  namespaced: true,
};
export const CRDS: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

export function installedObjects({ version, webhook }: InstallOptions): readonly InstalledObject[] {
  const labels = { [MANAGED_BY]: MANAGER_NAME, [VERSION_LABEL]: labelValue(version) };
  const make = (
    resource: Resource,
    name: string,
    fields: JsonObject = {},
    leaves: InstalledObject["leaves"] = "always",
  ): InstalledObject => {
    const namespace = resource.namespaced ? { namespace: SYSTEM_NAMESPACE } : {};
    return {
      resource,
      leaves,
      object: {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { name, ...namespace, labels },
        ...fields,
      },
    };
  };
  const subjects = [{ kind: "ServiceAccount", name: MANAGER_ACCOUNT, namespace: SYSTEM_NAMESPACE }];
  const roleRef = (kind: string): JsonObject => ({
    apiGroup: rbac.group,
    kind,
    name: MANAGER_ACCOUNT,
  });
  const { mutating, validating } = webhooksOf(webhook);
  return [
    ...[SYSTEM_NAMESPACE, "karmada-cluster"].map((name) => make(NAMESPACES, name, {}, "never")),
    ...controlPlaneKinds.map((kind) => {
      const { metadata, spec } = crdOf(kind);
      return make(CRDS, metadata.name, { spec: spec as unknown as JsonObject }, "with the kinds");
    }),
    make(ACCOUNTS, MANAGER_ACCOUNT),
    make(CLUSTER_ROLES, MANAGER_ACCOUNT, { rules: [...managerClusterRules(WEBHOOKS_NAME)] }),
    make(CLUSTER_ROLE_BINDINGS, MANAGER_ACCOUNT, { subjects, roleRef: roleRef("ClusterRole") }),
    make(ROLES, MANAGER_ACCOUNT, { rules: [...managerSystemRules()] }),
    make(ROLE_BINDINGS, MANAGER_ACCOUNT, { subjects, roleRef: roleRef("Role") }),
    ...(webhook.url === undefined
      ? [
          make(SERVICES, WEBHOOK_SERVICE, {
            spec: {
              selector: POD_LABELS,
              ports: [{ name: "webhook", port: 443, targetPort: WEBHOOK_PORT, protocol: "TCP" }],
            },
          }),
        ]
      : []),
    make(configurationResources.mutating, WEBHOOKS_NAME, { webhooks: [...mutating] }),
    make(configurationResources.validating, WEBHOOKS_NAME, { webhooks: [...validating] }),
  ];
}

/** A version as a label may hold it: `+` is not allowed there. */
export function labelValue(version: string): string {
  return version.replaceAll("+", "_");
}
