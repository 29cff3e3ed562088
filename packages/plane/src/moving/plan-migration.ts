/**
 * What moving a control plane to another API server would do, and whether it may. It reads only.
 *
 * Refused is, before the first write: a source of which objects are being deleted, because a deletion that was decided would be
 * forgotten; a target without the kinds, or that a manager leads; a target that holds another control plane, or other objects under
 * the names of those that move.
 */
import {
  type AnyObject,
  equalJson,
  formatKey,
  keyOf,
  qualifiedName,
  type Resource,
} from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { digestOf } from "@lifeboat/core/propagation/matching";
import type { Client } from "@lifeboat/kit";
import { leaderOf } from "../install/uninstall.ts";
import { carriedObject } from "./carried.ts";
import {
  type Inventory,
  isOwnKind,
  mayBeThere,
  type MovedObject,
  takeInventory,
} from "./inventory.ts";
import { type MigrationMark, readMark } from "./mark.ts";
import { readTable, readTables, servedTables } from "./read-tables.ts";
import { MovingRefused } from "./refusal.ts";
import { describe } from "./webhook-pause.ts";

export interface MigrationPlan extends Inventory {
  /** A digest of everything that moves. */
  readonly source: string;
  /** Of an earlier run. */
  readonly mark: MigrationMark | undefined;
  /** What is on the target, by `tableKey`. */
  readonly found: ReadonlyMap<string, AnyObject>;
  /** Default policies of the target that the source does not have any more (D2). */
  readonly removes: readonly MovedObject[];
  /** Clusters whose agents have to be registered with the target. */
  readonly pull: readonly string[];
}

/** Throws MovingRefused with a sentence. */
export async function planMigration(
  clock: Clock,
  source: Client,
  target: Client,
): Promise<MigrationPlan> {
  const inventory = takeInventory(await readTables(source));
  const { moved } = inventory;
  refuseLeaving(moved);
  await refuseUnserved(moved, target);
  const leader = await leaderOf(clock, target);
  if (leader !== undefined)
    throw new MovingRefused(`${leader} leads on the target: stop every manager first`);
  const digest = digestOf({
    moved: moved
      .map(({ object }) => `${object.metadata.uid} ${object.metadata.resourceVersion}`)
      .sort(),
  });
  const mark = await readMark(target);
  if (mark !== undefined && mark.source !== digest)
    throw new MovingRefused(
      `another state was moved to the target, or is being moved (since ${mark.since}): use that source again, or an empty API server`,
    );
  const { found, removes } = await lookAt(target, moved, mark === undefined);
  const pull = moved
    .filter(({ object }) => object.kind === "Cluster" && syncModeOf(object) === "Pull")
    .map(({ object }) => object.metadata.name);
  return { ...inventory, source: digest, mark, found, removes, pull };
}

/** Where an object is, whatever the version of its API. */
export function tableKey(resource: Resource, object: Parameters<typeof keyOf>[0]): string {
  return `${qualifiedName(resource)} ${formatKey(keyOf(object))}`;
}

function syncModeOf(cluster: AnyObject): unknown {
  return (cluster["spec"] as { readonly syncMode?: string } | undefined)?.syncMode;
}

function refuseLeaving(moved: readonly MovedObject[]): void {
  const leaving = moved.filter(({ object }) => object.metadata.deletionTimestamp !== undefined);
  if (leaving.length > 0)
    throw new MovingRefused(
      `${leaving.length} objects are being deleted (${named(leaving)}): start the control plane again, wait until they are gone, ` +
        "stop it and try again",
    );
}

async function refuseUnserved(moved: readonly MovedObject[], target: Client): Promise<void> {
  const served = new Set((await servedTables(target)).map(qualifiedName));
  const brought = new Set(
    moved
      .filter(({ resource }) => resource.kind === "CustomResourceDefinition")
      .map(({ object }) => object.metadata.name),
  );
  const missing = moved
    .map(({ resource }) => qualifiedName(resource))
    .filter((table) => !served.has(table) && !brought.has(table));
  if (!served.has("evacuations.lifeboat.dev"))
    throw new MovingRefused(
      "the target does not have the kinds of a control plane: run `lifeboat install` there first",
    );
  if (missing.length > 0)
    throw new MovingRefused(`the target does not serve ${[...new Set(missing)].join(", ")}`);
}

async function lookAt(
  target: Client,
  moved: readonly MovedObject[],
  isFirst: boolean,
): Promise<Pick<MigrationPlan, "found" | "removes">> {
  const wanted = new Map(moved.map((one) => [tableKey(one.resource, one.object), one]));
  const tables = new Map(moved.map(({ resource }) => [qualifiedName(resource), resource]));
  const served = await servedTables(target);
  for (const resource of served.filter(isOwnKind)) tables.set(qualifiedName(resource), resource);
  const found = new Map<string, AnyObject>();
  const others: MovedObject[] = [];
  const removes: MovedObject[] = [];
  const isServed = new Set(served.map(qualifiedName));
  for (const [table, resource] of tables) {
    if (!isServed.has(table)) continue;
    for (const object of await readTable(target, resource)) {
      const key = tableKey(resource, object);
      const one = wanted.get(key);
      if (one !== undefined) {
        found.set(key, object);
        if (isFirst && mayBeThere(one) === undefined && !hasSameContent(one, object))
          others.push({ resource, object });
      } else if (isOwnKind(resource)) {
        const may = mayBeThere({ resource, object });
        if (may === undefined) others.push({ resource, object });
        else if (resource.kind === "ClusterTaintPolicy") removes.push({ resource, object });
      }
    }
  }
  if (others.length > 0)
    throw new MovingRefused(
      `the target holds ${others.length} other objects (${named(others)}): move to an API server without a control plane of its own`,
    );
  return { found, removes };
}

function hasSameContent(moved: MovedObject, found: AnyObject): boolean {
  const { metadata: _meta, status: _status, ...wanted } = carriedObject(moved, new Map());
  const { metadata: _metadata, status: _found, ...present } = found;
  return equalJson(wanted, present);
}

const NAMED = 5;

function named(objects: readonly MovedObject[]): string {
  const names = objects.slice(0, NAMED).map(({ object }) => describe(object));
  return names.join(", ") + (objects.length > NAMED ? ", …" : "");
}
