/** Everything that `lifeboat install` puts into a kube-apiserver, in the order in which it is needed. Pure. */
import {
  type AnyObject,
  apiVersionOf,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  controlPlaneKinds,
  crdOf,
  customResourceDefinitions,
  type JsonObject,
  namespaces,
  type New,
  type Resource,
  roleBindings,
  roles,
  serviceAccounts,
  services,
} from "@lifeboat/api";
import { assert } from "@lifeboat/base";
import {
  MANAGER_ACCOUNT,
  PROXY_API_SERVICE,
  REGISTRATION_ROLE,
  SYSTEM_NAMESPACE,
  WEBHOOK_SERVICE,
  WEBHOOKS_NAME,
} from "../webhook/resources.ts";
import { BOOTSTRAP_NAMESPACE, CLUSTER_INFO } from "@lifeboat/core/clusters/bootstrap-tokens";
import { clusterInfoRoleObjects } from "@lifeboat/core/clusters/rights";
import { wellKnown } from "@lifeboat/core";
import { clusterInfoText } from "../certificate-keeper.ts";
import {
  agentBootstrapBinding,
  GATEWAY_OWN_RULES,
  GATEWAY_RULES,
  NAME_SERVER_REPORT_ROLE,
  NAME_SERVER_ROLE,
  nameServerRights,
  tenantRights,
} from "../plane-rights.ts";
import { apiServiceResource, apiServiceSpec, externalServiceSpec } from "./aggregation.ts";
import {
  agentNamespaceRules,
  managerClusterRules,
  managerSystemRules,
  type PolicyRule,
  registrationClusterRules,
  tokenNamespaceRules,
} from "./rights.ts";
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
  /** Whether the API server passes requests for members on to the manager; absent: it does, where it can. */
  readonly memberProxy?: boolean;
  /** How clusters register by a token; absent: they do not. */
  readonly registration?: RegistrationPlace;
}

export interface RegistrationPlace {
  /** Where clusters reach the API server: `https://host:port`. Absent: another one has published that in cluster-info. */
  readonly server?: string;
  /** The authorities by which they know it, PEM. */
  readonly bundle: string;
}

/** They mark what Lifeboat installed, and which version did. */
export const MANAGED_BY = "app.kubernetes.io/managed-by";
export const VERSION_LABEL = "app.kubernetes.io/version";
export const MANAGER_NAME = "lifeboat";
const NAMES_ACCOUNT = "lifeboat-dns";
const GATEWAY_ACCOUNT = "lifeboat-gateway";
/** The pods of the manager, for the Service of the webhook. */
const POD_LABELS = { "app.kubernetes.io/name": "lifeboat-manager" } as const;
const WEBHOOK_PORT = 8443;

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

