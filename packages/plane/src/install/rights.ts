/**
 * What the manager may do on a kube-apiserver: no more than its controllers ask for.
 *
 * Templates may be of any kind, also of kinds that do not exist yet: so it reads every kind, patches their labels and
 * annotations, and writes their status. It deletes nothing but the control plane's own kinds, the execution namespaces, the
 * Services of federated StatefulSets, and Leases in its own namespace; where clusters register by a token also the roles of agents and
 * tokens. It has neither `escalate`, `bind` nor `impersonate`, so that no role can be widened through it.
 */
import { controlPlaneKinds, type JsonObject } from "@lifeboat/api";
import { CLIENT_SIGNER } from "@lifeboat/core/clusters/rights";
import { apiServices, PROXY_API_SERVICE } from "../webhook/resources.ts";

export interface PolicyRule extends JsonObject {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const READ = ["get", "list", "watch"] as const;
const WRITE = ["create", "update", "patch", "delete"] as const;

/** Over the whole control plane. */
export function managerClusterRules(webhooks: string): readonly PolicyRule[] {
  return [
    ...ownKinds(),
    { apiGroups: ["*"], resources: ["*"], verbs: [...READ, "patch"] },
    { apiGroups: ["*"], resources: ["*/status"], verbs: ["get", "update", "patch"] },
    { apiGroups: [""], resources: ["namespaces"], verbs: ["create", "delete"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
    // The list of a federated StatefulSet's pods, and the Services of its pods.
    { apiGroups: [""], resources: ["configmaps"], verbs: ["create", "update"] },
    { apiGroups: [""], resources: ["services"], verbs: ["create", "update", "delete"] },
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      resourceNames: [webhooks],
      verbs: ["update"],
    },
    {
      apiGroups: [apiServices.group],
      resources: [apiServices.plural],
      resourceNames: [PROXY_API_SERVICE],
      verbs: ["update"],
    },
    // Whether the user of a request that the API server passes on may do that.
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["subjectaccessreviews"],
      verbs: ["create"],
    },
  ];
}

/** In the namespace of the control plane itself: its Leases, those of tunnels and replicas included, its settings, the webhook's certificate. */
export function managerSystemRules(): readonly PolicyRule[] {
  return [
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["get", "create", "update", "delete"],
    },
    { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "create", "update"] },
  ];
}

/**
 * Where clusters register by a token, over the whole control plane: to answer the requests of agents and detectors, and to make the
 * roles of agents. What it gives agents it holds itself, so RBAC keeps those roles within these rules.
 */
export function registrationClusterRules(): readonly PolicyRule[] {
  const requests = "certificatesigningrequests";
  return [
    { apiGroups: [CERTIFICATES], resources: [`${requests}/approval`], verbs: ["update"] },
    {
      apiGroups: [CERTIFICATES],
      resources: ["signers"],
      resourceNames: [CLIENT_SIGNER],
      verbs: ["approve"],
    },
    {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
      verbs: ["create", "delete"],
    },
    // What agents get, beyond what the manager needs itself.
    { apiGroups: [CERTIFICATES], resources: [requests], verbs: ["create", "delete"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] },
  ];
}

/** In the namespace that agents share: what each of them gets there by name. */
export function agentNamespaceRules(): readonly PolicyRule[] {
  const verbs = ["create", "update"];
  return [
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs },
    { apiGroups: [""], resources: ["secrets"], verbs },
  ];
}

/** In the namespace of tokens: one is taken by writing it, and goes when it has expired. */
export function tokenNamespaceRules(): readonly PolicyRule[] {
  return [{ apiGroups: [""], resources: ["secrets"], verbs: ["update", "delete"] }];
}

const CERTIFICATES = "certificates.k8s.io";

function ownKinds(): readonly PolicyRule[] {
  const groups = [...new Set(controlPlaneKinds.map(({ group }) => group))];
  return groups.map((group) => {
    const kinds = controlPlaneKinds.filter((kind) => kind.group === group);
    const resources = kinds.flatMap(({ plural, hasStatus }) =>
      hasStatus ? [plural, `${plural}/status`] : [plural],
    );
    return { apiGroups: [group], resources, verbs: [...READ, ...WRITE] };
  });
}
