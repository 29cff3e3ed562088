/** Everything that an API server holds, by name: what must be the same before something came and after it went. */
import { discover } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";

/** What comes and goes by itself, and the history, which is there to stay. */
const PASSING: ReadonlySet<string> = new Set(["Event", "Lease", "ComponentStatus", "LedgerSlice"]);

/** `Kind.group namespace/name` of every object of every kind that can be listed, sorted. */
export async function inventoryOf(client: Client): Promise<readonly string[]> {
  const { resources, failed } = await discover(client);
  if (failed.length > 0) throw new Error(`discovery failed for ${failed.join(", ")}`);
  const kinds = resources.filter(
    ({ kind, preferred, verbs }) => preferred && verbs.includes("list") && !PASSING.has(kind),
  );
  const names = await Promise.all(
    kinds.map(async (resource) => {
      const { items } = await client.list(resource);
      return items.map(
        ({ metadata }) =>
          `${resource.kind}.${resource.group} ${metadata.namespace ?? ""}/${metadata.name}`,
      );
    }),
  );
  return [...new Set(names.flat())].toSorted();
}
