/** Why the old copy of an eviction task is kept or removed, or why it stays in the result. */
import { defineReasons } from "../../plan.ts";

export const taskReasons = defineReasons({
  NoTasks: "Nothing is leaving.",
  TargetsHealthy: "Every copy of the result is healthy, so the old one may go.",
  BackInResult: "The workload is placed in that cluster again; the copy stays.",
  CopyGone: "The old copy is gone, with its pods.",
  Fenced: "The cluster is proven to be off, so the old copy counts as gone.",
  GracePeriodOver:
    "The old copy of a failing application is unhealthy, and its grace period is over.",
  ReleasedByPerson: "A person released the old copy.",
  ClusterGone: "The cluster is no longer part of the fleet.",
  Recovered:
    "The cluster recovered before the workload was placed again, so the workload stays there.",
  AwaitingPlacement: "The workload has not been placed again yet.",
  AwaitingTargets: "Some copies of the result are not known to be healthy.",
  DispatchingSuspended:
    "Dispatching is suspended for a cluster of the result, so no healthy copy appears there.",
  GracePeriodEnding:
    "Half of the grace period of a failing application is over. At its end the old copy goes, although some of its replicas may still serve.",
  AwaitingTraffic:
    "Load balancers have not yet confirmed that they send no requests to the old copy.",
  TrafficNotDrained:
    "A load balancer that runs has not confirmed that it sends no requests to the old copy.",
  LastServedCopy: "No other cluster serves the requests that load balancers send to the old copy.",
  AwaitingRemoval: "The old copy is being removed.",
  AwaitingFence: "The cluster cannot be reached, so the old copy may still run there.",
  LastHealthyCopy: "The old copy may be the last healthy one.",
  KeptByOrder: "The old copy stays until a person releases it.",
});

export type TaskReason = keyof typeof taskReasons;

/** What a person can do about a copy that waits for this reason; "" when waiting is all. */
export function remedyOf(reason: TaskReason, cluster: string): string {
  if (reason === "AwaitingFence")
    return `The workload is placed again once the cluster answers, or once a person declares the cluster off: lifeboat fence ${cluster}`;
  if (reason === "DispatchingSuspended")
    return "The old copy stays until spec.suspension of the policy allows dispatching, and the new copy is healthy.";
  if (reason === "GracePeriodEnding")
    return "To keep it, set suppressDeletion of the eviction task to true.";
  if (reason === "TrafficNotDrained")
    return "The old copy goes once it confirms, or after --traffic-drain-limit; to remove it at once, set suppressDeletion of the eviction task to false.";
  if (reason === "LastServedCopy")
    return "The old copy stays until another cluster serves them; to remove it at once, set suppressDeletion of the eviction task to false.";
  if (reason === "KeptByOrder")
    return "To release it, set suppressDeletion of the eviction task to false.";
  return "";
}
