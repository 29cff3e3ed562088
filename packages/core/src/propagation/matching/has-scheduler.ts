/** Whether anybody places a binding: a policy claims it, or somebody else says so. */
import type { ResourceBinding } from "@lifeboat/api";
import { CLUSTER_POLICY_ID, POLICY_ID } from "../../well-known.ts";

/** On bindings that others than policies make. */
const MANAGED_BY = "binding.karmada.io/managed-by";

/** Whether a scheduler takes care of the binding: where this is false, nobody places it anew. */
export function hasScheduler({ metadata }: Pick<ResourceBinding, "metadata">): boolean {
  const labels = metadata.labels ?? {};
  return [POLICY_ID, CLUSTER_POLICY_ID, MANAGED_BY].some((key) => labels[key] !== undefined);
}
