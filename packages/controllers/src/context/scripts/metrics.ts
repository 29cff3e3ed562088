/** The metrics of users' scripts. */
import type { MetricDefinition } from "@lifeboat/kit";

export const scriptDuration: MetricDefinition<"function" | "outcome"> = {
  name: "lifeboat_script_duration_seconds",
  help: "How long a call of a user's script took, from asking to its end; outcome: success, or why it failed.",
  labels: ["function", "outcome"],
};
