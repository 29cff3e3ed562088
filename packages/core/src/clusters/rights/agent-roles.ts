/**
 * The rights of one cluster's agent as RBAC objects (D25): what is shared by all clusters it only reads, everything else is
 * bound to the names of its own cluster. RBAC cannot bind `create` to a name: there admission checks the name.
 *
 * 1. No rule names bindings, and none has a wildcard.
 * 2. Every object follows from the name of the cluster alone, so that making them twice gives the same objects.
 * 3. Until its Cluster exists an agent reads and changes no Secret: the name is still free then, and the Secrets of this name may become
 *    those of a member that is joined under it (Push), whose credential they hold.
 */
import type { AnyObject, New } from "@lifeboat/api";
import { executionNamespace } from "../../propagation/rendering/index.ts";
import { CLUSTER_NAMESPACE, SYSTEM } from "../../well-known.ts";
import { agentIdentity, agentRoleName, agentUser, secretNames } from "./identity.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Where Events about objects without a namespace are kept, such as those about a Cluster. */
const EVENTS_NAMESPACE = "default";
const READ = ["get", "list", "watch"] as const;
const CHANGE = ["update", "patch"] as const;

/** Label of the RBAC objects of an agent: the name of its cluster. */
export const AGENT_OF = "lifeboat.dev/agent-of";

/** On the ClusterRole of an agent: the user that registered its cluster. */
export const REGISTERED_BY = "lifeboat.dev/registered-by";
/** On the ClusterRole of an agent or a detector: when its newest certificate ends. */
export const REGISTERED_UNTIL = "lifeboat.dev/registered-until";
/** On the ClusterRole of a detector: when that certificate was issued; those of agents all live equally long. */
export const REGISTERED_SINCE = "lifeboat.dev/registered-since";
/** On the ClusterRole of an agent or a detector: the uid of its Cluster, once that exists. When it is gone, so is the registration. */
export const CLUSTER_UID = "lifeboat.dev/cluster-uid";

/** The RBAC objects of a cluster's agent; the namespaces that they stand in are `agentNamespaces`. */
export function agentRoleObjects(cluster: string): readonly New<AnyObject>[] {
  return [
    ...registrationRoleObjects(cluster),
    ...granted(cluster, executionNamespace(cluster), executionRules()),
    ...granted(cluster, CLUSTER_NAMESPACE, secretRules(cluster), SECRETS_PART),
  ];
}

/** Those of them that an agent has before its Cluster exists: enough to make it. */
export function registrationRoleObjects(cluster: string): readonly New<AnyObject>[] {
  return [
    ...granted(cluster, undefined, clusterRules(cluster)),
    ...granted(cluster, CLUSTER_NAMESPACE, sharedNamespaceRules(cluster)),
    ...granted(cluster, EVENTS_NAMESPACE, [eventRule()]),
  ];
}

/** The namespaces that have to exist before `agentRoleObjects` can be made. */
export function agentNamespaces(cluster: string): readonly string[] {
  return [CLUSTER_NAMESPACE, executionNamespace(cluster)];
}

function clusterRules(cluster: string): readonly Rule[] {
  const own = [cluster];
  return [
    {
      apiGroups: ["config.karmada.io"],
      resources: ["resourceinterpretercustomizations", "resourceinterpreterwebhookconfigurations"],
      verbs: READ,
    },
    {
      apiGroups: ["cluster.karmada.io"],
      resources: ["clusters"],
      resourceNames: own,
      verbs: [...READ, ...CHANGE, "delete"],
    },
    {
      apiGroups: ["cluster.karmada.io"],
      resources: ["clusters/status"],
      resourceNames: own,
      verbs: ["get", ...CHANGE],
    },
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["create"] },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      resourceNames: [agentIdentity(cluster).requestName],
      verbs: [...READ, "delete"],
    },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      verbs: ["create"],
    },
    {
      apiGroups: [""],
      resources: ["namespaces"],
      resourceNames: [executionNamespace(cluster)],
      verbs: ["get"],
    },
    {
      apiGroups: ["proxy.lifeboat.dev"],
      resources: ["clusters/attach"],
      resourceNames: own,
      verbs: ["get"],
    },
  ];
}

/** In the namespace that all clusters share: by name. Secrets that are there follow with the Cluster. */
function sharedNamespaceRules(cluster: string): readonly Rule[] {
  return [
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      resourceNames: [cluster],
      verbs: [...READ, ...CHANGE],
    },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    // Shows nothing of what is there.
    { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  ];
}

const SECRETS_PART = ":secrets";

function secretRules(cluster: string): readonly Rule[] {
  return [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: Object.values(secretNames(cluster)),
      verbs: ["get", ...CHANGE],
    },
  ];
}

/** In the agent's own namespace. It never deletes a Work: the plane does, and the agent takes its finalizer off. */
function executionRules(): readonly Rule[] {
  return [
    { apiGroups: ["work.karmada.io"], resources: ["works"], verbs: [...READ, ...CHANGE] },
    { apiGroups: ["work.karmada.io"], resources: ["works/status"], verbs: ["get", ...CHANGE] },
    eventRule(),
  ];
}

function eventRule(): Rule {
  return {
    apiGroups: ["", "events.k8s.io"],
    resources: ["events"],
    verbs: ["create", "patch"],
  };
}

const RBAC = "rbac.authorization.k8s.io";

/** A Role and its RoleBinding in a namespace, or a ClusterRole and its ClusterRoleBinding. */
function granted(
  cluster: string,
  namespace: string | undefined,
  rules: readonly Rule[],
  part = "",
): readonly New<AnyObject>[] {
  const name = agentRoleName(cluster) + part;
  const prefix = namespace === undefined ? "Cluster" : "";
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [SYSTEM]: "true", [AGENT_OF]: cluster },
  };
  const apiVersion = `${RBAC}/v1`;
  return [
    { apiVersion, kind: `${prefix}Role`, metadata, rules },
    {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind: `${prefix}Role`, name },
      subjects: [{ apiGroup: RBAC, kind: "User", name: agentUser(cluster) }],
    },
  ];
}

const CLUSTER_INFO_ROLE = "system:lifeboat:cluster-info";

/** Lets everyone read `kube-public/cluster-info`, also without a credential: it holds the address and the CA bundle. */
export function clusterInfoRoleObjects(): readonly New<AnyObject>[] {
  const metadata = { name: CLUSTER_INFO_ROLE, namespace: "kube-public" };
  const apiVersion = `${RBAC}/v1`;
  const groups = ["system:authenticated", "system:unauthenticated"];
  return [
    {
      apiVersion,
      kind: "Role",
      metadata,
      rules: [
        {
          apiGroups: [""],
          resources: ["configmaps"],
          resourceNames: ["cluster-info"],
          verbs: READ,
        },
      ],
    },
    {
      apiVersion,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC, kind: "Role", name: CLUSTER_INFO_ROLE },
      subjects: groups.map((name) => ({ apiGroup: RBAC, kind: "Group", name })),
    },
  ];
}
