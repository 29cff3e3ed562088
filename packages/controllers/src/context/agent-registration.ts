/**
 * What a registered agent has in the control plane: its RBAC objects, and its tombstone after it left. Several controllers and
 * instances may make them at once: each write is decided on what the server has, and repeats itself without harm.
 */
import {
  type AnyObject,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  conflict,
  equalJson,
  isRefused,
  type Json,
  keyOf,
  namespaces,
  type New,
  orNothing,
  type Resource,
  roleBindings,
  roles,
} from "@lifeboat/api";
import { assert, formatTime, type Instant, parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { tombstoneName, tombstoneOver } from "@lifeboat/core/clusters/certificates";
import {
  agentRoleName,
  agentRoleObjects,
  CLUSTER_UID,
  REGISTERED_BY,
  REGISTERED_UNTIL,
  registrationRoleObjects,
} from "@lifeboat/core/clusters/rights";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { createUnlessThere } from "./start-once.ts";

const BY_KIND: Readonly<Record<string, Resource>> = {
  ClusterRole: clusterRoles,
  ClusterRoleBinding: clusterRoleBindings,
  Role: roles,
  RoleBinding: roleBindings,
};
function resourceOf({ kind }: New<AnyObject>): Resource {
  const resource = BY_KIND[String(kind)];
  assert(resource !== undefined, "a kind of rights", { kind });
  return resource;
}

/** The ClusterRole of a cluster's agent, which also bears the marks of its registration. */
export function agentClusterRole(plane: Client, cluster: string): Promise<AnyObject | undefined> {
  return orNothing(plane.get(clusterRoles, { namespace: "", name: agentRoleName(cluster) }));
}

/**
 * Takes the name of a cluster for a registration; rejects with Conflict when another one took it since `found` was read.
 */
export async function claimRegistration(
  plane: Client,
  cluster: string,
  found: AnyObject | undefined,
  by: string,
  until: Instant,
): Promise<void> {
  const annotations = {
    [REGISTERED_BY]: by,
    [REGISTERED_UNTIL]: formatTime(laterOf(registeredUntil(found), until)),
  };
  const [role] = agentRoleObjects(cluster) as readonly [New<AnyObject>];
  try {
    if (found === undefined)
      await plane.create(clusterRoles, { ...role, metadata: { ...role.metadata, annotations } });
    else {
      const { resourceVersion } = found.metadata;
      const body = { metadata: { resourceVersion, annotations } };
      await plane.patch(clusterRoles, keyOf(found), { type: "merge", body });
    }
  } catch (error) {
    if (isRefused(error, "AlreadyExists") || isRefused(error, "NotFound"))
      throw conflict(clusterRoles, agentRoleName(cluster), "another registration came first");
    throw error;
  }
}

/** When the last certificate ends that was noted on a ClusterRole; undefined: none was. */
function registeredUntil(role: AnyObject | undefined): Instant | undefined {
  return parseTime(role?.metadata.annotations?.[REGISTERED_UNTIL] ?? "");
}

function laterOf(noted: Instant | undefined, until: Instant): Instant {
  return noted !== undefined && noted > until ? noted : until;
}

/**
 * Notes when the certificate ends that an agent gets now, unless one that it has ends later. One that was registered by a person's word
 * gets its first mark.
 */
export async function noteCertificate(
  plane: Client,
  cluster: string,
  by: string,
  until: Instant,
): Promise<void> {
  const role = await agentClusterRole(plane, cluster);
  if (role === undefined) return;
  const { resourceVersion, annotations = {} } = role.metadata;
  const marks = {
    [REGISTERED_BY]: annotations[REGISTERED_BY] ?? by,
    [REGISTERED_UNTIL]: formatTime(laterOf(registeredUntil(role), until)),
  };
  if (Object.entries(marks).every(([key, value]) => annotations[key] === value)) return;
  const body = { metadata: { resourceVersion, annotations: marks } };
  await plane.patch(clusterRoles, keyOf(role), { type: "merge", body });
}

/** Makes the rights that an agent has before its Cluster exists as they should be. */
export async function ensureRegistrationRights(plane: Client, cluster: string): Promise<void> {
  await ensureRoles(plane, cluster, registrationRoleObjects(cluster));
}

/** Makes the rights of an agent whose Cluster exists as they should be. Those in the execution namespace follow when it exists. */
export async function ensureAgentRights(plane: Client, cluster: string): Promise<void> {
  await ensureRoles(plane, cluster, agentRoleObjects(cluster));
}

async function ensureRoles(
  plane: Client,
  cluster: string,
  objects: readonly New<AnyObject>[],
): Promise<void> {
  await createUnlessThere(plane, namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: wellKnown.CLUSTER_NAMESPACE },
  });
  for (const object of objects) {
    try {
      await ensureRole(plane, object);
    } catch (error) {
      const mayBeAbsent = object.metadata.namespace === executionNamespace(cluster);
      const isAbsent = isRefused(error, "NotFound") || isRefused(error, "Forbidden");
      if (!mayBeAbsent || !isAbsent) throw error;
    }
  }
}

