/** The metrics of the gate. */
import type { MetricDefinition } from "@lifeboat/kit";

export const deletionsAsked: MetricDefinition<"cause" | "outcome"> = {
  name: "lifeboat_work_deletions_total",
  help: "Deletions of Works that the mass-deletion brake counts: granted, or refused.",
  labels: ["cause", "outcome"],
};
