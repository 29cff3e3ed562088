/**
 * What an agent may write, where RBAC cannot decide it (D25): RBAC binds no `create` to a name and sees no field.
 *
 * 1. An agent creates a Cluster, Lease, Secret and certificate request only under the names that belong to its cluster.
 * 2. Of its Cluster it writes where and how it is found (id, provider, region, zones, endpoint, references to its own
 *    Secrets) and the status; never what attracts work or keeps it away: labels, annotations, taints, resource models,
 *    the mode, the actions of Remedies, any condition but those that an agent of ours reports, each once.
 * 3. Of its Works it writes the status, within the bounds of any report, and takes the finalizer of execution off a Work that is being deleted.
 * 4. Its Events are about its own objects.
 * 5. Whatever else it is given by RBAC: it writes no other kind.
 *
 * A user in the group of agents whose name is of no agent writes nothing.
 */
import { equalJson } from "@lifeboat/api";
import { fieldsAt, listAt, textAt, valueAt } from "../../fields.ts";
import { reportExcess } from "../../propagation/observing/index.ts";
import { executionNamespace } from "../../propagation/rendering/index.ts";
import {
  CLUSTER_NAMESPACE,
  COMPLETE_ENABLEMENTS,
  EXECUTION_FINALIZER,
  READY,
  RESPONSES_WITHIN_LIMITS,
} from "../../well-known.ts";
import {
  AGENTS_GROUP,
  agentIdentity,
  clusterOfAgent,
  isAgentUser,
  secretNames,
} from "./identity.ts";
import { requestRefusal } from "./own-request.ts";

/** A write that has passed authorization, as admission sees it. */
export interface AgentWrite {
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent on DELETE. */
  readonly object?: unknown;
  /** Absent on CREATE. */
  readonly old?: unknown;
}

/** Whether a write is an agent's, which `agentRefusal` then judges. */
export function isAgentsWrite({ user }: Pick<AgentWrite, "user">): boolean {
  return isAgentUser(user.name) || user.groups.includes(AGENTS_GROUP);
}

/** Why an agent may not write this; undefined when it may. */
export function agentRefusal(write: AgentWrite): string | undefined {
  const cluster = clusterOfAgent(write.user.name);
  if (cluster === undefined || !write.user.groups.includes(AGENTS_GROUP))
    return "the user is in the group of agents, or named like one, and is the agent of no cluster";
  const check = CHECKS.get(`${write.group}/${write.plural}`);
  if (check === undefined) return "an agent writes no objects of this kind";
  return check(cluster, write);
}

type Check = (cluster: string, write: AgentWrite) => string | undefined;

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["cluster.karmada.io/clusters", checkCluster],
  ["coordination.k8s.io/leases", checkLease],
  ["/secrets", checkSecret],
  ["certificates.k8s.io/certificatesigningrequests", checkCertificateRequest],
  ["work.karmada.io/works", checkWork],
  ["/events", checkEvent],
  ["events.k8s.io/events", checkEvent],
]);

/** What an agent may write of `spec`; `zone` becomes an entry of `zones`. */
const OWN_CLUSTER_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "provider",
  "region",
  "zone",
  "zones",
  "apiEndpoint",
  "secretRef",
  "impersonatorSecretRef",
]);
const OWN_METADATA_FIELDS: ReadonlySet<string> = new Set([
  // What the server writes itself, or compares.
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
]);

function checkCluster(cluster: string, write: AgentWrite): string | undefined {
  const { operation, name, subresource, object, old } = write;
  if (name !== cluster) return `the agent of cluster ${cluster} writes no other Cluster`;
  if (operation === "DELETE") return undefined;
  if (subresource === "status") return foreignStatus(object, old);
  return (
    foreignField("metadata", OWN_METADATA_FIELDS, object, old) ??
    (operation === "CREATE" ? pullOnly(object) : undefined) ??
    foreignField(
      "spec",
      OWN_CLUSTER_FIELDS,
      withoutMode(object, operation),
      withoutMode(old, operation),
    ) ??
    foreignSecret(cluster, object, "secretRef") ??
    foreignSecret(cluster, object, "impersonatorSecretRef")
  );
}

/**
 * Everything of the status is the agent's but the actions of Remedies and the conditions of others: any client may add one, and a
 * ClusterTaintPolicy may match any.
 */
function foreignStatus(object: unknown, old: unknown): string | undefined {
  const actions = ["status", "remedyActions"] as const;
  if (!equalJson(valueAt(object, ...actions), valueAt(old, ...actions)))
    return "an agent does not write status.remedyActions";
  const changed = [...typesOf(object), ...typesOf(old)].find(
    (type) =>
      !OWN_CONDITIONS.includes(type) &&
      !equalJson(conditionsOf(object, type), conditionsOf(old, type)),
  );
  if (changed !== undefined) return `an agent does not write the condition ${changed}`;
  const twice = OWN_CONDITIONS.find((type) => conditionsOf(object, type).length > 1);
  return twice === undefined ? undefined : `an agent reports the condition ${twice} once`;
}

/** What an agent of ours observes of its member. */
const OWN_CONDITIONS: readonly string[] = [READY, COMPLETE_ENABLEMENTS, RESPONSES_WITHIN_LIMITS];

function typesOf(object: unknown): readonly string[] {
  return listAt(object, "status", "conditions").map((one) => textAt(one, "type"));
}

