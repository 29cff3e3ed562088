/**
 * A scenario as data: what people do, and what goes wrong. It is what a generator makes, what shrinking makes smaller, what
 * a failing run leaves behind, and what is run again.
 *
 * Times are seconds after all members have become ready. Every fault ends: by its own `until`, `lasts` or `downFor`, or when
 * the last step and fault are over and the world is healed.
 */
import type { Lie } from "../network/lies.ts";
import type { LinkConditions } from "../network/link.ts";
import type { FederatedStep } from "./federated-steps.ts";
import type { OrderStep } from "./order-steps.ts";
import type { TrafficStep } from "./traffic-steps.ts";

export interface Scenario {
  readonly name: string;
  readonly seed: number;
  readonly members: readonly string[];
  /** Those of the members that pull: an agent runs beside each. None when absent. */
  readonly pull?: readonly string[];
  /** The load balancers that run beside the plane. None when absent. */
  readonly balancers?: readonly string[];
  /** The instances of detectors that run in members, as `m1/a`: the member and the node. None when absent. */
  readonly detectors?: readonly string[];
  /** Whether a DNS server for federated StatefulSets runs beside the plane. */
  readonly names?: boolean;
  /** How long a sync of the plane's disk takes; 0 when absent. */
  readonly syncDelayMs?: number;
  /** Whether the gate Failover is on. */
  readonly failover?: boolean;
  /** Whether the gate StatefulFailoverInjection is on. */
  readonly statefulInjection?: boolean;
  /** Evictions per second; the product's default when absent. */
  readonly rate?: number;
  /** What becomes of old copies when a policy does not say; the product's default when absent. */
  readonly purgeMode?: ClusterPurgeMode;
  /** What may end a graceful eviction; the product's default when absent. */
  readonly plugins?: readonly string[];
  /** How long a member must not answer, or answer, until its Ready changes, in seconds; 30 when absent. */
  readonly threshold?: number;
  /** A step races with the control plane, so that who wins decides how it ends: only the promises are the same. */
  readonly isRace?: boolean;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
}

export type WorkloadKind = "Deployment" | "StatefulSet" | "Job" | "Service" | "ConfigMap";
export type TaintEffect = "NoSchedule" | "NoExecute" | "PreferNoExecute";
export type ClusterPurgeMode = "Directly" | "Gracefully";

export interface Selected {
  readonly kind: WorkloadKind;
  readonly name: string;
}

