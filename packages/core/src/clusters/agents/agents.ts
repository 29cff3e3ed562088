/**
 * How an agent announces that it knows endorsement (D26).
 *
 * An agent announces it by an annotation on its own Lease, with the Lease's first write. Until the annotation is there, the
 * control plane endorses no Work of the cluster and reports the condition `AgentSupported=False`.
 */
import type { AnyObject } from "@lifeboat/api";
import { textAt } from "../../fields.ts";

/** On the Lease of an agent: the version of endorsement that it knows. */
export const ENDORSEMENT = "lifeboat.dev/endorsement";
export const ENDORSEMENT_VERSION = "v1";
/** The condition of a Pull Cluster: whether its agent knows endorsement. */
export const AGENT_SUPPORTED = "AgentSupported";

/** Whether the agent that renews this Lease knows endorsement. */
export function knowsEndorsement(lease: AnyObject | undefined): boolean {
  return textAt(lease, "metadata", "annotations", ENDORSEMENT) === ENDORSEMENT_VERSION;
}