/** All of one type: a second entry of it is as foreign as the first. */
function conditionsOf(object: unknown, type: string): readonly unknown[] {
  return listAt(object, "status", "conditions").filter((one) => textAt(one, "type") === type);
}

function pullOnly(object: unknown): string | undefined {
  return textAt(object, "spec", "syncMode") === "Pull"
    ? undefined
    : "an agent creates its Cluster with spec.syncMode Pull";
}

/** On creation the mode has been checked; later it counts as any other field. */
function withoutMode(object: unknown, operation: AgentWrite["operation"]): unknown {
  if (operation !== "CREATE") return object;
  const { syncMode: _, ...spec } = fieldsAt(object, "spec");
  return { spec };
}

function foreignSecret(cluster: string, object: unknown, field: string): string | undefined {
  const reference = valueAt(object, "spec", field);
  if (reference === undefined || reference === null) return undefined;
  const isOwn =
    textAt(reference, "namespace") === CLUSTER_NAMESPACE &&
    isOwnSecret(cluster, textAt(reference, "name"));
  return isOwn ? undefined : `spec.${field} names a Secret that is not that of cluster ${cluster}`;
}

/** The first field under `part` that differs and is not the agent's to write. */
function foreignField(
  part: string,
  own: ReadonlySet<string>,
  object: unknown,
  old: unknown,
): string | undefined {
  const now = fieldsAt(object, part);
  const before = fieldsAt(old, part);
  for (const field of new Set([...Object.keys(now), ...Object.keys(before)]))
    if (!own.has(field) && !isSame(valueAt(now, field), valueAt(before, field)))
      return `an agent does not write ${part}.${field}`;
  return undefined;
}

/** An empty list or map is as good as none. */
function isSame(a: unknown, b: unknown): boolean {
  return (isNothing(a) && isNothing(b)) || equalJson(a, b);
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function checkLease(cluster: string, { namespace, name }: AgentWrite): string | undefined {
  return namespace === CLUSTER_NAMESPACE && name === cluster
    ? undefined
    : `the agent of cluster ${cluster} writes the Lease ${CLUSTER_NAMESPACE}/${cluster} and no other`;
}

function checkSecret(cluster: string, { namespace, name }: AgentWrite): string | undefined {
  return namespace === CLUSTER_NAMESPACE && isOwnSecret(cluster, name)
    ? undefined
    : `the agent of cluster ${cluster} writes the Secrets ${cluster} and ${cluster}-impersonator in ${CLUSTER_NAMESPACE} and no other`;
}

function isOwnSecret(cluster: string, name: string): boolean {
  return Object.values(secretNames(cluster)).includes(name);
}

function checkCertificateRequest(cluster: string, write: AgentWrite): string | undefined {
  return requestRefusal("agent", cluster, agentIdentity(cluster), write);
}

function checkWork(cluster: string, write: AgentWrite): string | undefined {
  const { operation, namespace, subresource, object, old } = write;
  if (namespace !== executionNamespace(cluster))
    return `the agent of cluster ${cluster} writes Works in ${executionNamespace(cluster)} alone`;
  if (operation === "CREATE") return "an agent creates no Works";
  if (operation === "DELETE") return undefined;
  // The spec that an update of the status brings is not the one that will be stored.
  if (subresource === "status")
    return reportExcess(
      valueAt(object, "status"),
      listAt(old, "spec", "workload", "manifests").length,
    );
  const finalizers = listAt(object, "metadata", "finalizers");
  const left = listAt(old, "metadata", "finalizers").filter(
    (finalizer) => finalizer !== EXECUTION_FINALIZER,
  );
  const isRelease =
    textAt(old, "metadata", "deletionTimestamp") !== "" && equalJson(finalizers, left);
  return (
    foreignField(
      "metadata",
      isRelease ? RELEASED_METADATA_FIELDS : OWN_METADATA_FIELDS,
      object,
      old,
    ) ?? foreignField("spec", NO_FIELDS_OF_OWN, object, old)
  );
}

const RELEASED_METADATA_FIELDS: ReadonlySet<string> = new Set([
  ...OWN_METADATA_FIELDS,
  "finalizers",
]);
const NO_FIELDS_OF_OWN: ReadonlySet<string> = new Set();

/** `involvedObject` in the old form of Events, `regarding` in the new one. An Event that is changed was its own before, too. */
function checkEvent(cluster: string, write: AgentWrite): string | undefined {
  const events = [write.object, write.old].filter((event) => event !== undefined);
  return events.every((event) => isAboutOwn(cluster, event))
    ? undefined
    : `the agent of cluster ${cluster} writes Events about its own Cluster, Lease, Secrets and Works alone`;
}

function isAboutOwn(cluster: string, event: unknown): boolean {
  const field = valueAt(event, "regarding") === undefined ? "involvedObject" : "regarding";
  const namespace = textAt(event, field, "namespace");
  const name = textAt(event, field, "name");
  const kind = textAt(event, field, "kind");
  if (namespace === executionNamespace(cluster)) return true;
  if (kind === "Cluster") return namespace === "" && name === cluster;
  if (namespace !== CLUSTER_NAMESPACE) return false;
  return kind === "Lease" ? name === cluster : kind === "Secret" && isOwnSecret(cluster, name);
}
