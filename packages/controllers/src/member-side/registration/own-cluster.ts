/**
 * The Cluster object of an agent's member: made or taken over at the start, and watched for its end.
 *
 * 1. What is done about it is decided by `decideOwnCluster` in core.
 * 2. The member remembers the uid of its Cluster in a ConfigMap: an agent that starts after its Cluster was deleted does not
 *    make it again. Registering removes the ConfigMap.
 * 3. An agent whose cluster has left is refused, and stops.
 * 4. While the plane or the member cannot be reached, it is tried again: hours without the plane are no reason to stop.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  isRefused,
  type ObjectKey,
  orNothing,
  Refused,
  type Resource,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import { decideOwnCluster, type MemberIdentity } from "@lifeboat/core/clusters";
import { Backoff, type Client, type KitPorts, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { isClusterLeft } from "./left-cluster.ts";

/** Why an agent stops whose Cluster is gone. */
export function clusterGone(name: string): string {
  return `the Cluster ${name} was deleted. What runs in the member stays as it is; to register again: lifeboat register`;
}

const NAMESPACES: Resource = coreResource("namespaces", "Namespace", false);
const CONFIG_MAPS: Resource = coreResource("configmaps", "ConfigMap", true);
const BACKOFF = { baseMs: 500, capMs: 10_000 };

export interface OwnClusterParts {
  readonly plane: Client;
  readonly member: Client;
  /** Without the id, which is read from the member. */
  readonly identity: Omit<MemberIdentity, "id">;
  /** Where the member remembers its Cluster. */
  readonly namespace: string;
}

export type Registered =
  | { readonly kind: "registered"; readonly cluster: Cluster }
  | { readonly kind: "refused"; readonly message: string };

/** Where an agent remembers the uid of its Cluster, in its member; to register again is to delete it. */
export function memoryKey(cluster: string, namespace: string): ObjectKey {
  return { namespace, name: `karmada-agent-${cluster}` };
}

/** Makes the Cluster, or takes it over; tries until that is decided. undefined: the signal aborted. */
export async function registerCluster(
  ports: KitPorts,
  parts: OwnClusterParts,
  signal: AbortSignal,
): Promise<Registered | undefined> {
  const { clock, log, random } = ports;
  const backoff = new Backoff(random.fork("register"), BACKOFF);
  let told = "";
  while (!signal.aborted) {
    try {
      return await registerOnce(parts, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (isClusterLeft(error))
        return { kind: "refused", message: clusterGone(parts.identity.cluster) };
      if (!isPassing(error)) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== told) log.warn("the Cluster cannot be registered, trying again", { problem });
      told = problem;
    }
    await sleep(clock, backoff.next(), signal);
  }
  return undefined;
}

async function registerOnce(parts: OwnClusterParts, signal: AbortSignal): Promise<Registered> {
  const { plane, member, namespace } = parts;
  const { cluster: name } = parts.identity;
  const identity = { ...parts.identity, id: await memberId(member, signal) };
  const memory = memoryKey(name, namespace);
  const remembered = await orNothing(member.get(CONFIG_MAPS, memory, { signal }));
  const former = uidIn(remembered);
  const found = await orNothing(plane.get(clusters, { namespace: "", name }, { signal }));
  const plan = decideOwnCluster({ identity, found, former });
  if (plan.kind === "stop") return { kind: "refused", message: plan.message };
  const cluster =
    plan.kind === "create"
      ? await plane.create(clusters, plan.cluster, { signal })
      : plan.kind === "update"
        ? await plane.update(clusters, plan.cluster, { signal })
        : found;
  if (cluster === undefined) throw new NotSent("the Cluster is gone again");
  if (former !== cluster.metadata.uid)
    await remember(member, memory, remembered, cluster.metadata.uid, signal);
  return { kind: "registered", cluster };
}

/** What a member is known by for its whole life. */
async function memberId(member: Client, signal: AbortSignal): Promise<string> {
  const key = { namespace: "", name: "kube-system" };
  return (await member.get(NAMESPACES, key, { signal })).metadata.uid;
}

async function remember(
  member: Client,
  key: ObjectKey,
  found: AnyObject | undefined,
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  const data = { clusterUid: uid };
  if (found !== undefined) {
    await member.update(CONFIG_MAPS, { ...found, data }, { signal });
    return;
  }
  await ensureNamespace(member, key.namespace, signal);
  await member.create(
    CONFIG_MAPS,
    { apiVersion: "v1", kind: "ConfigMap", metadata: key, data },
    { signal },
  );
}

/** Makes a namespace of the member if it is not there. */
export async function ensureNamespace(
  member: Client,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  if ((await orNothing(member.get(NAMESPACES, { namespace: "", name }, { signal }))) !== undefined)
    return;
  try {
    await member.create(
      NAMESPACES,
      { apiVersion: "v1", kind: "Namespace", metadata: { name } },
      { signal },
    );
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
  }
}

function uidIn(memory: AnyObject | undefined): string | undefined {
  const data = memory?.["data"] as { readonly clusterUid?: unknown } | undefined;
  return typeof data?.clusterUid === "string" && data.clusterUid !== ""
    ? data.clusterUid
    : undefined;
}

/** Whether time, or a person's change elsewhere, may mend it. */
function isPassing(error: unknown): boolean {
  return error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
}

function coreResource(plural: string, kind: string, namespaced: boolean): Resource {
  return { group: "", version: "v1", plural, kind, namespaced };
}
