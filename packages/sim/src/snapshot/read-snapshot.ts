/**
 * What a control plane holds, read over its API: enough to go on from there in a simulation.
 *
 * 1. Everything is of one moment: all lists are of the same version.
 * 2. No credentials: of Secrets, only those are read that a binding propagates. Events and Leases are left out, too.
 */
import {
  type AnyObject,
  apiVersionOf,
  clusterResourceBindings,
  type Resource,
  resourceBindings,
  secrets,
} from "@lifeboat/api";
import { type Instant } from "@lifeboat/base";
import { discover, onePerTable } from "@lifeboat/controllers/context";
import { type Client, type ListOptions, NotSent } from "@lifeboat/kit";
import { objectsOf } from "@lifeboat/plane";

export interface WorldSnapshot {
  readonly takenAt: Instant;
  /** The resourceVersion of all lists. */
  readonly version: string;
  readonly tables: readonly SnapshotTable[];
}

export interface SnapshotTable {
  readonly resource: Resource;
  readonly objects: readonly AnyObject[];
}

const LEFT_OUT: ReadonlySet<string> = new Set(["Event", "Lease", "Secret"]);

/** Reads a control plane; `takenAt`: what its clock says. `only`: these tables; absent: everything. */
export async function readSnapshot(
  plane: Client,
  takenAt: Instant,
  only?: readonly Pick<Resource, "group" | "plural">[],
): Promise<WorldSnapshot> {
  const { resources, failed } = await discover(plane);
  if (failed.length > 0)
    throw new NotSent(
      `a part of the API cannot be read, and a copy must be whole: ${failed.join(", ")}`,
    );
  const first = await plane.list(resourceBindings);
  const version = first.metadata.resourceVersion ?? "";
  const at: ListOptions = { resourceVersion: version, resourceVersionMatch: "Exact" };
  const tables: SnapshotTable[] = [];
  const isWanted = ({ group, plural, kind }: Resource): boolean =>
    only === undefined
      ? !LEFT_OUT.has(kind)
      : only.some((one) => one.group === group && one.plural === plural);
  for (const resource of onePerTable(resources).filter(isWanted))
    tables.push(await readTable(plane, resource, at));
  if (only !== undefined) return { takenAt, version, tables };
  return { takenAt, version, tables: [...tables, await readSecrets(plane, tables, at)] };
}

async function readTable(
  plane: Client,
  resource: Resource,
  options: ListOptions,
): Promise<SnapshotTable> {
  const { group, version, plural, kind, namespaced } = resource;
  const { items } = await plane.list(resource, options);
  const objects = items.map((object) => ({ ...object, kind, apiVersion: apiVersionOf(resource) }));
  return { resource: { group, version, plural, kind, namespaced }, objects };
}

/** The Secrets that are propagated. */
async function readSecrets(
  plane: Client,
  tables: readonly SnapshotTable[],
  at: ListOptions,
): Promise<SnapshotTable> {
  const objects: AnyObject[] = [];
  for (const { namespace = "", name } of propagatedSecrets(tables)) {
    const selected = { ...at, namespace, fieldSelector: `metadata.name=${name}` };
    objects.push(...(await readTable(plane, secrets, selected)).objects);
  }
  return { resource: secrets, objects };
}

function propagatedSecrets(
  tables: readonly SnapshotTable[],
): readonly { readonly namespace?: string; readonly name: string }[] {
  const bindings = [
    ...objectsOf(tables, resourceBindings),
    ...objectsOf(tables, clusterResourceBindings),
  ];
  return bindings
    .map(({ spec }) => spec.resource)
    .filter(({ apiVersion, kind }) => apiVersion === "v1" && kind === "Secret");
}
