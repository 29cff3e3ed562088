/** What the settings of a control plane tell about proofs that a cluster is off (D10). */
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import type { FenceTrust } from "@lifeboat/core/failover/eviction-tasks";

/** What the control plane takes for a proof that a cluster is off. */
export function fenceTrust(settings: PublishedSettings | undefined): FenceTrust {
  return { trustFencedCondition: settings?.["trust-fenced-condition"] === "true" };
}
