/**
 * What an oracle must know of a scenario to judge it fairly: how the plane was started, and what people and faults do that
 * changes the world without the plane.
 */
import type { Fault, Scenario, Step } from "../scenario/scenario.ts";

export interface Circumstances {
  /** Copies change in members only because the plane says so. */
  readonly membersAreSteady: boolean;
  /** The gate Failover is on at first. */
  readonly failover: boolean;
  /** The gate StatefulFailoverInjection is on. */
  readonly statefulInjection: boolean;
  /** Which plugins may end a graceful eviction; absent: all. */
  readonly plugins?: readonly string[];
  /** When what controllers decide by may be old, or their writes late; in seconds of the scenario. */
  readonly lateTimes: readonly LateTime[];
  /** What a sync of the plane's disk takes, in milliseconds. */
  readonly syncDelayMs: number;
  /** How long the plane may take for what it does at once when nothing is wrong, in milliseconds. */
  readonly patienceMs: number;
  /** When the wall clock of the plane was changed; in seconds of the scenario. */
  readonly clockChanges: readonly number[];
  /** When two sets of controllers may have clocks that differ: one's has jumped; in seconds of the scenario. */
  readonly clocksApart: readonly { readonly from: number; readonly until: number }[];
  /** Nothing goes wrong but that members are lost, and people do nothing then. */
  readonly onlyLosses: boolean;
  /** The members, load balancers and detectors that something happens to. */
  readonly disturbed: ReadonlySet<string>;
  /** The names of workloads that a person places. */
  readonly placedByHand: ReadonlySet<string>;
  /** The members that lie: what the plane does by their word, about their own copies, is not its fault. */
  readonly liars: ReadonlySet<string>;
  /** The members whose agent's identity is in other hands. */
  readonly forgers: ReadonlySet<string>;
  /** The members whose agent may learn late what the plane wants, or do late what it wanted. */
  readonly slowAgents: ReadonlySet<string>;
  /** The members that are restored from a backup. */
  readonly restored: ReadonlySet<string>;
  /**
   * The members at which a write may arrive when nobody waits for it: a second time, after it was answered; or, of two sets of
   * controllers, after the other one has found that nothing is there.
   */
  readonly repeated: ReadonlySet<string>;
  /** What people do, and when. */
  readonly steps: readonly Step[];
  /** More than one set of controllers may be at work. */
  readonly hasTwoLeaders: boolean;
}

/** A stretch of time in which news do not reach the controllers, or late. */
export interface LateTime {
  readonly from: number;
  readonly until: number;
  /** How much later a single request or answer may be, in milliseconds. */
  readonly delayMs: number;
}

/** How long after the trouble is over informers may still wait before they connect anew, in seconds. */
const RECONNECT = 30;
/** How much longer what the plane does may take because of trouble with its own API. */
const LONG_LAG_MS = 180_000;

const PATIENCE_MS = 30_000;

/** Of an undisturbed world with everything off. */
export const PLAIN: Circumstances = {
  membersAreSteady: true,
  failover: false,
  statefulInjection: false,
  lateTimes: [],
  syncDelayMs: 0,
  patienceMs: PATIENCE_MS,
  clockChanges: [],
  clocksApart: [],
  onlyLosses: true,
  disturbed: new Set(),
  placedByHand: new Set(),
  liars: new Set(),
  forgers: new Set(),
  slowAgents: new Set(),
  restored: new Set(),
  repeated: new Set(),
  steps: [],
  hasTwoLeaders: false,
};

export function circumstancesOf(scenario: Scenario): Circumstances {
  const { failover = false, statefulInjection = false, plugins, steps, faults } = scenario;
  const { syncDelayMs = 0 } = scenario;
  return {
    membersAreSteady: !faults.some(movesCopies) && !steps.some((step) => step.do === "drift"),
    failover,
    statefulInjection,
    ...(plugins !== undefined && { plugins }),
    lateTimes: faults.flatMap(lateTimeOf),
    syncDelayMs,
    patienceMs: faults.reduce((sum, fault) => sum + troubleMs(fault), PATIENCE_MS),
    clockChanges: faults.flatMap((fault) =>
      fault.fault === "clock-skew" || fault.fault === "clock-step" ? [fault.at] : [],
    ),
    clocksApart: faults.flatMap((fault) => apartBy(fault, faults)),
    steps,
    liars: new Set(
      faults.flatMap((fault) =>
        fault.fault === "lies" || fault.fault === "agent-forges" ? [fault.member] : [],
      ),
    ),
    forgers: new Set(
      faults.flatMap((fault) => (fault.fault === "agent-forges" ? [fault.member] : [])),
    ),
    slowAgents: new Set(faults.flatMap(slowedBy)),
    repeated: new Set(faults.flatMap((fault) => repeatedBy(fault, scenario))),
    restored: new Set(
      faults.flatMap((fault) => (fault.fault === "member-restored" ? [fault.member] : [])),
    ),
    hasTwoLeaders: hasTwoLeaders(scenario),
    onlyLosses: hasOnlyLosses(scenario),
    disturbed: new Set([
      ...faults.flatMap(disturbedBy),
      ...steps.flatMap((step) => ("member" in step ? (step.member ?? []) : [])),
    ]),
    placedByHand: new Set(
      steps.flatMap((step) => (step.do === "place-by-hand" ? [step.name] : [])),
    ),
  };
}

