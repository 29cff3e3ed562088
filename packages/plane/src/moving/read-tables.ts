/** Everything that an API server holds, table by table. */
import { type AnyObject, apiVersionOf, type KubeObject, type Resource } from "@lifeboat/api";
import { discover, onePerTable } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";
import type { Table } from "./inventory.ts";
import { MovingRefused } from "./refusal.ts";

/** Rejects with MovingRefused when a group of the API cannot be read: what is not seen would be left behind. */
export async function readTables(client: Client): Promise<readonly Table[]> {
  const tables: Table[] = [];
  for (const resource of await servedTables(client))
    tables.push({ resource, objects: await readTable(client, resource) });
  return tables;
}

/** The kinds that can be listed. */
export async function servedTables(client: Client): Promise<readonly Resource[]> {
  const { resources, failed } = await discover(client);
  if (failed.length > 0)
    throw new MovingRefused(`these parts of the API cannot be read: ${failed.join(", ")}`);
  return onePerTable(resources)
    .filter(({ verbs }) => verbs.includes("get") && verbs.includes("create"))
    .map(({ group, version, plural, kind, namespaced }) => ({
      group,
      version,
      plural,
      kind,
      namespaced,
    }));
}

/** What the tables hold of one kind, whatever the version. */
export function objectsOf<T extends KubeObject>(
  tables: readonly Table[],
  { group, plural }: Resource<T>,
): readonly T[] {
  const table = tables.find(
    ({ resource }) => resource.group === group && resource.plural === plural,
  );
  return (table?.objects ?? []) as readonly KubeObject[] as readonly T[];
}

const PAGE = 500;

export async function readTable(client: Client, resource: Resource): Promise<readonly AnyObject[]> {
  const objects: AnyObject[] = [];
  const { kind } = resource;
  const apiVersion = apiVersionOf(resource);
  for (let next: string | undefined; ;) {
    const page = await client.list(resource, {
      limit: PAGE,
      ...(next !== undefined && { continue: next }),
    });
    objects.push(...page.items.map((object) => ({ ...object, kind, apiVersion })));
    next = page.metadata.continue;
    if (next === undefined || next === "") return objects;
  }
}
