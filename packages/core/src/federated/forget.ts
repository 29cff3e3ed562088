/**
 * A person gives up the share of a cluster, for ever (D15): one write of the binding, the record and the result together.
 *
 * Of a quorum no share of a living cluster is given up that holds a majority of the living replicas, or without which the living
 * are no majority of all. `spec.replicas` of the set stays: a condition shows the shortage, and new replicas come with the next scale-up.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { resultOf, withResult } from "../binding/index.ts";
import { isQuorum } from "./marks.ts";
import { assignedReplicas, readFederated, withFederated } from "./record.ts";
import { forgetShare } from "./shares.ts";

export type ForgetPlan =
  | { readonly outcome: "forget"; readonly binding: ResourceBinding; readonly share: number }
  | { readonly outcome: "refused"; readonly message: string };

/** The binding without the share of a cluster, as it shall be written. `living`: the clusters that are Ready. */
export function decideForget(
  binding: ResourceBinding,
  cluster: string,
  living: ReadonlySet<string>,
): ForgetPlan {
  const record = readFederated(binding);
  const { name } = binding.spec.resource;
  if (record === undefined)
    return { outcome: "refused", message: `${name} is no federated StatefulSet` };
  const share = record.shares.get(cluster);
  if (share === undefined) {
    const held = [...record.shares].map(([one, count]) => `${one}: ${count}`).join(", ");
    return {
      outcome: "refused",
      message: `${name} has no share in cluster ${cluster}; it has ${held || "none at all"}`,
    };
  }
  const alive = [...record.shares].filter(([one]) => living.has(one));
  const all = alive.reduce((sum, [, count]) => sum + count, 0);
  if (isQuorum(binding) && living.has(cluster) && share >= Math.floor(all / 2) + 1)
    return {
      outcome: "refused",
      message: `${share} of the ${all} living replicas of ${name} are in cluster ${cluster}: a majority of the quorum would go at once; scale the set up elsewhere first`,
    };
  const total = assignedReplicas(record);
  const majority = Math.floor(total / 2) + 1;
  if (isQuorum(binding) && living.has(cluster) && all - share < majority)
    return {
      outcome: "refused",
      message: `${all} of the ${total} replicas of ${name} are in living clusters, ${share} of them in ${cluster}: ${all - share} would be left, and a majority is ${majority}`,
    };
  const left = resultOf(binding).filter((target) => target.name !== cluster);
  const placed = withResult(binding, left);
  return { outcome: "forget", binding: withFederated(placed, forgetShare(record, cluster)), share };
}
