/** What becomes of one workload when clusters fail: the reasons that a played and a foreseen failure have in common. */

export const outcomeReasons = {
  Moved: "It runs whole elsewhere.",
  Remains:
    "A whole copy of it runs in another cluster; the one in the failed cluster is not replaced.",
  GateOff: "The feature gate Failover is off: nothing leaves a failed cluster.",
  NotTainted:
    "No ClusterTaintPolicy gives the failed cluster a NoExecute or PreferNoExecute taint.",
  Tolerated: "Its policy tolerates the taint.",
  Exempt: "The taint does not move it.",
  Held: "It would leave, and has no target.",
  AwaitingApproval: "It would leave after a person's approval: lifeboat evacuations approve.",
  Queued: "It would leave, and its turn did not come.",
  AwaitingFence: "Purge mode Directly waits for the proof that the failed cluster is off.",
  NotScheduled: "It left, and no cluster was found for it.",
  NotHealthy: "It was placed elsewhere, and is not healthy there.",
} as const;

export type OutcomeReason = keyof typeof outcomeReasons;

export interface Outcome {
  readonly reason: OutcomeReason;
  /** What an object adds to the sentence of the reason; "" when nothing does. */
  readonly message: string;
}

export function plainOutcome(reason: OutcomeReason): Outcome {
  return { reason, message: "" };
}

/** A workload that does not leave and has a whole copy in another cluster: `why` the one in the failed cluster is not replaced. */
export function remains(why: Outcome): Outcome {
  const message = why.message === "" ? why.reason : `${why.reason}: ${why.message}`;
  return { reason: "Remains", message };
}
