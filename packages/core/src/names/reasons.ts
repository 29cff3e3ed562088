/** Why a member is not in the answers, or is in them nevertheless. */
import { defineReasons } from "../plan.ts";

export const listingReasons = defineReasons({
  ClusterLeft: "Its cluster is no longer joined.",
  ClusterNotReady: "Its cluster is not Ready.",
  TrafficBlocked: "A Remedy blocks the traffic of its cluster.",
  NotAssigned: "Its cluster has no share of the set.",
  NoService: "It has no Service in the control plane.",
  NoAddress: "Its Service has no address yet.",
  AllMembersBlocked:
    "Its cluster is dead, blocked or gone; without such members the set would have none.",
});

export type ListingReason = keyof typeof listingReasons;