async function ensureRole(plane: Client, wanted: New<AnyObject>): Promise<void> {
  const resource = resourceOf(wanted);
  const found = await orNothing(plane.get(resource, keyOf(wanted)));
  if (found === undefined) {
    await createUnlessThere(plane, resource, wanted);
    return;
  }
  const fields = ["rules", "subjects"] as const;
  if (fields.every((field) => equalJson(found[field], wanted[field]))) return;
  const { resourceVersion } = found.metadata;
  const body: Json = {
    metadata: { resourceVersion },
    ...Object.fromEntries(
      fields.filter((field) => wanted[field] !== undefined).map((field) => [field, wanted[field]]),
    ),
  };
  await plane.patch(resource, keyOf(wanted), { type: "merge", body });
}

/** Notes on the registration which Cluster it has become. */
export async function adoptRegistration(
  plane: Client,
  role: AnyObject,
  clusterUid: string,
): Promise<void> {
  const { resourceVersion } = role.metadata;
  const body = { metadata: { resourceVersion, annotations: { [CLUSTER_UID]: clusterUid } } };
  await plane.patch(clusterRoles, keyOf(role), { type: "merge", body });
}

/**
 * Ends a registration whose Cluster is gone, or of mode Push: the tombstone first, then the rights, the ClusterRole last: while it
 * exists, something is left to do. A registration that came meanwhile is not touched.
 */
export async function endRegistration(
  plane: Client,
  cluster: string,
  role: AnyObject,
  now: Instant,
): Promise<void> {
  await bury(plane, cluster, now, registeredUntil(role));
  for (const object of agentRoleObjects(cluster).toReversed()) {
    const isLast = object.kind === "ClusterRole";
    const { uid, resourceVersion } = role.metadata;
    const options = isLast ? { preconditions: { uid, resourceVersion } } : {};
    await orNothing(plane.delete(resourceOf(object), keyOf(object), options));
  }
}

/** Writes the tombstone of a cluster. What one of before refuses stays refused, and what it counted still counts. */
async function bury(
  plane: Client,
  cluster: string,
  left: Instant,
  until: Instant | undefined,
): Promise<void> {
  const key = { namespace: wellKnown.CLUSTER_NAMESPACE, name: tombstoneName(cluster) };
  const found = await orNothing(plane.get(configMaps, key));
  const tombstone = tombstoneOver(found, cluster, left, until);
  if (found === undefined) {
    await plane.create(configMaps, tombstone);
    return;
  }
  if (equalJson(found["data"], tombstone["data"])) return;
  const { resourceVersion } = found.metadata;
  const body = { metadata: { resourceVersion }, data: tombstone.data };
  await plane.patch(configMaps, key, { type: "merge", body });
}

/** The tombstone of a cluster of this name that left. */
export function tombstoneFor(plane: Client, cluster: string): Promise<AnyObject | undefined> {
  const key = { namespace: wellKnown.CLUSTER_NAMESPACE, name: tombstoneName(cluster) };
  return orNothing(plane.get(configMaps, key));
}
