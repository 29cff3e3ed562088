/** The bindings of both scopes, as the server has them. */
import { clusterResourceBindings, type ResourceBinding, resourceBindings } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

export async function allBindings(plane: Client): Promise<readonly ResourceBinding[]> {
  const both = await Promise.all([
    plane.list(resourceBindings),
    plane.list(clusterResourceBindings),
  ]);
  return both.flatMap(({ items }) => items);
}
