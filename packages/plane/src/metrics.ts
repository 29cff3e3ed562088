/** The control plane's own certificates. */
import type { MetricDefinition } from "@lifeboat/kit";

export const certificateExpiration: MetricDefinition<"certificate"> = {
  name: "lifeboat_certificate_expiration_timestamp_seconds",
  help: "When a certificate of the control plane itself ends (authority, server, client admin; of a manager: webhook, webhook authority), in seconds since 1970; seconds left: minus time().",
  labels: ["certificate"],
};
