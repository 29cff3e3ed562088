/**
 * Whether the agent of a Pull cluster knows endorsement (D26), and what the control plane gives it.
 *
 * 1. An agent announces it by an annotation on its own Lease, with each renewal: the annotation names the renewal that it belongs to.
 *    Another agent that renews the same Lease keeps the annotation of before, which then names another renewal and announces nothing.
 *    The control plane reports what it read in the condition `AgentSupported` of the Cluster.
 * 2. An agent that has announced nothing gets no new Work and no endorsement: it would apply a Work that arrives late, and make a
 *    second copy. What it has already stays as it is.
 * 3. Before the first Lease nothing is known: no new Work is made, and nothing is withdrawn.
 */
import { type Cluster, findCondition, type KubeObject } from "@lifeboat/api";
import { textAt } from "../../fields.ts";
import { defineReasons, type PlannedCondition } from "../../plan.ts";
import { ENDORSEMENT } from "../../well-known.ts";

/** What an agent that knows endorsement writes with the renewal of this time; the time as the Lease has it. */
export function endorsementOf(renewTime: string): string {
  return `v1 ${renewTime}`;
}

/** The condition of a Pull Cluster: whether its agent knows endorsement. */
export const AGENT_SUPPORTED = "AgentSupported";

export const agentReasons = defineReasons({
  EndorsementKnown: "The agent announces on its Lease that it knows endorsement.",
  EndorsementUnknown:
    "The agent does not announce on its Lease that it knows endorsement, so it gets no new Works: run `lifeboat agent` in this cluster, of the version of the control plane, in the place of this agent.",
});

export type AgentReason = keyof typeof agentReasons;

/** Whether the agent that last renewed this Lease knows endorsement. */
export function knowsEndorsement(lease: KubeObject | undefined): boolean {
  const renewTime = textAt(lease, "spec", "renewTime");
  const announced = textAt(lease, "metadata", "annotations", ENDORSEMENT);
  return renewTime !== "" && announced === endorsementOf(renewTime);
}

/** `unknown`: it has not renewed its Lease yet. A Push cluster needs no agent. */
export type AgentSupport = "supported" | "unsupported" | "unknown";

/** What the Cluster shows about its agent. */
export function agentSupport({ spec, status }: Pick<Cluster, "spec" | "status">): AgentSupport {
  if (spec.syncMode !== "Pull") return "supported";
  const condition = findCondition(status?.conditions, AGENT_SUPPORTED);
  if (condition === undefined) return "unknown";
  return condition.status === "True" ? "supported" : "unsupported";
}

/** The condition that the Cluster is to bear; undefined: it bears it, or nothing is known yet. */
export function decideAgentSupport(
  cluster: Cluster,
  lease: KubeObject | undefined,
): PlannedCondition<AgentReason> | undefined {
  if (cluster.spec.syncMode !== "Pull" || lease === undefined) return undefined;
  const reason = knowsEndorsement(lease) ? "EndorsementKnown" : "EndorsementUnknown";
  const status = reason === "EndorsementKnown" ? "True" : "False";
  const current = findCondition(cluster.status?.conditions, AGENT_SUPPORTED);
  if (current?.status === status && current.reason === reason) return undefined;
  return { type: AGENT_SUPPORTED, status, reason, message: agentReasons[reason] };
}
