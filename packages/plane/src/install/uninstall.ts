/**
 * Takes a control plane out of a kube-apiserver. Workloads in members stay as they are.
 *
 * 1. Nothing is removed while a manager leads: it would take deleted objects for orders. Its rights go before everything else, so
 *    that one that starts meanwhile can do nothing.
 * 2. It is refused while Clusters are joined, unless it is forced.
 * 3. The kinds, and with them all their objects, go only when they are asked for and no Work is left: not even by force, because
 *    a Work is what the control plane knows of a copy in a member.
 * 4. The rights of agents and detectors go. The ClusterRole of an agent also records how long its certificate lives: while its Cluster
 *    is there it stays, bound to no user; otherwise a tombstone keeps what it recorded.
 */
import {
  type AnyObject,
  clusterRoleBindings,
  clusterRoles,
  clusters,
  configMaps,
  customResourceDefinitions,
  isRefused,
  keyOf,
  orNothing,
  roleBindings,
  roles,
  works,
} from "@lifeboat/api";
import { type Clock, parseTime } from "@lifeboat/base";
import { endRegistration } from "@lifeboat/controllers/context";
import { wellKnown } from "@lifeboat/core";
import { AGENT_OF } from "@lifeboat/core/clusters/rights";
import { type Client, leases } from "@lifeboat/kit";
import { MANAGER_LEASE } from "../manager.ts";
import { TUNNEL_LABEL } from "../aggregated/tunnel-record.ts";
import { CERTIFICATE_SECRET, secretResource, SYSTEM_NAMESPACE } from "../webhook/resources.ts";
import { subjectOf } from "./install.ts";
import { type InstalledObject, installedObjects, MANAGED_BY, MANAGER_NAME } from "./objects.ts";
import { InstallRefused } from "./refusal.ts";

export interface UninstallRequest {
  readonly version: string;
  /** Also the CRDs, and with them every object of our kinds. */
  readonly kinds: boolean;
  readonly force: boolean;
}

export interface UninstallPlan {
  /** What is there and goes, in this order. */
  readonly removes: readonly InstalledObject[];
  /** What is there and stays, in words. */
  readonly stays: readonly string[];
}

/** Reads what is there; throws InstallRefused where it cannot go. */
export async function planUninstall(
  clock: Clock,
  client: Client,
  request: UninstallRequest,
): Promise<UninstallPlan> {
  const joined = await namesOf(client, clusters);
  const copies = await namesOf(client, works);
  const leader = await leaderOf(clock, client);
  if (leader !== undefined && !request.force)
    throw new InstallRefused(`${leader} leads: stop every manager first, or add --force`);
  if (joined.length > 0 && !request.force)
    throw new InstallRefused(
      `clusters are joined (${joined.join(", ")}): let them leave with \`lifeboat unjoin\`, or add --force; ` +
        "their workloads go on running either way",
    );
  if (request.kinds && (joined.length > 0 || copies.length > 0))
    throw new InstallRefused(
      `the kinds stay while ${joined.length} Clusters and ${copies.length} Works are there: a Work is what is known ` +
        "of a copy in a member; leave out --kinds, or let the clusters leave first",
    );
  const registration = { server: "https://localhost", bundle: "" };
  const all = installedObjects({
    version: request.version,
    webhook: {},
    registration,
  }).toReversed();
  const goes = ({ leaves }: InstalledObject): boolean =>
    leaves === "always" || (leaves === "with the kinds" && request.kinds);
  const present = await Promise.all(
    all.map(async (one) => (await isThere(client, one)) && goes(one)),
  );
  const removes = all.filter((_one, i) => present[i]).toSorted((a, b) => rankOf(a) - rankOf(b));
  return { removes, stays: staysOf(request, joined, copies) };
}

