/** `--evacuation-approval` of a running control plane, as it published it. */
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import type { ApprovalMode } from "@lifeboat/core/failover/evacuation";
import { publishedApproval } from "@lifeboat/plane";

/** A control plane of an earlier version publishes none. */
export function approvalModeOf(settings: PublishedSettings | undefined): ApprovalMode {
  return publishedApproval(settings) ?? "Policy";
}
