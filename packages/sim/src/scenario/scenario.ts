/**
 * A scenario as data: what people do, and what goes wrong. It is what a generator makes, what shrinking makes smaller, what
 * a failing run leaves behind, and what is run again.
 *
 * Times are seconds after all members have become ready. Every fault ends: by its own `until` or `downFor`, or when the
 * last step and fault are over and the world is healed.
 */
import type { LinkConditions } from "../network/link.ts";

export interface Scenario {
  readonly name: string;
  readonly seed: number;
  readonly members: readonly string[];
  /** How long a sync of the plane's disk takes; 0 when absent. */
  readonly syncDelayMs?: number;
  /** Whether the gate Failover is on. */
  readonly failover?: boolean;
  /** A step races with the control plane, so that who wins decides how it ends: only the promises are the same. */
  readonly isRace?: boolean;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
}

export type WorkloadKind = "Deployment" | "StatefulSet" | "ConfigMap";

/** What a person does. */
export type Step = { readonly at: number } & (
  | {
      readonly do: "workload";
      readonly kind: WorkloadKind;
      readonly name: string;
      readonly namespace?: string;
      readonly replicas?: number;
      /** A change of content: the tag of the image, or a value. */
      readonly version?: number;
    }
  | {
      readonly do: "policy";
      readonly name: string;
      readonly namespace?: string;
      readonly selects: readonly { readonly kind: WorkloadKind; readonly name: string }[];
      /** Absent: all. */
      readonly clusters?: readonly string[];
      readonly divided?: boolean;
      /** One cluster at a time. */
      readonly oneCopy?: boolean;
      readonly purgeMode?: "Directly" | "Gracefully";
    }
  | {
      readonly do: "override";
      readonly name: string;
      readonly selects: { readonly kind: WorkloadKind; readonly name: string };
      readonly cluster: string;
      readonly value: string;
    }
  | {
      readonly do: "delete";
      readonly what: "policy" | "override" | "namespace" | WorkloadKind;
      readonly name: string;
      readonly namespace?: string;
    }
  | { readonly do: "namespace"; readonly name: string }
  | {
      /** An operator taints a cluster, orders it to be drained, or takes either back. */
      readonly do: "taint";
      readonly member: string;
      readonly effect: "NoSchedule" | "NoExecute" | "PreferNoExecute" | "drain";
      readonly on: boolean;
    }
  | { readonly do: "join" | "unjoin"; readonly member: string }
  | {
      /** Somebody changes or deletes a copy in a member. */
      readonly do: "drift";
      readonly member: string;
      readonly kind: WorkloadKind;
      readonly name: string;
      readonly how: "edit" | "delete";
    }
);

/** What goes wrong. */
export type Fault =
  | { readonly fault: "crash"; readonly at: number; readonly downFor: number }
  | {
      readonly fault: "crash-at-write";
      /** From 1, counted from the first step on. */
      readonly write: number;
      readonly moment: "before" | "after";
      readonly downFor: number;
    }
  | { readonly fault: "lost-answer-at-write"; readonly write: number }
  | {
      readonly fault: "link";
      /** `plane`: between the controllers and their own API; else a member. */
      readonly link: string;
      readonly from: number;
      readonly until: number;
      readonly conditions: LinkConditions;
    }
  | { readonly fault: "reset"; readonly link: string; readonly at: number }
  | {
      readonly fault: "member-crash";
      readonly member: string;
      readonly at: number;
      readonly downFor: number;
    }
  | {
      readonly fault: "pods";
      readonly member: string;
      readonly from: number;
      readonly until: number;
      readonly kind: "pods-not-ready" | "crash";
    }
  | { readonly fault: "disk-full"; readonly from: number; readonly until: number }
  | { readonly fault: "disk-fail"; readonly at: number; readonly downFor: number }
  | { readonly fault: "clock-skew"; readonly at: number; readonly skewMs: number };

/** When the last thing that the scenario says is over, in seconds. */
export function endOf({ steps, faults }: Scenario): number {
  return Math.max(0, ...steps.map(({ at }) => at), ...faults.map(endOfFault));
}

function endOfFault(fault: Fault): number {
  if ("until" in fault) return fault.until;
  if (!("at" in fault)) return 0;
  return "downFor" in fault ? fault.at + fault.downFor : fault.at;
}

/** A sentence about a step or fault, for timelines; without its time. */
export function describe(item: Step | Fault): string {
  return Object.entries(item)
    .filter(([key]) => key !== "at" && key !== "from")
    .map(([key, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return key === "do" || key === "fault" ? text : `${key}=${text}`;
    })
    .join(" ");
}
