/** What the conditions of a MultiClusterIngress report. */
import { defineReasons } from "../../plan.ts";

export const ingressReasons = defineReasons({
  TrafficFlows: "No cluster that has a backend is blocked.",
  SomeBlocked: "Some of the clusters that have a backend are blocked.",
  AllWouldBeBlocked:
    "Remedies would block every cluster that has a backend, so none is blocked and traffic goes on to all.",
  OthersNotConfirmed:
    "Every cluster that has a backend and is not blocked by a Remedy has not been Ready for a minute or has no ready replica, so none is blocked and traffic goes on to all.",
  OthersNotServing:
    "Every cluster that has a backend and is not blocked by a Remedy has no ready replica or no address of it, so none is blocked and traffic goes on to all.",
  AllLocated: "Every backend is in at least one cluster.",
  BackendMissing: "A backend is in no cluster.",
  NoServiceBackend: "No rule names a Service.",
});

export type IngressReason = keyof typeof ingressReasons;
