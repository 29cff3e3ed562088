/**
 * The roles and bindings that clients expect of every Kubernetes API server, as data. What gives them their rules is a real
 * server (compared in default-roles.test.ts); roles for parts that do not run here (nodes, kube-scheduler …) are left out.
 */
import type { AnyObject, New } from "@lifeboat/api";
import type { PolicyRule } from "../authorizer.ts";
import { RBAC_GROUP } from "./resources.ts";
import type { Subject } from "./rights.ts";

interface DefaultRole {
  readonly name: string;
  /** Absent: a ClusterRole. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules: readonly PolicyRule[];
  /** The labels of the ClusterRoles whose rules it gathers; its own are then computed. */
  readonly gathers?: Readonly<Record<string, string>>;
}

interface DefaultBinding {
  readonly name: string;
  /** Absent: a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly role: { readonly kind: "Role" | "ClusterRole"; readonly name: string };
  readonly subjects: readonly Subject[];
}

/** A ClusterRole with this label and the value `true` is part of the role `admin`, `edit` or `view`. */
const AGGREGATE_TO = "rbac.authorization.k8s.io/aggregate-to-";

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const READ_WRITE = [...WRITE, ...READ].toSorted();
const AUTHENTICATED: Subject = { kind: "Group", name: "system:authenticated" };
const UNAUTHENTICATED: Subject = { kind: "Group", name: "system:unauthenticated" };
const PUBLIC_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

function rule(
  verbs: readonly string[],
  apiGroups: string | readonly string[],
  ...resources: string[]
): PolicyRule {
  return { verbs, apiGroups: typeof apiGroups === "string" ? [apiGroups] : apiGroups, resources };
}

function paths(...nonResourceURLs: string[]): PolicyRule {
  return { verbs: ["get"], nonResourceURLs: nonResourceURLs.toSorted() };
}

function partOf(role: string): Readonly<Record<string, string>> {
  return { [`${AGGREGATE_TO}${role}`]: "true" };
}

/** What scales: seen with its scale and status, written with its scale. */
const DAEMON_SETS = ["daemonsets", "daemonsets/status"];
const DEPLOYMENTS = ["deployments", "deployments/scale", "deployments/status"];
const REPLICA_SETS = ["replicasets", "replicasets/scale", "replicasets/status"];
const STATEFUL_SETS = ["statefulsets", "statefulsets/scale", "statefulsets/status"];
const WRITTEN_DEPLOYMENTS = ["deployments", "deployments/rollback", "deployments/scale"];

const view: readonly PolicyRule[] = [
  rule(
    READ,
    "",
    "configmaps",
    "endpoints",
    "persistentvolumeclaims",
    "persistentvolumeclaims/status",
    "pods",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "serviceaccounts",
    "services",
    "services/status",
  ),
  rule(
    READ,
    "",
    "bindings",
    "limitranges",
    "namespaces/status",
    "pods/log",
    "pods/status",
    "replicationcontrollers/status",
    "resourcequotas",
    "resourcequotas/status",
  ),
  rule(READ, "", "namespaces"),
  rule(READ, ["", "events.k8s.io"], "events"),
  rule(READ, "discovery.k8s.io", "endpointslices"),
  rule(
    READ,
    "apps",
    "controllerrevisions",
    ...DAEMON_SETS,
    ...DEPLOYMENTS,
    ...REPLICA_SETS,
    ...STATEFUL_SETS,
  ),
  rule(READ, "autoscaling", "horizontalpodautoscalers", "horizontalpodautoscalers/status"),
  rule(READ, "batch", "cronjobs", "cronjobs/status", "jobs", "jobs/status"),
  rule(
    READ,
    "extensions",
    ...DAEMON_SETS,
    ...DEPLOYMENTS,
    "ingresses",
    "ingresses/status",
    "networkpolicies",
    ...REPLICA_SETS,
    "replicationcontrollers/scale",
  ),
  rule(READ, "policy", "poddisruptionbudgets", "poddisruptionbudgets/status"),
  rule(READ, "networking.k8s.io", "ingresses", "ingresses/status", "networkpolicies"),
  rule(
    READ,
    "resource.k8s.io",
    "resourceclaims",
    "resourceclaims/status",
    "resourceclaimtemplates",
  ),
];

const POD_STREAMS = ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy"];

const edit: readonly PolicyRule[] = [
  rule(READ, "", ...POD_STREAMS, "secrets", "services/proxy"),
  rule(["impersonate"], "", "serviceaccounts"),
  rule(WRITE, "", "pods", ...POD_STREAMS),
  rule(["create"], "", "pods/eviction"),
  rule(
    WRITE,
    "",
    "configmaps",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "secrets",
    "serviceaccounts",
    "services",
    "services/proxy",
  ),
  rule(["create"], "", "serviceaccounts/token"),
  rule(WRITE, ["", "events.k8s.io"], "events"),
  rule(
    WRITE,
    "apps",
    "daemonsets",
    ...WRITTEN_DEPLOYMENTS,
    "replicasets",
    "replicasets/scale",
    "statefulsets",
    "statefulsets/scale",
  ),
  rule(WRITE, "autoscaling", "horizontalpodautoscalers"),
  rule(WRITE, "batch", "cronjobs", "jobs"),
  rule(
    WRITE,
    "extensions",
    "daemonsets",
    ...WRITTEN_DEPLOYMENTS,
    "ingresses",
    "networkpolicies",
    "replicasets",
    "replicasets/scale",
    "replicationcontrollers/scale",
  ),
  rule(WRITE, "policy", "poddisruptionbudgets"),
  rule(WRITE, "networking.k8s.io", "ingresses", "networkpolicies"),
  rule(READ_WRITE, "coordination.k8s.io", "leases"),
  rule(WRITE, "resource.k8s.io", "resourceclaims", "resourceclaimtemplates"),
];

const admin: readonly PolicyRule[] = [
  rule(["create"], "authorization.k8s.io", "localsubjectaccessreviews"),
  rule(READ_WRITE, "rbac.authorization.k8s.io", "rolebindings", "roles"),
];

const CSRS = "certificates.k8s.io";

function approver(signer: string): DefaultRole {
  const named = { resourceNames: [`kubernetes.io/${signer}`] };
  const rules = [{ ...rule(["approve"], CSRS, "signers"), ...named }];
  return { name: `system:certificates.k8s.io:${signer}-approver`, rules };
}

const roles: readonly DefaultRole[] = [
  {
    name: "cluster-admin",
    rules: [rule(["*"], "*", "*"), { verbs: ["*"], nonResourceURLs: ["*"] }],
  },
  { name: "admin", rules: [], gathers: partOf("admin") },
  { name: "edit", rules: [], gathers: partOf("edit"), labels: partOf("admin") },
  { name: "view", rules: [], gathers: partOf("view"), labels: partOf("edit") },
  { name: "system:aggregate-to-admin", rules: admin, labels: partOf("admin") },
  { name: "system:aggregate-to-edit", rules: edit, labels: partOf("edit") },
  { name: "system:aggregate-to-view", rules: view, labels: partOf("view") },
  {
    name: "system:discovery",
    rules: [paths("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...PUBLIC_PATHS)],
  },
  { name: "system:public-info-viewer", rules: [paths(...PUBLIC_PATHS)] },
  {
    name: "system:basic-user",
    rules: [
      rule(
        ["create"],
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
      ),
      rule(["create"], "authentication.k8s.io", "selfsubjectreviews"),
    ],
  },
  {
    name: "system:auth-delegator",
    rules: [
      rule(["create"], "authentication.k8s.io", "tokenreviews"),
      rule(["create"], "authorization.k8s.io", "subjectaccessreviews"),
    ],
  },
  {
    name: "system:monitoring",
    rules: [
      paths(
        "/flagz",
        "/healthz",
        "/healthz/*",
        "/livez",
        "/livez/*",
        "/metrics",
        "/metrics/slis",
        "/readyz",
        "/readyz/*",
        "/statusz",
      ),
      rule(["get"], "", "nodes/metrics"),
    ],
  },
  {
    name: "system:node-bootstrapper",
    rules: [rule(["create", ...READ], CSRS, "certificatesigningrequests")],
  },
  {
    name: "system:service-account-issuer-discovery",
    rules: [
      paths(
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/",
        "/openid/v1/jwks",
        "/openid/v1/jwks/",
      ),
    ],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    rules: [rule(["create"], CSRS, "certificatesigningrequests/nodeclient")],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    rules: [rule(["create"], CSRS, "certificatesigningrequests/selfnodeclient")],
  },
  approver("kube-apiserver-client"),
  approver("kube-apiserver-client-kubelet"),
  approver("kubelet-serving"),
  approver("legacy-unknown"),
  {
    name: "extension-apiserver-authentication-reader",
    namespace: "kube-system",
    rules: [
      {
        ...rule(READ, "", "configmaps"),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  },
];

function bindingOf(name: string, ...subjects: Subject[]): DefaultBinding {
  return { name, role: { kind: "ClusterRole", name }, subjects };
}

const bindings: readonly DefaultBinding[] = [
  bindingOf("cluster-admin", { kind: "Group", name: "system:masters" }),
  bindingOf("system:discovery", AUTHENTICATED),
  bindingOf("system:basic-user", AUTHENTICATED),
  bindingOf("system:public-info-viewer", AUTHENTICATED, UNAUTHENTICATED),
  bindingOf("system:monitoring", { kind: "Group", name: "system:monitoring" }),
  bindingOf("system:service-account-issuer-discovery", {
    kind: "Group",
    name: "system:serviceaccounts",
  }),
];

function roleObject({ name, namespace, labels, rules, gathers }: DefaultRole): New<AnyObject> {
  const content =
    gathers === undefined
      ? { rules }
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: gathers }] } };
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  return { ...head(kind, name, namespace, labels), ...content };
}

function bindingObject({ name, namespace, role, subjects }: DefaultBinding): New<AnyObject> {
  return {
    ...head(namespace === undefined ? "ClusterRoleBinding" : "RoleBinding", name, namespace),
    roleRef: { apiGroup: RBAC_GROUP, ...role },
    subjects: subjects.map((subject) => ({ apiGroup: RBAC_GROUP, ...subject })),
  };
}

function head(
  kind: string,
  name: string,
  namespace: string | undefined,
  labels?: Readonly<Record<string, string>>,
): New<AnyObject> {
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels !== undefined && { labels }),
  };
  return { apiVersion: `${RBAC_GROUP}/v1`, kind, metadata };
}

/** Everything, as objects. */
export function defaultRights(): readonly New<AnyObject>[] {
  return [...roles.map(roleObject), ...bindings.map(bindingObject)];
}