/** What a propagation policy says. A later policy of the same name takes its place. */
export interface PolicyStep {
  readonly do: "policy";
  readonly name: string;
  readonly namespace?: string;
  readonly selects: readonly Selected[];
  /** Absent: all. */
  readonly clusters?: readonly string[];
  /** Groups of clusters, tried in this order; in the place of `clusters`. */
  readonly affinities?: readonly (readonly string[])[];
  readonly divided?: boolean;
  /** For `divided`: on as few clusters as possible. */
  readonly aggregated?: boolean;
  /** One cluster at a time. */
  readonly oneCopy?: boolean;
  /** On how many clusters; in the place of `oneCopy`. */
  readonly spread?: { readonly min?: number; readonly max?: number };
  /** Of `failover.cluster`. */
  readonly purgeMode?: ClusterPurgeMode;
  /** Of `failover.cluster`: how long a PreferNoExecute taint is borne, in seconds. */
  readonly failoverAfter?: number;
  /** Of `failover.cluster`: which parts of the status travel, as JSONPath by the label that carries them. */
  readonly state?: Readonly<Record<string, string>>;
  readonly tolerates?: {
    readonly effect: "NoSchedule" | "NoExecute";
    /** Absent: for ever. */
    readonly seconds?: number;
  };
  /** `failover.application`. What the workloads refer to follows them then. */
  readonly application?: {
    readonly tolerationSeconds: number;
    readonly purgeMode: ClusterPurgeMode | "Never";
    readonly gracePeriodSeconds?: number;
    readonly state?: Readonly<Record<string, string>>;
  };
  /** What the workloads refer to follows them. */
  readonly dependencies?: boolean;
  /** An object of somebody else is overwritten. */
  readonly overwrite?: boolean;
  /** Copies stay when the template is deleted or a cluster leaves. */
  readonly preserve?: boolean;
  /** Nothing leaves a faulty cluster before a person approves it (D30). */
  readonly approval?: boolean;
  /** Of a PriorityClass (D31). */
  readonly priority?: number;
  /** How its workloads return by themselves, as the annotation has it: `1m;max=1` (D31). */
  readonly failback?: string;
}

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
      /** The ConfigMap that its pods read. */
      readonly uses?: string;
      /** Of a Service: members give it an address. */
      readonly loadBalancer?: boolean;
    }
  | PolicyStep
  | {
      /** A ClusterTaintPolicy for all clusters; windows in seconds. */
      readonly do: "taint-policy";
      readonly name: string;
      /** A type of conditions of Clusters, such as Ready. */
      readonly condition: string;
      /** Any of these statuses matches. */
      readonly statuses: readonly ("True" | "False" | "Unknown")[];
      /** This condition must not have any of these statuses, too. */
      readonly unless?: {
        readonly condition: string;
        readonly statuses: readonly ("True" | "False" | "Unknown")[];
      };
      readonly effect: TaintEffect;
      /** Absent: `test/` and the name of the policy. */
      readonly key?: string;
      readonly addAfter: number;
      readonly removeAfter: number;
    }
  | {
      readonly do: "override";
      readonly name: string;
      readonly selects: Selected;
      readonly cluster: string;
      readonly value: string;
    }
  | {
      readonly do: "delete";
      readonly what:
        | "policy"
        | "override"
        | "namespace"
        | "taint-policy"
        | "remedy"
        | "ingress"
        | WorkloadKind;
      readonly name: string;
      readonly namespace?: string;
    }
  | { readonly do: "namespace"; readonly name: string }
  | {
      /** An operator taints a cluster, orders it to be drained, or takes either back. */
      readonly do: "taint";
      readonly member: string;
      readonly effect: TaintEffect | "drain";
      readonly on: boolean;
    }
  | {
      readonly do: "join" | "unjoin";
      readonly member: string;
      /** Of unjoin: whatever is on it, and whether it answers or not. */
      readonly force?: boolean;
    }
  | {
      /** A person's word that a cluster is off; not said of one that answers. */
      readonly do: "fence";
      readonly member: string;
    }
  | {
      /** All evacuations pause, or go on. */
      readonly do: "pause-evacuations";
      /** Only those of this member. */
      readonly member?: string;
      readonly on: boolean;
    }
  | {
      /** The plane is started anew with the gate Failover on or off. */
      readonly do: "gate";
      readonly on: boolean;
    }
  | {
      /** A person decides where a workload runs, in the place of the scheduler. */
      readonly do: "place-by-hand";
      readonly kind: WorkloadKind;
      readonly name: string;
      readonly clusters: readonly string[];
    }
  | {
      /** Somebody changes or deletes a copy in a member. */
      readonly do: "drift";
      readonly member: string;
      readonly kind: WorkloadKind;
      readonly name: string;
      readonly how: "edit" | "delete";
    }
  | OrderStep
  | TrafficStep
  | FederatedStep
);

/** The link of the DNS server to the plane. */
export const NAME_SERVER = "dns/plane";

/** What goes wrong with the pods of a member. */
export type PodTrouble = "pods-not-ready" | "crash" | "start-late" | "stop-late";

/**
 * What goes wrong. Times in seconds; `link` is `plane`, between the controllers and their own API, or a member: between the
 * plane and the member or, where the member pulls, between its agent and the member; `m1/plane` is between that agent and the
 * plane, and so are `lb1/plane` for a load balancer, `m1/a/plane` for a detector and `dns/plane` for the DNS server. A member that pulls is out of reach when its agent is cut off from the plane.
 */
