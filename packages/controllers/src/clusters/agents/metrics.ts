/** When agents' certificates end, one series per registered agent. */
import type { MetricDefinition } from "@lifeboat/kit";

export const agentCertificateExpiration: MetricDefinition<"member_cluster"> = {
  name: "lifeboat_agent_certificate_expiration_timestamp_seconds",
  help: "When the last certificate that the agent of a cluster was issued ends, in seconds since 1970.",
  labels: ["member_cluster"],
};