/** Removes what the plan names; reports each as it is gone. */
export async function uninstallPlane(
  clock: Clock,
  client: Client,
  { removes }: UninstallPlan,
  tell: (subject: string) => void,
): Promise<void> {
  await removeMemberRights(clock, client);
  for (const one of removes) {
    await removeIfThere(() => client.delete(one.resource, keyOf(one.object)));
    tell(subjectOf(one));
  }
  await removeIfThere(() => client.delete(secretResource, CERTIFICATE_SECRET));
  await removeIfThere(() => client.delete(leases, MANAGER_LEASE));
  for (const label of [TUNNEL_LABEL, wellKnown.MANAGER_REPLICA]) {
    const { items } = await client.list(leases, {
      namespace: SYSTEM_NAMESPACE,
      labelSelector: `${label}=true`,
    });
    for (const lease of items) await removeIfThere(() => client.delete(leases, keyOf(lease)));
  }
}

/** Rights first, then what asks the webhook, then the rest, the kinds last. */
function rankOf({ resource }: InstalledObject): number {
  if (resource.kind.endsWith("RoleBinding")) return 0;
  if (resource.kind.endsWith("WebhookConfiguration") || resource.kind === "APIService") return 1;
  return resource.plural === customResourceDefinitions.plural ? 3 : 2;
}

function staysOf(
  { kinds }: UninstallRequest,
  joined: readonly string[],
  copies: readonly string[],
): readonly string[] {
  return [
    "every workload in every member, and every template on the control plane",
    ...(joined.length > 0
      ? [
          `${joined.length} Clusters and ${copies.length} Works, which no controller looks after`,
          "the ClusterRoles of their agents and detectors, which are bound to no user: a control plane that is installed again knows them by these",
        ]
      : []),
    ...(kinds ? [] : ["the kinds (CRDs) with their objects: --kinds removes them"]),
    "the namespaces lifeboat-system and karmada-cluster with their Secrets and settings",
  ];
}

/** The holder of the managers' Lease; undefined: it is free, or has not been renewed for twice its duration. */
export async function leaderOf(clock: Clock, client: Client): Promise<string | undefined> {
  const lease = await orNothing(client.get(leases, MANAGER_LEASE));
  const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 15 } = lease?.spec ?? {};
  const renewed = parseTime(renewTime);
  if (holderIdentity === "" || renewed === undefined) return undefined;
  return clock.now() - renewed < 2 * leaseDurationSeconds * 1000 ? holderIdentity : undefined;
}

/** The names of all objects of a kind of ours; none where the kind is not served. */
async function namesOf(
  client: Client,
  resource: typeof clusters | typeof works,
): Promise<readonly string[]> {
  const list = await orNothing(client.list(resource as typeof clusters));
  return (list?.items ?? []).map(({ metadata }) => metadata.name);
}

/** A cluster-info that another one published is not ours to take away. */
async function isThere(client: Client, { resource, object }: InstalledObject): Promise<boolean> {
  const found = await orNothing(client.get(resource, keyOf(object)));
  if (resource.kind !== configMaps.kind) return found !== undefined;
  return found?.metadata.labels?.[MANAGED_BY] === MANAGER_NAME;
}

/** The rights of agents and detectors go with the webhook that kept them within theirs. */
async function removeMemberRights(clock: Clock, client: Client): Promise<void> {
  const joined = new Set(await namesOf(client, clusters));
  for (const label of [AGENT_OF, wellKnown.DETECTOR_OF]) {
    for (const resource of [clusterRoleBindings, roleBindings, roles]) {
      const { items } = await client.list<AnyObject>(resource, { labelSelector: label });
      for (const one of items) await removeIfThere(() => client.delete(resource, keyOf(one)));
    }
    const { items } = await client.list<AnyObject>(clusterRoles, { labelSelector: label });
    for (const role of items) {
      const cluster = role.metadata.labels?.[label] ?? "";
      if (joined.has(cluster)) continue;
      if (label === AGENT_OF) await endRegistration(client, cluster, role, clock.now());
      else await removeIfThere(() => client.delete(clusterRoles, keyOf(role)));
    }
  }
}

async function removeIfThere(remove: () => Promise<unknown>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}