export type Fault =
  | { readonly fault: "crash"; readonly at: number; readonly downFor: number }
  | {
      readonly fault: "crash-at-write";
      /** From 1, counted from the first step on. */
      readonly write: number;
      readonly moment: "before" | "after";
      readonly downFor: number;
      /** It dies a second time, after so many more writes. */
      readonly again?: { readonly after: number; readonly moment: "before" | "after" };
    }
  | { readonly fault: "lost-answer-at-write"; readonly write: number }
  | {
      /** The process of the plane stands still: its timers and what it hears come late, all at once. */
      readonly fault: "pause";
      readonly at: number;
      readonly lasts: number;
    }
  | {
      /** A second set of controllers works on the same API, as when a leader that stood still wakes up. */
      readonly fault: "two-leaders";
      readonly from: number;
      readonly until: number;
    }
  | {
      /** The plane is started anew on data that another version of it wrote. */
      readonly fault: "upgrade";
      readonly at: number;
      readonly downFor: number;
      /** `older` knew fewer marks; `newer` left fields that this one does not know. */
      readonly data: "older" | "newer";
    }
  | {
      readonly fault: "link";
      readonly link: string;
      readonly from: number;
      readonly until: number;
      readonly conditions: LinkConditions;
    }
  | { readonly fault: "reset"; readonly link: string; readonly at: number }
  | {
      /** The API of a member is out of reach and back, in turns; it begins with being out of reach. */
      readonly fault: "flap";
      readonly member: string;
      readonly from: number;
      readonly until: number;
      readonly downFor: number;
      readonly upFor: number;
    }
  | {
      /** Several members are out of reach at once. */
      readonly fault: "mass-failure";
      readonly members: readonly string[];
      readonly from: number;
      readonly until: number;
    }
  | {
      /** A member is out of reach until everything is healed. */
      readonly fault: "member-gone";
      readonly member: string;
      readonly at: number;
    }
  | {
      readonly fault: "member-crash";
      readonly member: string;
      readonly at: number;
      readonly downFor: number;
    }
  | {
      /** A member dies and is restored from a backup of `backupAt`: objects that came later are gone, others are back. */
      readonly fault: "member-restored";
      readonly member: string;
      readonly backupAt: number;
      readonly at: number;
      readonly downFor: number;
    }
  | {
      /** Somebody in the member makes an object of that name before us, and takes it away at the end if it is still theirs. */
      readonly fault: "foreign-object";
      readonly member: string;
      readonly kind: WorkloadKind;
      readonly name: string;
      readonly from: number;
      readonly until: number;
    }
  | {
      readonly fault: "pods";
      readonly member: string;
      readonly from: number;
      readonly until: number;
      readonly kind: PodTrouble;
      /** How much later pods start or stop; 30 s when absent. */
      readonly delayMs?: number;
    }
  | {
      /** What a member answers is not what it holds. */
      readonly fault: "lies";
      readonly member: string;
      readonly how: Lie;
      readonly from: number;
      readonly until: number;
    }
  | {
      /** Somebody in the member holds a copy back from going, by a finalizer of their own. */
      readonly fault: "stuck-finalizer";
      readonly member: string;
      readonly kind: WorkloadKind;
      readonly name: string;
      readonly from: number;
      readonly until: number;
    }
  | {
      /** A member takes no credentials. */
      readonly fault: "unauthorized";
      readonly member: string;
      readonly from: number;
      readonly until: number;
    }
  | {
      /** A member issues another token, which a person writes into the Secret. */
      readonly fault: "token-rotated";
      readonly member: string;
      readonly at: number;
      /** How long after that the old token is taken; negative: so long before that it is not any more. */
      readonly oldEndsAfter: number;
    }
  | {
      /** The wall clock of a member jumps by so much, and stays so. */
      readonly fault: "member-clock";
      readonly member: string;
      readonly at: number;
      readonly stepMs: number;
    }
  | {
      /** The agent of a member that pulls dies. */
      readonly fault: "agent-crash";
      readonly member: string;
      readonly at: number;
      readonly downFor: number;
    }
  | {
      /** The agent of a member that pulls stands still. */
      readonly fault: "agent-pause";
      readonly member: string;
      readonly at: number;
      readonly lasts: number;
    }
  | {
      /** The wall clock of the agent of a member that pulls jumps by so much, and stays so. */
      readonly fault: "agent-clock";
      readonly member: string;
      readonly at: number;
      readonly stepMs: number;
    }
  | {
      /** Somebody has the identity of a member's agent, and writes with it whatever harms others; the agent goes on. */
      readonly fault: "agent-forges";
      readonly member: string;
      readonly from: number;
      readonly until: number;
    }
  | {
      /** A load balancer dies, and serves nothing meanwhile. */
      readonly fault: "balancer-crash";
      readonly balancer: string;
      readonly at: number;
      readonly downFor: number;
    }
  | {
      /** Names do not resolve on the node of a detector. */
      readonly fault: "names-fail";
      readonly detector: string;
      readonly from: number;
      readonly until: number;
    }
  | {
      /** An instance of a detector dies. */
      readonly fault: "detector-crash";
      readonly detector: string;
      readonly at: number;
      readonly downFor: number;
    }
  | {
      /** An instance of a detector stands still. */
      readonly fault: "detector-pause";
      readonly detector: string;
      readonly at: number;
      readonly lasts: number;
    }
  | { readonly fault: "disk-full"; readonly from: number; readonly until: number }
  | { readonly fault: "disk-fail"; readonly at: number; readonly downFor: number }
  | { readonly fault: "clock-skew"; readonly at: number; readonly skewMs: number }
  | {
      /** The wall clock of the running plane jumps by so much. */
      readonly fault: "clock-step";
      readonly at: number;
      readonly stepMs: number;
    };

