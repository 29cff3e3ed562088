/**
 * Whether a member keeps to the limits of its responses, as the condition ResponsesWithinLimits of its Cluster.
 *
 * 1. The condition does not change Ready, and moves no workload by itself: a member whose lists are too large still runs its
 *    workloads. To keep workloads away, or to move them, name the condition in a ClusterTaintPolicy.
 * 2. A Cluster whose member never exceeded a limit does not have the condition.
 * 3. It turns True only after one process has observed the member within its limits for ten minutes, so it cannot flap.
 *    Until then its reason and message stay those of the first excess.
 */
import type { Condition } from "@lifeboat/api";
import type { PlannedCondition } from "../../plan.ts";
import { RESPONSES_WITHIN_LIMITS } from "../../well-known.ts";
import type { LimitReason } from "./reasons.ts";

/** How long a member has to keep to its limits. */
export const CALM_MS = 600_000;

/** Excesses of one member with less than ten minutes between them. */
export interface Excess {
  /** When the first one was, by a clock that never goes back. */
  readonly since: number;
  /** Of the first. */
  readonly reason: Exclude<LimitReason, "WithinLimits">;
  readonly message: string;
  /** When the last one was. */
  readonly last: number;
}

/** The excesses with one more, seen at `now`. */
export function extendExcess(
  former: Excess | undefined,
  { reason, message }: Pick<Excess, "reason" | "message">,
  now: number,
): Excess {
  const goesOn = former !== undefined && now - former.last < CALM_MS;
  return goesOn ? { ...former, last: now } : { since: now, reason, message, last: now };
}

export interface LimitsView {
  /** The condition that the Cluster bears. */
  readonly current: Condition | undefined;
  /** What this process has seen. */
  readonly excess: Excess | undefined;
  /** Since when this process has watched the member. */
  readonly since: number;
  readonly now: number;
}

/** The condition as it is to be; undefined: as it is. */
export function decideLimits(view: LimitsView): PlannedCondition<LimitReason> | undefined {
  const { current, excess, since, now } = view;
  const type = RESPONSES_WITHIN_LIMITS;
  if (excess !== undefined && now - excess.last < CALM_MS)
    return {
      type,
      status: "False",
      reason: excess.reason,
      message: `The member exceeded a limit, and what exceeded it was not taken in: ${excess.message}.`,
    };
  if (current?.status !== "False" || now - since < CALM_MS) return undefined;
  return {
    type,
    status: "True",
    reason: "WithinLimits",
    message: "The member has kept to its limits for ten minutes.",
  };
}
