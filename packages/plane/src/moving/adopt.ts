/**
 * Adopts a control plane of the same kinds that others ran on this API server (Karmada): its policies, bindings, Works and Clusters
 * stay as they are, and our controllers go on from them.
 *
 * 1. Refused while controllers of the former plane hold a Lease that is fresh: two that hold the same Works undo each other.
 * 2. Its aggregated API of Clusters stays in place; the other kinds become ours, with everything that is stored.
 * 3. Its admission webhooks go: nothing answers there any more, and every write would wait for them. What they were is kept in a
 *    ConfigMap.
 * 4. Managers begin when everything is done (mark.ts), with the hold of a restore: nothing is deleted in members until a person agrees.
 * 5. Repeating it completes it, and changes nothing afterwards.
 */
import {
  type AnyObject,
  configMaps,
  keyOf,
  namespaces,
  orNothing,
  type Resource,
} from "@lifeboat/api";
import { type Clock, formatTime, parseTime } from "@lifeboat/base";
import { createUnlessThere } from "@lifeboat/controllers/context";
import { holdDeletionsAs } from "@lifeboat/controllers/operating";
import { wellKnown } from "@lifeboat/core";
import { movedInCondition } from "@lifeboat/core/propagation/brake";
import { type Client, leases } from "@lifeboat/kit";
import { installPlane, type InstallRequest, type InstallStep } from "../install/install.ts";
import { leaderOf } from "../install/uninstall.ts";
import { mutatingConfigurations, validatingConfigurations } from "../webhook/resources.ts";
import type { Table } from "./inventory.ts";
import { isOwnKind } from "./inventory.ts";
import { readMark, writeMark } from "./mark.ts";
import { isRead, memberWrites, type MemberWrites } from "./member-writes.ts";
import { type MovingPorts, whileLeading } from "./migrate.ts";
import { readTable, servedTables } from "./read-tables.ts";
import { MovingRefused } from "./refusal.ts";
import { describe } from "./webhook-pause.ts";

export interface AdoptionPlan extends MemberWrites {
  /** How many there are of each kind that is adopted. */
  readonly counts: ReadonlyMap<string, number>;
  /** Webhook configurations that go. */
  readonly webhooks: readonly { readonly resource: Resource; readonly object: AnyObject }[];
  /** Clusters with taints that the former plane put on by itself, and that no policy of ours takes off. */
  readonly tainted: readonly string[];
  readonly isDone: boolean;
}

const SOURCE = "adoption";
/** Where the former plane's controllers hold their Leases by default; there every name counts. */
const FORMER_NAMESPACE = "karmada-system";
/** Elsewhere they are known by the names of their components (`--leader-elect-resource-namespace`). */
const FORMER_LEASE = "karmada-";
/** Agents of Pull clusters go on: they follow whatever control plane writes their Works. */
const AGENT_LEASE = "karmada-agent-";
/** Works that are only kept, not applied. */
const INSTRUCTION = "propagation.karmada.io/instruction";

/** Reads everything and writes nothing; throws MovingRefused with a sentence. */
export async function planAdoption(clock: Clock, client: Client): Promise<AdoptionPlan> {
  const served = await servedTables(client);
  if (!served.some(({ group, kind }) => group === "work.karmada.io" && kind === "Work"))
    throw new MovingRefused("there is no control plane to adopt: this API server has no Works");
  await refuseLed(clock, client);
  const mark = await readMark(client);
  if (mark !== undefined && mark.source !== SOURCE)
    throw new MovingRefused(
      "a control plane was moved to this API server: there is nothing to adopt",
    );
  const own = await tablesOf(client, served.filter(isOwnKind));
  refuseUnfit(own);
  const kinds = new Set(
    own
      .filter(({ resource }) => resource.kind.endsWith("ResourceBinding"))
      .flatMap(({ objects }) =>
        objects.map((one) => (one["spec"] as { resource: { kind: string } }).resource.kind),
      ),
  );
  const others = served.filter((one) => !isOwnKind(one) && isRead(one, kinds));
  const tables = [...own, ...(await tablesOf(client, others))];
  return {
    ...memberWrites(tables),
    counts: new Map(
      own
        .filter(({ objects }) => objects.length > 0)
        .map(({ resource, objects }) => [resource.kind, objects.length]),
    ),
    webhooks: await formerWebhooks(client),
    tainted: own
      .filter(({ resource }) => resource.kind === "Cluster")
      .flatMap(({ objects }) => objects.filter(isTaintedByFormer).map((one) => one.metadata.name)),
    isDone: mark?.phase === "Done",
  };
}

