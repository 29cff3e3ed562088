/** PodDisruptionBudget (policy/v1). */
import { countAt, type Fields, fieldsAt } from "../../../fields.ts";
import type { KindHooks, StatusItem } from "../interpreter.ts";
import { byClusterName, type Counters, pick, sumInto } from "../statuses.ts";

const COUNTERS: Counters = {
  always: ["currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"],
  nonZero: [],
};

export const podDisruptionBudget: KindHooks = {
  reflectStatus: (object) =>
    pick(fieldsAt(object, "status"), [...COUNTERS.always, "disruptedPods"]),
  health: (object) =>
    countAt(object, "status", "currentHealthy") >= countAt(object, "status", "desiredHealthy")
      ? "Healthy"
      : "Unhealthy",
  aggregateStatus,
};

function aggregateStatus(template: Fields, items: readonly StatusItem[]): Fields {
  const { disruptedPods: _replaced, ...status } = sumInto(template, items, COUNTERS);
  const disrupted = byClusterName(items).flatMap((item) =>
    Object.entries(fieldsAt(item.status, "disruptedPods")).map(
      ([pod, time]) => [`${item.clusterName}/${pod}`, time] as const,
    ),
  );
  if (disrupted.length === 0) return status;
  return { ...status, disruptedPods: Object.fromEntries(disrupted) };
}
