/**
 * What can go wrong inside a member. What goes wrong on the way to it (api-down, partition, slow, errors) is a matter
 * of the connection and not known here.
 */
import { unreachable } from "@lifeboat/base";
import type { Pod } from "./kinds.ts";
import type { PodTrouble } from "./model/pod-lifecycle.ts";

/** Which pods a fault hits; absent fields hit all. */
export interface FaultScope {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export type MemberFault = FaultScope &
  (
    | {
        /** Pods run, lose their readiness and never become ready. */ readonly kind: "pods-not-ready";
      }
    | {
        /** Pods start so much later than usual. */ readonly kind: "start-late";
        readonly delayMs: number;
      }
    | {
        /** Pods take so much longer to stop than usual, and are not killed in the end. */
        readonly kind: "stop-late";
        readonly delayMs: number;
      }
    | { /** Containers end with an error, running ones too. */ readonly kind: "crash" }
  );

const NO_TROUBLE: PodTrouble = Object.freeze({ kind: "none" });

/** What the fault does to a pod. Pure. */
export function troubleOf(fault: MemberFault | undefined, pod: Pod): PodTrouble {
  if (fault === undefined || !isHit(fault, pod)) return NO_TROUBLE;
  switch (fault.kind) {
    case "pods-not-ready":
      return { kind: "not-ready" };
    case "start-late":
      return { kind: "late", delayMs: fault.delayMs };
    case "stop-late":
      return { kind: "lingering", delayMs: fault.delayMs };
    case "crash":
      return { kind: "crash" };
    default:
      return unreachable(fault);
  }
}

function isHit(scope: FaultScope, pod: Pod): boolean {
  const { namespace, labels = {} } = pod.metadata;
  if (scope.namespace !== undefined && scope.namespace !== namespace) return false;
  return Object.entries(scope.labels ?? {}).every(([key, value]) => labels[key] === value);
}
