/** The policies that claim bindings, found by the id that both bear. */
import type { KubeObject, ResourceBinding } from "@lifeboat/api";
import { CLUSTER_POLICY_ID, POLICY_ID } from "../well-known.ts";

type Marked = Pick<KubeObject, "metadata">;

/** `policies`: those of both scopes. The answer of a binding is undefined when its policy is gone. */
export function policiesById(
  policies: readonly Marked[],
): (binding: Pick<ResourceBinding, "metadata">) => Marked | undefined {
  const byId = new Map(policies.map((policy) => [idOf(policy), policy]));
  return (binding) => byId.get(idOf(binding));
}

function idOf({ metadata: { labels = {} } }: Marked): string {
  return labels[POLICY_ID] ?? labels[CLUSTER_POLICY_ID] ?? "";
}