/** Carries it out; reports each step of the installation. */
export async function adopt(
  ports: MovingPorts,
  client: Client,
  plan: AdoptionPlan,
  request: Pick<InstallRequest, "version" | "webhook"> & { readonly identity: string },
  tell: (step: InstallStep) => void,
): Promise<void> {
  if (plan.isDone) return;
  const { clock } = ports;
  const since = (await readMark(client))?.since ?? formatTime(clock.now());
  const metadata = { name: wellKnown.OWN_NAMESPACE };
  await createUnlessThere(client, namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
  await writeMark(client, { phase: "Moving", source: SOURCE, since });
  await keepWebhooks(client, plan.webhooks);
  for (const { resource, object } of plan.webhooks)
    await orNothing(
      client.delete(resource, keyOf(object), { preconditions: { uid: object.metadata.uid } }),
    );
  const { version, webhook } = request;
  await installPlane(clock, client, { version, webhook, dryRun: false, force: true }, tell);
  await whileLeading(ports, client, request.identity, async (leading) => {
    await refuseFresh(clock, leading);
    await holdDeletionsAs(ports, leading, movedInCondition(`was adopted at ${since}`));
    await writeMark(leading, { phase: "Done", source: SOURCE, since });
  });
}

async function refuseLed(clock: Clock, client: Client): Promise<void> {
  const leader = await leaderOf(clock, client);
  if (leader !== undefined) throw new MovingRefused(`${leader} leads: stop every manager first`);
  await refuseFresh(clock, client);
}

/** Throws while a controller of the former plane may act. */
async function refuseFresh(clock: Clock, client: Client): Promise<void> {
  const { items } = await client.list(leases);
  const fresh = items.filter(({ metadata, spec }) => {
    const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 15 } = spec ?? {};
    const renewed = parseTime(renewTime);
    if (!isFormer(metadata, holderIdentity) || holderIdentity === "" || renewed === undefined)
      return false;
    return clock.now() - renewed < 2 * leaseDurationSeconds * 1000;
  });
  if (fresh.length > 0)
    throw new MovingRefused(
      `${fresh.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(", ")} still lead: scale the controllers of the former control plane to ` +
        "zero, and wait until their Leases lapse",
    );
}

/** Whether a Lease is of a controller of the former plane. The sign of life of a cluster is its own holder. */
function isFormer({ namespace, name }: AnyObject["metadata"], holder: string): boolean {
  if (name.startsWith(AGENT_LEASE)) return false;
  if (namespace === FORMER_NAMESPACE) return true;
  return (
    name.startsWith(FORMER_LEASE) && !(namespace === wellKnown.CLUSTER_NAMESPACE && holder === name)
  );
}

function refuseUnfit(tables: readonly Table[]): void {
  const all = tables.flatMap(({ objects }) => objects);
  const leaving = all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (leaving.length > 0)
    throw new MovingRefused(
      `${leaving.length} objects are being deleted (${named(leaving)}): let the former control plane finish first`,
    );
  const kept = all.filter(
    ({ kind, metadata }) => kind === "Work" && metadata.labels?.[INSTRUCTION] === "suppressed",
  );
  if (kept.length > 0)
    throw new MovingRefused(
      `${kept.length} Works are not meant for members (${named(kept)}): they belong to a MultiClusterService or a ServiceExport, ` +
        "which are not taken over; remove those first",
    );
}

const NAMED = 5;

function named(objects: readonly AnyObject[]): string {
  const names = objects.slice(0, NAMED).map(describe);
  return names.join(", ") + (objects.length > NAMED ? ", …" : "");
}

async function tablesOf(client: Client, resources: readonly Resource[]): Promise<readonly Table[]> {
  const tables: Table[] = [];
  for (const resource of resources)
    tables.push({ resource, objects: await readTable(client, resource) });
  return tables;
}

/** A configuration is the former plane's when every webhook in it is named after its group. */
async function formerWebhooks(client: Client): Promise<AdoptionPlan["webhooks"]> {
  const found: { resource: Resource; object: AnyObject }[] = [];
  for (const one of [mutatingConfigurations, validatingConfigurations]) {
    const resource = one as unknown as Resource;
    for (const object of await readTable(client, resource)) {
      const webhooks = (object["webhooks"] ?? []) as readonly { readonly name: string }[];
      if (webhooks.length > 0 && webhooks.every(({ name }) => name.endsWith(".karmada.io")))
        found.push({ resource, object });
    }
  }
  return found;
}

const KEPT = { namespace: wellKnown.OWN_NAMESPACE, name: "adopted-webhooks" };

/** So that a person can put them back. */
async function keepWebhooks(client: Client, webhooks: AdoptionPlan["webhooks"]): Promise<void> {
  if (webhooks.length === 0) return;
  const data = Object.fromEntries(
    webhooks.map(({ object }) => {
      const { name, labels, annotations } = object.metadata;
      const bare = { ...object, metadata: { name, labels, annotations } };
      return [`${object.kind}.${name}.json`, JSON.stringify(bare)];
    }),
  );
  await createUnlessThere(client, configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: KEPT,
    data,
  });
}

const FORMER_TAINTS = ["cluster.karmada.io/not-ready", "cluster.karmada.io/unreachable"];

function isTaintedByFormer(cluster: AnyObject): boolean {
  const { taints = [] } = cluster["spec"] as {
    readonly taints?: readonly { readonly key: string }[];
  };
  return taints.some(({ key }) => FORMER_TAINTS.includes(key));
}