/** The members that a fault happens to. */
function disturbedBy(fault: Fault): readonly string[] {
  // That names do not resolve is what a detector is for.
  if (fault.fault === "names-fail") return [];
  if ("detector" in fault) return [fault.detector];
  if ("member" in fault) return [fault.member];
  if ("members" in fault) return fault.members;
  if ("balancer" in fault) return [fault.balancer];
  return "link" in fault ? [memberOf(fault.link)] : [];
}

/** The member at one end of a link, or the detector on a node of it. */
function memberOf(link: string): string {
  const parts = link.split("/");
  return parts.length > 2 ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

/** The member whose agent a fault keeps from doing at once what it has just read. */
function slowedBy(fault: Fault): readonly string[] {
  if (fault.fault === "agent-pause") return [fault.member];
  if (fault.fault !== "link") return [];
  const { late, duplicate, delayMs } = fault.conditions;
  const isSlow = late !== undefined || duplicate !== undefined || delayMs !== undefined;
  return isSlow ? [memberOf(fault.link)] : [];
}

/** When a cluster is lost or a person taints it; undefined: this is no loss. */
function lossAt(item: Fault | Step): number | undefined {
  if ("do" in item) return item.do === "taint" && item.on ? item.at : undefined;
  if (item.fault === "member-gone") return item.at;
  if (item.fault === "mass-failure") return item.from;
  const isLost = item.fault === "link" && item.link !== "plane" && item.conditions.down === true;
  return isLost ? item.from : undefined;
}

/** What keeps workloads from leaving long after it was done. */
const HOLDS_BACK: ReadonlySet<string> = new Set(["taint", "pause-some", "set-rate"]);

function hasOnlyLosses({ steps, faults }: Scenario): boolean {
  const first = Math.min(...[...faults, ...steps].map((item) => lossAt(item) ?? Infinity));
  return (
    faults.every((fault) => lossAt(fault) !== undefined) &&
    steps.every(
      (step) => lossAt(step) !== undefined || (!HOLDS_BACK.has(step.do) && step.at < first),
    )
  );
}

/** Whether copies change in members by it. */
function movesCopies(fault: Fault): boolean {
  if (fault.fault === "pods") return fault.kind === "crash" || fault.kind === "pods-not-ready";
  return ["member-crash", "member-restored", "foreign-object"].includes(fault.fault);
}

function hasTwoLeaders({ faults }: Scenario): boolean {
  return faults.some(({ fault }) => fault === "two-leaders");
}

/** The member whose link keeps a write for longer than one who does not know of it waits. */
function repeatedBy(fault: Fault, scenario: Scenario): readonly string[] {
  if (fault.fault !== "link") return [];
  const { duplicate, late, delayMs } = fault.conditions;
  const isUnknown = late !== undefined || delayMs !== undefined;
  return duplicate !== undefined || (isUnknown && hasTwoLeaders(scenario)) ? [fault.link] : [];
}

/** A second set of controllers begins with the clock of the first, and does not jump with it. */
function apartBy(fault: Fault, faults: readonly Fault[]): Circumstances["clocksApart"] {
  if (fault.fault !== "two-leaders") return [];
  const { from, until } = fault;
  return faults
    .filter((other) => other.fault === "clock-step")
    .filter(({ at }) => from <= at && at <= until)
    .map(({ at }) => ({ from: at, until }));
}

/** When a fault keeps news from the controllers. */
function lateTimeOf(fault: Fault): readonly LateTime[] {
  if (fault.fault === "pause")
    return [{ from: fault.at, until: fault.at + fault.lasts, delayMs: fault.lasts * 1000 }];
  if (fault.fault === "disk-full") return [{ from: fault.from, until: fault.until, delayMs: 0 }];
  if (fault.fault === "reset" && fault.link === "plane")
    return [{ from: fault.at, until: fault.at + RECONNECT, delayMs: 0 }];
  if (fault.fault !== "link" || fault.link !== "plane") return [];
  const { from, until, conditions } = fault;
  return [{ from, until: until + RECONNECT, delayMs: conditions.delayMs?.[1] ?? 0 }];
}

/** For how long a fault may keep the plane from doing anything. */
function troubleMs(fault: Fault): number {
  if (lateTimeOf(fault).length > 0 || fault.fault === "two-leaders") return LONG_LAG_MS;
  if (
    "downFor" in fault &&
    !("member" in fault) &&
    !("balancer" in fault) &&
    !("detector" in fault)
  )
    return ("again" in fault ? 2 : 1) * (fault.downFor * 1000 + PATIENCE_MS);
  return 0;
}
