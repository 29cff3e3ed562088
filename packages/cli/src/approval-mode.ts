/** `--evacuation-approval` of a running control plane, as it published it. */
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import { APPROVAL_MODES, type ApprovalMode } from "@lifeboat/core/failover/evacuation";

/** A control plane of an earlier version publishes none. */
export function approvalModeOf(settings: PublishedSettings | undefined): ApprovalMode {
  return APPROVAL_MODES.find((mode) => mode === settings?.["evacuation-approval"]) ?? "Policy";
}
