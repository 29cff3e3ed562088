/**
 * Disks on which a simulation goes on from where a real control plane is.
 *
 *   plane     what the snapshot holds, row by row; only the way to members that are pushed to is another
 *   members   the copies that Works say they hold, on nodes that sum up to what they reported, full of pods of others as far
 *             as they reported; what runs in them (ReplicaSets, pods) is made by letting them run on their own for a while
 *
 * What nobody can know from the plane's API is not there: other objects of a member, pods that are broken, its drift. A member
 * that was not Ready is silent until everything is healed; so is the agent of one that pulls and whose Ready was Unknown.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  configMaps,
  findCondition,
  namespaces,
  type New,
  pods,
  type Resource,
  secrets,
} from "@lifeboat/api";
import type { DiskImage } from "@lifeboat/apiserver";
import { addMs, assert, formatTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { podClaimOf, Room } from "@lifeboat/core/placement/capacity";
import { objectsOf } from "@lifeboat/plane";
import { DEFAULT_AGENT } from "@lifeboat/plane/agent";
import { memoryKey } from "@lifeboat/controllers/member-side";
import { parseObject } from "../disk/ledger.ts";
import { freshImages, type Images, type MemberTraits } from "../images.ts";
import type { MemberCluster } from "../member-cluster.ts";
import { createSimulation, endpointOf, newSecret, type SimulationPorts } from "../simulation.ts";
import { withCopies } from "./made-copies.ts";
import { copiesOf, type Copy } from "./member-copies.ts";
import { nodesOf, othersOf } from "./member-size.ts";
import type { WorldSnapshot } from "./read-snapshot.ts";
import { imageOf, type Row, rowOf } from "./rows.ts";

/** How long members run until what their copies need is there, and then until the pods of others run. */
const START_MS = 60_000;
const FILL_MS = 10_000;

/** The disks of the plane and of all its members. */
export async function imagesFromSnapshot(
  ports: SimulationPorts,
  snapshot: WorldSnapshot,
): Promise<Images> {
  const fresh = await freshImages();
  const joined = clustersIn(snapshot);
  const disks = new Map<string, DiskImage>();
  for (const each of joined)
    disks.set(each.metadata.name, await memberImage(fresh, snapshot, each));
  const begun: Images = {
    takenAt: addMs(snapshot.takenAt, -START_MS - FILL_MS),
    plane: fresh.plane,
    member: fresh.member,
    joined: disks,
    traits: new Map(joined.map((each) => [each.metadata.name, traitsOf(each)])),
  };
  const members = await started(ports, begun, joined);
  const tokens = new Map(members.map(({ name, token }) => [name, token]));
  return {
    ...begun,
    takenAt: snapshot.takenAt,
    plane: planeImage(snapshot, joined, tokens),
    joined: new Map(members.map(({ name, disk }) => [name, disk.image()])),
  };
}

function clustersIn({ tables }: WorldSnapshot): readonly Cluster[] {
  return objectsOf(tables, clusters).map((cluster) => {
    if (cluster.spec.syncMode === "Pull") return cluster;
    const { name } = cluster.metadata;
    const { secretRef = { namespace: wellKnown.CLUSTER_NAMESPACE, name } } = cluster.spec;
    return { ...cluster, spec: { ...cluster.spec, syncMode: "Push", secretRef } };
  });
}

function traitsOf(cluster: Cluster): MemberTraits {
  const nodes = nodesOf(cluster);
  const { conditions, kubernetesVersion } = cluster.status ?? {};
  return {
    ...(nodes && { nodes }),
    ...(kubernetesVersion !== undefined && { gitVersion: kubernetesVersion }),
    ...silenceOf(cluster.spec.syncMode, findCondition(conditions, "Ready")?.status),
  };
}

/** What is out of reach: of a member that pulls either its agent, or the member for its agent. */
function silenceOf(
  syncMode: string,
  ready: string | undefined,
): Pick<MemberTraits, "pulls" | "isSilent" | "hasSilentAgent"> {
  if (syncMode !== "Pull") return { isSilent: ready !== "True" };
  return {
    pulls: true,
    isSilent: ready === "False",
    hasSilentAgent: ready !== "True" && ready !== "False",
  };
}

