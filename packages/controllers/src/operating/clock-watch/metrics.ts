/** The metric of the clock. */
import type { MetricDefinition } from "@lifeboat/kit";

export const clockSteps: MetricDefinition<"direction"> = {
  name: "lifeboat_clock_steps_total",
  help: "Steps of the wall clock of this process: forward, or back.",
  labels: ["direction"],
};
