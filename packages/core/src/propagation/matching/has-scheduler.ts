/** Whether a scheduler places a binding: a policy or another owner claims it, and its scheduling is not suspended. */
import type { ResourceBinding } from "@lifeboat/api";
import { CLUSTER_POLICY_ID, POLICY_ID } from "../../well-known.ts";

/** On bindings that others than policies make. */
const MANAGED_BY = "binding.karmada.io/managed-by";

/** Whether a scheduler takes care of the binding: where this is false, nothing places it again. */
export function hasScheduler({ metadata }: Pick<ResourceBinding, "metadata">): boolean {
  const labels = metadata.labels ?? {};
  return [POLICY_ID, CLUSTER_POLICY_ID, MANAGED_BY].some((key) => labels[key] !== undefined);
}

/** Why nothing would place the binding again; undefined: a scheduler would. */
export function whyUnscheduled(
  binding: Pick<ResourceBinding, "metadata" | "spec">,
): "SchedulingSuspended" | "NotClaimed" | undefined {
  if (binding.spec.suspension?.scheduling === true) return "SchedulingSuspended";
  return hasScheduler(binding) ? undefined : "NotClaimed";
}
