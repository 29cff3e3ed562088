/** The control plane's own certificates. */
import type { MetricDefinition } from "@lifeboat/kit";

export const certificateExpiration: MetricDefinition<"certificate"> = {
  name: "lifeboat_certificate_expiration_timestamp_seconds",
  help: "When a certificate of the control plane itself ends, in seconds since 1970.",
  labels: ["certificate"],
};
