/**
 * What the control plane and an agent have agreed on: the names of an agent's identity, and how an agent announces that it
 * knows endorsement (D26).
 *
 * An agent announces it by an annotation on its own Lease, with the Lease's first write. Until the annotation is there, the
 * control plane endorses no Work of the cluster and reports the condition `AgentSupported=False`.
 */
import type { AnyObject } from "@lifeboat/api";
import { textAt } from "../../fields.ts";

export const AGENT_USER_PREFIX = "system:karmada:agent:";
export const AGENT_GROUP = "system:karmada:agents";

/** On the Lease of an agent: the version of endorsement that it knows. */
export const ENDORSEMENT = "lifeboat.dev/endorsement";
export const ENDORSEMENT_VERSION = "v1";
/** The condition of a Pull Cluster: whether its agent knows endorsement. */
export const AGENT_SUPPORTED = "AgentSupported";

/** The user name of a cluster's agent. */
export function agentUser(cluster: string): string {
  return `${AGENT_USER_PREFIX}${cluster}`;
}

/** The cluster whose agent this user is; undefined for other users. */
export function agentCluster(user: string): string | undefined {
  const cluster = user.startsWith(AGENT_USER_PREFIX) ? user.slice(AGENT_USER_PREFIX.length) : "";
  return cluster === "" ? undefined : cluster;
}

/** Whether the agent that renews this Lease knows endorsement. */
export function knowsEndorsement(lease: AnyObject | undefined): boolean {
  return textAt(lease, "metadata", "annotations", ENDORSEMENT) === ENDORSEMENT_VERSION;
}
