/** Why a workload that is unhealthy in a cluster stays there or leaves it. */
import { defineReasons } from "../../plan.ts";

export const applicationReasons = defineReasons({
  NotAsked: "The policy asks for no failover of the application.",
  Federated:
    "The replicas of a federated StatefulSet never move, so the policy's order is not carried out.",
  Well: "No copy is known to be unhealthy.",
  Tolerated: "A copy is unhealthy, but not for as long as the policy tolerates.",
  NowhereElse:
    "The workload is in no cluster, and only clusters can take it that it left because it was unhealthy there.",
  DispatchingSuspended:
    "While dispatching to a cluster is suspended, its reports are not about the present version of the copy, so it is not known whether the application is well, and it does not leave.",
  Due: "A copy has been unhealthy for longer than the policy tolerates.",
});

export type ApplicationReason = keyof typeof applicationReasons;
