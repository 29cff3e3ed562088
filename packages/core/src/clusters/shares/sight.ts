/**
 * Whether a replica sees: one that loses most of its share, or many members at once, is more likely cut off itself than all of
 * them are down. It hands its share on and reports nothing, until it reaches enough of them again.
 *
 * 1. Only members that stopped answering count: one whose Cluster is known not to be Ready is no news.
 * 2. Nothing is handed on before a member was silent for the whole failure threshold: a short failure moves no member.
 * 3. A single lost member makes no replica blind, even if it is its whole share: the second replica decides about it (opinion.ts).
 * 4. A replica without another one has nowhere to hand its share on to. If all are blind, they share out the members as if none
 *    were: each has asked another replica by then, and the brakes on evacuations protect the fleet.
 */
import { defineReasons } from "../../plan.ts";

export const sightReasons = defineReasons({
  Alone: "There is no other replica to hand members on to.",
  MembersAnswer: "Enough members of the share answer.",
  ManyLost: "More members were lost at once than a replica may lose.",
  MostLost: "More than half of the share was lost.",
  FewAnswer: "Too few of the lost members answer again.",
});

export type SightReason = keyof typeof sightReasons;

/** How many members a replica may lose at once. */
export const MOST_LOST = 5;

/** What this replica knows of a member that would be its own if it sees. */
export interface ProbedMember {
  /** For how long its probes have failed, from the first to the last; undefined: the last one was answered, or there was none. */
  readonly failedForMs: number | undefined;
  /** Its Cluster reports Ready=False already. */
  readonly isKnownDown: boolean;
}

export interface SightView {
  readonly isBlind: boolean;
  readonly hasOthers: boolean;
  readonly members: readonly ProbedMember[];
  readonly failureThresholdMs: number;
}

export interface SightPlan {
  readonly isBlind: boolean;
  readonly reason: SightReason;
}

/** Decides whether the replica sees. */
export function decideSight(view: SightView): SightPlan {
  const { isBlind, hasOthers, members, failureThresholdMs } = view;
  if (!hasOthers) return { isBlind: false, reason: "Alone" };
  const counted = members.filter(({ isKnownDown }) => !isKnownDown);
  const lost = counted.filter(({ failedForMs }) => failedForMs !== undefined);
  const isMany = lost.length > MOST_LOST;
  const isMost = lost.length > 1 && lost.length * 2 > counted.length;
  if (!isMany && !isMost) return { isBlind: false, reason: "MembersAnswer" };
  if (isBlind) return { isBlind, reason: "FewAnswer" };
  const isLasting = lost.some(({ failedForMs = 0 }) => failedForMs >= failureThresholdMs);
  if (!isLasting) return { isBlind: false, reason: "MembersAnswer" };
  return { isBlind: true, reason: isMany ? "ManyLost" : "MostLost" };
}