/** What the plane held, with the simulated members in the place of the real ones. */
function planeImage(
  { tables, takenAt }: WorldSnapshot,
  joined: readonly Cluster[],
  tokens: ReadonlyMap<string, string>,
): DiskImage {
  const rows = tables.flatMap(({ resource, objects }) =>
    objects.map((object) => rowOf(resource, object)),
  );
  const pushed = joined.filter(({ spec }) => spec.syncMode !== "Pull");
  const reached = pushed.map((cluster) => {
    const spec = { ...cluster.spec, apiEndpoint: endpointOf(cluster.metadata.name) };
    return rowOf(clusters, { ...cluster, spec });
  });
  const access = pushed.map(({ metadata, spec: { secretRef } }) => {
    const { metadata: made, ...secret } = newSecret(metadata.name, tokens.get(metadata.name) ?? "");
    return rowOf(secrets, {
      ...secret,
      metadata: {
        ...secretRef,
        annotations: made.annotations,
        uid: metadata.uid,
        creationTimestamp: formatTime(takenAt),
        resourceVersion: "1",
      },
    } as AnyObject);
  });
  return imageOf([...rows, ...reached, ...access]);
}

/** A member that was just installed, with the copies that Works say. */
function memberImage(fresh: Images, snapshot: WorldSnapshot, cluster: Cluster): Promise<DiskImage> {
  const { metadata, spec } = cluster;
  const rows = fresh.member.objects.map((row) => withIdentity(row, spec.id));
  const memory = spec.syncMode === "Pull" ? memoryOf(cluster) : [];
  return withCopies(imageOf(rows), [...memory, ...copiesOf(snapshot, metadata.name)]);
}

/** What an agent keeps in its member: the Cluster that it registered. */
function memoryOf({ metadata: { uid, name, creationTimestamp } }: Cluster): readonly Copy[] {
  const key = memoryKey(name, DEFAULT_AGENT.namespace);
  const copy = (resource: Resource, manifest: AnyObject): Copy => {
    const identity = { uid: `${uid}-${resource.plural}`, creationTimestamp };
    return { resource, manifest, identity };
  };
  return [
    copy(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: key.namespace },
    } as AnyObject),
    copy(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: key,
      data: { clusterUid: uid },
    } as unknown as AnyObject),
  ];
}

/** A cluster is known by the uid of this namespace. */
const IDENTITY = rowOf(namespaces, { metadata: { name: "kube-system" } } as AnyObject).key;

function withIdentity(row: Row, uid: string | undefined): Row {
  if (row.key !== IDENTITY || uid === undefined) return row;
  const namespace = parseObject(row.bytes);
  return rowOf(namespaces, { ...namespace, metadata: { ...namespace.metadata, uid } });
}

/** The members once everything in them runs. */
async function started(
  ports: SimulationPorts,
  images: Images,
  joined: readonly Cluster[],
): Promise<readonly MemberCluster[]> {
  const members = joined.map(({ metadata }) => metadata.name);
  const simulation = await createSimulation(ports, { seed: 1, members, pull: [], images });
  await simulation.advance(START_MS);
  const filled = joined.map((cluster) => fill(simulation.member(cluster.metadata.name), cluster));
  await simulation.advance(FILL_MS);
  await Promise.all(filled);
  return [...simulation.members.values()];
}

/** Makes the pods of others. */
async function fill(member: MemberCluster, cluster: Cluster): Promise<void> {
  const { admin } = member;
  assert(admin !== undefined, "an undisturbed member serves");
  const nodes = nodesOf(cluster) ?? [];
  const { allocated = {} } = roomOf(member.disk.image()).resourceSummary();
  const others = othersOf(cluster, allocated as Readonly<Record<string, string>>);
  for (const [i, requests] of others.entries()) {
    const nodeName = nodes[i % nodes.length]?.name ?? "";
    await admin.create(pods, podOfOthers(`other-${i + 1}`, nodeName, requests));
  }
}

function roomOf(image: DiskImage): Room {
  const room = new Room();
  for (const { key, bytes } of image.objects)
    if (key.startsWith("/pods/")) room.changePod(undefined, podClaimOf(parseObject(bytes)));
  return room;
}

function podOfOthers(
  name: string,
  nodeName: string,
  requests: Readonly<Record<string, string>>,
): New<AnyObject> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "kube-system" },
    spec: { nodeName, containers: [{ name: "main", image: "other", resources: { requests } }] },
  };
}
