/** The metrics of the binding controller. */
import type { MetricDefinition } from "@lifeboat/kit";

export const syncWorkDuration: MetricDefinition<"result"> = {
  name: "binding_sync_work_duration_seconds",
  help: "How long it took to bring the Works of a binding in step: success, or error.",
  labels: ["result"],
  buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048],
};