/** When the last thing that the scenario says is over, in seconds. */
export function endOf({ steps, faults }: Scenario): number {
  return Math.max(0, ...steps.map(({ at }) => at), ...faults.map(endOfFault));
}

function endOfFault(fault: Fault): number {
  if ("until" in fault) return fault.until;
  if (fault.fault === "token-rotated") return fault.at + Math.max(0, fault.oldEndsAfter);
  if (!("at" in fault)) return 0;
  const lasts = "downFor" in fault ? fault.downFor : "lasts" in fault ? fault.lasts : 0;
  return fault.at + lasts;
}

/** The longest wait that the scenario asks for: what is due then happens that long after the last deed, in seconds. */
export function longestWindowOf({ steps, faults, threshold = 30 }: Scenario): number {
  const isBorne = steps.some((step) => "effect" in step && step.effect === "PreferNoExecute");
  const windows = steps.map((step) => windowOf(step, isBorne ? BORNE : 0));
  return threshold + Math.max(0, ...windows, ...faults.map((fault) => doubtOf(fault, faults)));
}

/**
 * How long what a member says is not believed after its versions went back, at the most: a watch that tells nothing, a minute,
 * and pauses. What runs in a member whose clock was set back waits until it shows the same time again, and so may the plane, if
 * its clock was set back while it did not run. A clock that was set back twice shows the same time again after both.
 */
function doubtOf(fault: Fault, faults: readonly Fault[]): number {
  if (fault.fault === "member-clock")
    return faults
      .filter((other) => other.fault === "member-clock")
      .filter(({ member }) => member === fault.member)
      .reduce((sum, { stepMs }) => sum + Math.max(0, -stepMs / 1000), 0);
  if (fault.fault === "clock-skew") return Math.max(0, -fault.skewMs / 1000);
  if (fault.fault !== "lies") return 0;
  return faults.some((other) => isHeardLate(fault, other)) ? BELIEVED : 240;
}

/**
 * How long a lie is believed, at the most, that was heard when it was over: until a watch ends that begins where the lie did and
 * tells nothing, ten minutes, and a pause.
 */
const BELIEVED = 660;

/** Whether a fault lets the plane hear the last answers of a liar when it lies no longer. */
function isHeardLate({ member, until }: Extract<Fault, { fault: "lies" }>, other: Fault): boolean {
  if (other.fault === "pause") return other.at <= until && until <= other.at + other.lasts;
  if (other.fault !== "link" || other.link !== member) return false;
  const { delayMs: [, most] = [0, 0] } = other.conditions;
  // What was asked at the end of the slow time is answered two ways later.
  return most > 0 && other.from <= until && until <= other.until + (2 * most) / 1000;
}

/** How long a PreferNoExecute taint is borne when a policy does not say. */
const BORNE = 300;

function windowOf(step: Step, borne: number): number {
  if (step.do === "taint-policy") return Math.max(step.addAfter, step.removeAfter);
  if (step.do !== "policy") return 0;
  const { tolerates, application } = step;
  const { tolerationSeconds = 0, gracePeriodSeconds = 600 } = application ?? {};
  const ofApplication =
    application?.purgeMode === "Gracefully"
      ? tolerationSeconds + gracePeriodSeconds
      : tolerationSeconds;
  return Math.max(step.failoverAfter ?? borne, tolerates?.seconds ?? 0, ofApplication);
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
