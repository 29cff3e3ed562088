/**
 * Joins a simulated member like any push member: a Secret with its token and authority, and a Cluster that points to both.
 *
 * 1. It can be repeated after a crash at any step: what is there and right is left alone.
 * 2. A Cluster of this name that is another cluster is never touched.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  equalJson,
  isRefused,
  type New,
  type Resource,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Client } from "@lifeboat/kit";

/** How a member is reached. */
export interface SimulatedAccess {
  readonly name: string;
  /** The uid of its namespace kube-system. */
  readonly id: string;
  /** `https://127.0.0.1:34567`. */
  readonly endpoint: string;
  readonly token: string;
  /** PEM. */
  readonly caBundle: string;
}

/** The name belongs to another cluster. */
export class NameTaken extends Error {
  override readonly name = "NameTaken";
}

const { CLUSTER_NAMESPACE, SYSTEM } = wellKnown;
const NAMESPACES: Resource = resource("namespaces", "Namespace", false);
const SECRETS: Resource<Secret> = resource("secrets", "Secret", true) as Resource<Secret>;

interface Secret extends AnyObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Makes the Secret and the Cluster, or brings them up to date; answers the Cluster. */
export async function joinSimulated(plane: Client, access: SimulatedAccess): Promise<Cluster> {
  refuseOther(await found(plane.get(clusters, { namespace: "", name: access.name })), access);
  await createIfAbsent(plane, NAMESPACES, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: CLUSTER_NAMESPACE, labels: { [SYSTEM]: "true" } },
  });
  await writeSecret(plane, access, undefined);
  const cluster = await writeCluster(plane, access);
  await writeSecret(plane, access, cluster);
  return cluster;
}

/** Brings the Secret and the endpoint up to date where the member is joined; answers whether it is. */
export async function refreshJoined(plane: Client, access: SimulatedAccess): Promise<boolean> {
  const cluster = await found(plane.get(clusters, { namespace: "", name: access.name }));
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return false;
  refuseOther(cluster, access);
  await writeSecret(plane, access, cluster);
  await writeCluster(plane, access);
  return true;
}

async function writeSecret(
  plane: Client,
  { name, token, caBundle }: SimulatedAccess,
  owner: Cluster | undefined,
): Promise<void> {
  const key = { namespace: CLUSTER_NAMESPACE, name };
  const data = { caBundle: btoa(caBundle), token: btoa(token) };
  const wanted: New<Secret> = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...key, ...(owner !== undefined && { ownerReferences: [referenceTo(owner)] }) },
    type: "Opaque",
    data,
  };
  const secret = await createIfAbsent(plane, SECRETS, wanted);
  const references = secret.metadata.ownerReferences ?? [];
  const isOwned = owner === undefined || references.some(({ uid }) => uid === owner.metadata.uid);
  if (isOwned && equalJson(secret.data, data)) return;
  const metadata = isOwned
    ? secret.metadata
    : { ...secret.metadata, ownerReferences: [...references, referenceTo(owner)] };
  await plane.update(SECRETS, { ...secret, metadata, data: { ...secret.data, ...data } });
}

async function writeCluster(plane: Client, access: SimulatedAccess): Promise<Cluster> {
  const { name, id, endpoint } = access;
  const cluster = await createIfAbsent(plane, clusters, {
    apiVersion: `${clusters.group}/${clusters.version}`,
    kind: clusters.kind,
    metadata: { name },
    spec: {
      id,
      syncMode: "Push",
      apiEndpoint: endpoint,
      secretRef: { namespace: CLUSTER_NAMESPACE, name },
    },
  });
  refuseOther(cluster, access);
  if (cluster.spec.apiEndpoint === endpoint) return cluster;
  return plane.update(clusters, { ...cluster, spec: { ...cluster.spec, apiEndpoint: endpoint } });
}

function refuseOther(cluster: Cluster | undefined, { name, id }: SimulatedAccess): void {
  if (cluster === undefined || cluster.spec.id === id) return;
  throw new NameTaken(`there is a Cluster ${name} already, and it is another cluster`);
}

function referenceTo(cluster: Cluster): NonNullable<AnyObject["metadata"]["ownerReferences"]>[0] {
  const { name, uid } = cluster.metadata;
  return { apiVersion: `${clusters.group}/${clusters.version}`, kind: clusters.kind, name, uid };
}

async function createIfAbsent<T extends AnyObject | Cluster>(
  plane: Client,
  of: Resource<T>,
  object: New<T>,
): Promise<T> {
  const { namespace = "", name = "" } = object.metadata;
  const present = await found(plane.get(of, { namespace, name }));
  return present ?? plane.create(of, object);
}

async function found<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  }
}

function resource(plural: string, kind: string, namespaced: boolean): Resource {
  return { group: "", version: "v1", plural, kind, namespaced };
}
