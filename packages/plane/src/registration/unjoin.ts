/**
 * Unjoining a member, Push or Pull: it leaves the control plane in order (controllers/clusters/lifecycle), and what joining made in it goes.
 *
 *   check the member's identity → delete the Cluster → wait until it is gone → Secrets here → what is in the member
 *
 * 1. The member is cleaned last: until its Works are gone, the control plane needs its account there.
 * 2. It can be repeated after dying at any step; where the Cluster is gone already, or was never made, the rest is still taken away:
 *    of a registration that never became a Cluster that is the identity and the rights of its agent.
 * 3. By force, what the control plane does not let go within the time to wait is let go by hand.
 */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  findCondition,
  isRefused,
  keyOf,
  type KubeList,
  type KubeObject,
  leases,
  namespaces,
  type ObjectKey,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  secrets,
  works,
} from "@lifeboat/api";
import { type Clock, formatDuration, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { LEAVING } from "@lifeboat/core/clusters";
import { readFederated } from "@lifeboat/core/federated";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { agentClusterRole, bindingClusters, endRegistration } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";
import { ensureGone, findObject } from "./ensure.ts";
import { memberId } from "./join.ts";
import { cleanMember } from "./member-side.ts";
import { RegistrationRefused } from "./refusal.ts";
import { removeAgent } from "./agent-in-member.ts";
import { impersonatorSecretName } from "./resources.ts";

/** What is still on a cluster. */
export interface ClusterLoad {
  readonly bindings: number;
  /** The first few of them, as `namespace/name`. */
  readonly examples: readonly string[];
  readonly works: number;
  /** Federated StatefulSets with a share here, which only a person gives up (D15). */
  readonly shares: readonly FederatedShare[];
}

export interface FederatedShare {
  readonly key: ObjectKey;
  /** The name of the StatefulSet. */
  readonly set: string;
  readonly replicas: number;
}

export interface UnjoinRequest {
  readonly plane: Client;
  readonly name: string;
  /** How it joined; Push when absent. */
  readonly mode?: "Push" | "Pull";
  /** Cleans the member too. */
  readonly member?: Client;
  /** Where joining put its things; `karmada-cluster` when absent. */
  readonly namespace?: string;
  readonly force?: boolean;
  /** How long the cluster may take to leave; 60 s when absent. */
  readonly waitMs?: number;
  /** Checks everything that can be checked, and writes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface UnjoinOutcome {
  /** What was left in the member, and why. */
  readonly leftInMember: readonly string[];
}

const WAIT_MS = 60_000;
const POLL_MS = 500;
const PAGE_SIZE = 500;
const EXAMPLES = 3;

/** Counts what is still on a cluster. */
export async function loadOf(plane: Client, cluster: string): Promise<ClusterLoad> {
  const names: string[] = [];
  const shares: FederatedShare[] = [];
  for (const resource of [resourceBindings, clusterResourceBindings] as const)
    for await (const binding of pages<ResourceBinding>(plane, resource)) {
      const replicas = readFederated(binding)?.shares.get(cluster);
      if (replicas !== undefined)
        shares.push({ key: keyOf(binding), set: binding.spec.resource.name, replicas });
      if (bindingClusters(binding).includes(cluster)) {
        const { namespace, name } = keyOf(binding);
        names.push(namespace === "" ? name : `${namespace}/${name}`);
      }
    }
  let count = 0;
  for await (const _ of pages(plane, works, executionNamespace(cluster))) count += 1;
  return { bindings: names.length, examples: names.slice(0, EXAMPLES), works: count, shares };
}

/** Unjoins the cluster, or throws RegistrationRefused. */
export async function unjoinCluster(
  ports: { readonly clock: Clock },
  request: UnjoinRequest,
): Promise<UnjoinOutcome> {
  const { plane, name, member } = request;
  const namespace = request.namespace ?? wellKnown.CLUSTER_NAMESPACE;
  const cluster = await findObject(plane, clusters, keyOfCluster(name));
  const role = request.mode === "Pull" ? await agentClusterRole(plane, name) : undefined;
  await check(request, cluster, role !== undefined);
  if (request.dryRun === true) return { leftInMember: [] };
  if (cluster !== undefined) await leave(ports, request, cluster);
  else if (role !== undefined) await endRegistration(plane, name, role, ports.clock.now());
  await removeSecrets(plane, cluster?.spec.secretRef?.namespace ?? namespace, name);
  if (request.mode === "Pull")
    await ensureGone(plane, leases, { namespace: wellKnown.CLUSTER_NAMESPACE, name });
  if (member === undefined) return { leftInMember: [] };
  return {
    leftInMember:
      request.mode === "Pull"
        ? await removeAgent(member, name)
        : await cleanMember({ member, cluster: name, namespace }),
  };
}

async function check(
  request: UnjoinRequest,
  cluster: Cluster | undefined,
  isRegistered: boolean,
): Promise<void> {
  const { name, member } = request;
  if (cluster === undefined) {
    if (member !== undefined || isRegistered) return;
    throw new RegistrationRefused(
      `there is no cluster ${name}; if something of it is left in the member, name it with --cluster-kubeconfig`,
    );
  }
  if (cluster.spec.syncMode !== (request.mode ?? "Push"))
    throw new RegistrationRefused(
      cluster.spec.syncMode === "Pull"
        ? `the cluster ${name} registered by itself (Pull): use lifeboat unregister ${name}`
        : `the cluster ${name} was joined (Push): use lifeboat unjoin ${name}`,
    );
  if (member === undefined || cluster.spec.id === undefined) return;
  if ((await memberId(member)) !== cluster.spec.id)
    throw new RegistrationRefused(
      `--cluster-kubeconfig leads to another cluster than the one joined as ${name}: nothing was changed`,
    );
}

async function leave(
  ports: { readonly clock: Clock },
  request: UnjoinRequest,
  cluster: Cluster,
): Promise<void> {
  const { plane, name, force = false, waitMs = WAIT_MS } = request;
  const { uid } = cluster.metadata;
  const key = keyOfCluster(name);
  if (force) {
    const body = { metadata: { uid, annotations: { [wellKnown.FORCE_REMOVAL]: "true" } } };
    await plane.patch(clusters, key, { type: "merge", body }).catch(unlessGone);
  }
  if (cluster.metadata.deletionTimestamp === undefined)
    await ensureGone(plane, clusters, key, { preconditions: { uid } });
  if (await hasLeft(ports, request, uid, waitMs)) return;
  if (!force) throw new RegistrationRefused(await stillThere(plane, name, waitMs));
  await letGo(plane, name);
  if (!(await hasLeft(ports, request, uid, waitMs)))
    throw new RegistrationRefused(await stillThere(plane, name, waitMs));
}

/** Waits until the Cluster is gone; false when the time is up. */
export async function hasLeft(
  { clock }: { readonly clock: Clock },
  { plane, name, signal }: Pick<UnjoinRequest, "plane" | "name" | "signal">,
  uid: string,
  waitMs: number,
): Promise<boolean> {
  const deadline = clock.monotonic() + waitMs;
  for (;;) {
    const found = await findObject(plane, clusters, keyOfCluster(name));
    if (found === undefined || found.metadata.uid !== uid) return true;
    if (clock.monotonic() >= deadline) return false;
    if (!(await sleep(clock, POLL_MS, signal)))
      throw new RegistrationRefused(
        `interrupted: the cluster ${name} goes on leaving; run unjoin again to wait for it`,
      );
  }
}

async function stillThere(plane: Client, name: string, waitMs: number): Promise<string> {
  const found = await findObject(plane, clusters, keyOfCluster(name));
  const why = findCondition(found?.status?.conditions, LEAVING)?.message ?? "";
  const waited = `the cluster ${name} is still leaving after ${formatDuration(waitMs)}`;
  const reason = why === "" ? " (is the control plane running?)" : `: ${why}`;
  return `${waited}${reason}; run unjoin again to go on waiting`;
}

/** Takes finalizers off by hand: the control plane did not do it in time. */
async function letGo(plane: Client, name: string): Promise<void> {
  const namespace = executionNamespace(name);
  await ensureGone(plane, namespaces, { namespace: "", name: namespace });
  for await (const work of pages(plane, works, namespace)) {
    await dropFinalizer(plane, works, keyOf(work), wellKnown.EXECUTION_FINALIZER);
    await ensureGone(plane, works, keyOf(work));
  }
  await dropFinalizer(plane, clusters, keyOfCluster(name), wellKnown.CLUSTER_FINALIZER);
}

async function dropFinalizer<T extends KubeObject>(
  plane: Client,
  resource: Resource<T>,
  key: ObjectKey,
  finalizer: string,
): Promise<void> {
  for (;;) {
    const found = await findObject(plane, resource, key);
    const { resourceVersion, finalizers = [] } = found?.metadata ?? { resourceVersion: "" };
    if (!finalizers.includes(finalizer)) return;
    const left = finalizers.filter((one) => one !== finalizer);
    const body = { metadata: { resourceVersion, finalizers: left } };
    try {
      await plane.patch(resource, key, { type: "merge", body });
      return;
    } catch (error) {
      // Another writer changed it in between: read again.
      if (!isRefused(error, "Conflict")) unlessGone(error);
    }
  }
}

function unlessGone(error: unknown): undefined {
  if (isRefused(error, "NotFound")) return undefined;
  throw error;
}

/** The Secrets belong to the Cluster and go with it; those of a join that died before that are taken away here. */
async function removeSecrets(plane: Client, namespace: string, cluster: string): Promise<void> {
  for (const name of [cluster, impersonatorSecretName(cluster)]) {
    const found = await findObject(plane, secrets, { namespace, name });
    if (found?.metadata.labels?.[wellKnown.SYSTEM] === "true")
      await ensureGone(
        plane,
        secrets,
        { namespace, name },
        { preconditions: { uid: found.metadata.uid } },
      );
  }
}

async function* pages<T extends KubeObject>(
  plane: Client,
  resource: Resource<T>,
  namespace = "",
): AsyncGenerator<T> {
  let token = "";
  do {
    const page: KubeList<T> = await plane.list(resource, {
      namespace,
      limit: PAGE_SIZE,
      continue: token,
    });
    yield* page.items;
    token = page.metadata.continue ?? "";
  } while (token !== "");
}

function keyOfCluster(name: string): ObjectKey {
  return { namespace: "", name };
}
