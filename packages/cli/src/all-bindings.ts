/** The bindings and the policies of both scopes, as the server has them. */
import {
  clusterPropagationPolicies,
  clusterResourceBindings,
  type KubeObject,
  propagationPolicies,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

export async function allBindings(plane: Client): Promise<readonly ResourceBinding[]> {
  const both = await Promise.all([
    plane.list(resourceBindings),
    plane.list(clusterResourceBindings),
  ]);
  return both.flatMap(({ items }) => items);
}

export async function allPolicies(plane: Client): Promise<readonly KubeObject[]> {
  const both = await Promise.all([
    plane.list(propagationPolicies),
    plane.list(clusterPropagationPolicies),
  ]);
  return both.flatMap(({ items }) => items as readonly KubeObject[]);
}
