/** Why a cluster is Ready or not, and how much of its API is known. Clients know the reasons of these conditions. */
import { defineReasons } from "../../plan.ts";

export const readyReasons = defineReasons({
  ClusterReady: "The member's API server reports that it is healthy.",
  ClusterNotReady: "The member's API server answers, but does not report that it is healthy.",
  ClusterNotReachable: "The member's API server does not answer.",
  StatusCollectionFailed:
    "The member cannot be reached with the endpoint and the credential of its Cluster object.",
});

export type ReadyReason = keyof typeof readyReasons;

/** Why Ready is Unknown: nothing was heard of a Pull cluster. Clients know these reasons and sentences. */
export const silenceReasons = defineReasons({
  ClusterStatusUnknown: "Cluster status controller stopped posting cluster status.",
  ClusterStatusNeverUpdated: "Cluster status controller never posted cluster status.",
});

export type SilenceReason = keyof typeof silenceReasons;

/** What became of an observation of a cluster's health. */
export const readyDecisionReasons = defineReasons({
  NeverReported: "Nothing was known of the cluster, so the first observation counts.",
  NoCrossing: "The observation does not cross between ready and not ready.",
  HeldForThreshold: "The observation held over the whole threshold.",
  AwaitingThreshold: "The observation is too young to count; what was known before stands.",
  AwaitingSecond: "No second replica has agreed that the cluster is not ready.",
});

export type ReadyDecisionReason = keyof typeof readyDecisionReasons;

export const enablementReasons = defineReasons({
  Complete: "Every group of the member's API was read.",
  Partial: "Some groups of the member's API could not be read; what was last known of them stands.",
  Empty: "Nothing of the member's API could be read yet.",
});

export type EnablementReason = keyof typeof enablementReasons;

/** Whether a member sends no more than it may. */
export const limitReasons = defineReasons({
  WithinLimits: "The member has kept to its limits for ten minutes.",
  ResponseTooLarge: "A response of the member, or one object in it, was too large.",
  ResponseTooDeep: "A response of the member was nested too deep.",
  TooManyItems:
    "A list of the member had too many items, an object too many values, or its API too many groups.",
  WatchTooFast: "The member sends faster than it may, so what it sends is read with delay.",
});

export type LimitReason = keyof typeof limitReasons;
