/**
 * Whether a Pull cluster is heard of: `Ready=Unknown` when its agent is silent for the grace period.
 *
 *   Lease renewed, or status written by the agent ──▶ message ──▶ silent since then ──▶ decideHeartbeat ──▶ Ready=Unknown
 *
 * 1. Silence is measured by the clock of the control plane that never goes back, from when the control plane saw the message.
 *    What an agent wrote as the time does not count: its clock may be wrong.
 * 2. A control plane that starts has seen no message yet: the grace period begins with it. The longer wait protects.
 * 3. Time in which the control plane itself did not run, or could not read, is no silence (`watchedMs`).
 * 4. A Push cluster never becomes Unknown: probes decide about it. An agent's next report ends Unknown, not a rule here.
 */
import { type Cluster, type Condition, equalJson, findCondition } from "@lifeboat/api";
import type { PlannedCondition } from "../../plan.ts";
import { READY } from "../../well-known.ts";
import { type SilenceReason, silenceReasons } from "./reasons.ts";

export interface HeartbeatGraces {
  /** How long a cluster that has reported may be silent. */
  readonly graceMs: number;
  /** The same for one that has never reported. */
  readonly startupGraceMs: number;
}

export interface HeartbeatView extends HeartbeatGraces {
  /** The condition Ready of the Cluster. */
  readonly current: Condition | undefined;
  /** For how long no message was seen, of the time in which one would have been seen. */
  readonly silentMs: number;
}

export interface HeartbeatPlan {
  /** The condition as it is to be; undefined: as it is. */
  readonly condition?: PlannedCondition<SilenceReason>;
  readonly reason: "Heard" | SilenceReason;
}

/** Decides whether a Pull cluster is silent. */
export function decideHeartbeat(view: HeartbeatView): HeartbeatPlan {
  const { current, silentMs } = view;
  const graceMs = current === undefined ? view.startupGraceMs : view.graceMs;
  if (silentMs < graceMs) return { reason: "Heard" };
  const reason = current === undefined ? "ClusterStatusNeverUpdated" : "ClusterStatusUnknown";
  if (current?.status === "Unknown") return { reason };
  const message = silenceReasons[reason];
  return { condition: { type: READY, status: "Unknown", reason, message }, reason };
}

/** Whether the agent wrote the status between these two states of a Cluster; other writers write other parts. */
export function hasReported(old: Cluster | undefined, now: Cluster): boolean {
  return old === undefined || !equalJson(reportOf(old), reportOf(now)) || hasAnswered(old, now);
}

/** A Ready that is not Unknown is the agent's word. */
function hasAnswered(old: Cluster, now: Cluster): boolean {
  const ready = findCondition(now.status?.conditions, READY);
  if (ready === undefined || ready.status === "Unknown") return false;
  return !equalJson(findCondition(old.status?.conditions, READY), ready);
}

function reportOf({ status = {} }: Cluster): object {
  const { kubernetesVersion, apiEnablements, nodeSummary, nodeAddresses, resourceSummary } = status;
  return { kubernetesVersion, apiEnablements, nodeSummary, nodeAddresses, resourceSummary };
}

/**
 * How much of the time between two looks counts as watched. A process that stood still in between saw nothing, and what
 * happened meanwhile may still be on its way to it.
 */
export function watchedMs(elapsedMs: number, periodMs: number): number {
  return elapsedMs > 2 * periodMs ? periodMs : elapsedMs;
}