export function installedObjects({
  version,
  webhook,
  memberProxy = true,
  registration,
}: InstallOptions): readonly InstalledObject[] {
  const labels = { [MANAGED_BY]: MANAGER_NAME, [VERSION_LABEL]: labelValue(version) };
  const make = (
    resource: Resource,
    name: string,
    fields: JsonObject = {},
    leaves: InstalledObject["leaves"] = "always",
    home: string = SYSTEM_NAMESPACE,
  ): InstalledObject => {
    const namespace = resource.namespaced ? { namespace: home } : {};
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
  const namesBound = (name: string): JsonObject => ({
    subjects: [{ kind: "ServiceAccount", name: NAMES_ACCOUNT, namespace: SYSTEM_NAMESPACE }],
    roleRef: { apiGroup: rbac.group, kind: "ClusterRole", name },
  });
  const gatewayBound = (kind: string): JsonObject => ({
    subjects: [{ kind: "ServiceAccount", name: GATEWAY_ACCOUNT, namespace: SYSTEM_NAMESPACE }],
    roleRef: { apiGroup: rbac.group, kind, name: GATEWAY_ACCOUNT },
  });
  const { mutating, validating } = webhooksOf(webhook);
  /** A role for the manager in another namespace than its own. */
  const roleIn = (namespace: string, rules: readonly PolicyRule[]): readonly InstalledObject[] => [
    make(roles, MANAGER_ACCOUNT, { rules: [...rules] }, "always", namespace),
    make(
      roleBindings,
      MANAGER_ACCOUNT,
      { subjects, roleRef: roleRef("Role") },
      "always",
      namespace,
    ),
  ];
  /** Rights that every control plane has, with the marks of what is installed. */
  const rights = (objects: readonly New<AnyObject>[]): readonly InstalledObject[] =>
    objects.map(({ apiVersion: _apiVersion, kind, metadata, ...fields }) => {
      const resource = RBAC_KINDS.find((one) => one.kind === kind);
      assert(resource !== undefined, "a kind of rights", { kind });
      const { name = "", namespace, labels: own } = metadata;
      const made = make(resource, name, fields as JsonObject, "always", namespace);
      const marks = { ...own, ...made.object.metadata.labels };
      const object = { ...made.object, metadata: { ...made.object.metadata, labels: marks } };
      return { ...made, object };
    });
  const registering = (place: RegistrationPlace): readonly InstalledObject[] => {
    const binding = { ...roleRef("ClusterRole"), name: REGISTRATION_ROLE };
    return [
      make(clusterRoles, REGISTRATION_ROLE, { rules: [...registrationClusterRules()] }),
      make(clusterRoleBindings, REGISTRATION_ROLE, { subjects, roleRef: binding }),
      ...roleIn(wellKnown.CLUSTER_NAMESPACE, agentNamespaceRules()),
      ...roleIn(BOOTSTRAP_NAMESPACE, tokenNamespaceRules()),
      ...rights([...clusterInfoRoleObjects(), agentBootstrapBinding()]),
      ...(place.server === undefined
        ? []
        : [
            make(
              configMaps,
              CLUSTER_INFO.name,
              { data: { kubeconfig: clusterInfoText(place.server, place.bundle) } },
              "always",
              CLUSTER_INFO.namespace,
            ),
          ]),
    ];
  };
  return [
    ...[SYSTEM_NAMESPACE, "karmada-cluster"].map((name) => make(namespaces, name, {}, "never")),
    ...controlPlaneKinds.map((kind) => {
      const { metadata, spec } = crdOf(kind);
      return make(
        customResourceDefinitions,
        metadata.name,
        { spec: spec as unknown as JsonObject },
        "with the kinds",
      );
    }),
    make(serviceAccounts, MANAGER_ACCOUNT),
    make(clusterRoles, MANAGER_ACCOUNT, { rules: [...managerClusterRules(WEBHOOKS_NAME)] }),
    make(clusterRoleBindings, MANAGER_ACCOUNT, { subjects, roleRef: roleRef("ClusterRole") }),
    make(roles, MANAGER_ACCOUNT, { rules: [...managerSystemRules()] }),
    make(roleBindings, MANAGER_ACCOUNT, { subjects, roleRef: roleRef("Role") }),
    ...rights(tenantRights()),
    // For `lifeboat dns serve` in a pod, or with a token of this account.
    make(serviceAccounts, NAMES_ACCOUNT),
    ...rights(nameServerRights()),
    make(clusterRoleBindings, NAMES_ACCOUNT, namesBound(NAME_SERVER_ROLE)),
    make(roleBindings, NAMES_ACCOUNT, namesBound(NAME_SERVER_REPORT_ROLE)),
    // For `lifeboat gateway` in a pod, or with a token of this account.
    make(serviceAccounts, GATEWAY_ACCOUNT),
    make(clusterRoles, GATEWAY_ACCOUNT, { rules: [...GATEWAY_RULES] }),
    make(clusterRoleBindings, GATEWAY_ACCOUNT, gatewayBound("ClusterRole")),
    make(roles, GATEWAY_ACCOUNT, { rules: [...GATEWAY_OWN_RULES] }),
    make(roleBindings, GATEWAY_ACCOUNT, gatewayBound("Role")),
    ...(webhook.url !== undefined && memberProxy
      ? [make(services, WEBHOOK_SERVICE, { spec: externalServiceSpec(webhook.url) })]
      : []),
    ...(webhook.url === undefined
      ? [
          make(services, WEBHOOK_SERVICE, {
            spec: {
              selector: POD_LABELS,
              ports: [{ name: "webhook", port: 443, targetPort: WEBHOOK_PORT, protocol: "TCP" }],
            },
          }),
        ]
      : []),
    make(configurationResources.mutating, WEBHOOKS_NAME, { webhooks: [...mutating] }),
    make(configurationResources.validating, WEBHOOKS_NAME, { webhooks: [...validating] }),
    ...(registration === undefined ? [] : registering(registration)),
    ...(memberProxy
      ? [make(apiServiceResource, PROXY_API_SERVICE, { spec: apiServiceSpec(webhook) })]
      : []),
  ];
}

const RBAC_KINDS: readonly Resource[] = [clusterRoles, clusterRoleBindings, roles, roleBindings];

/** A version as a label may hold it: `+` is not allowed there. */
export function labelValue(version: string): string {
  return version.replaceAll("+", "_");
}
