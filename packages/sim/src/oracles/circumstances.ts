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
  /** How old what a controller decides by may be, in milliseconds. */
  readonly lagMs: number;
  /** How old what a controller has just read may be when the write that follows takes effect, in milliseconds. */
  readonly roundTripMs: number;
  /** How long the plane may take for what it does at once when nothing is wrong, in milliseconds. */
  readonly patienceMs: number;
  /** The clock of the plane is right. */
  readonly clockIsTrue: boolean;
  /** The names of workloads that a person places. */
  readonly placedByHand: ReadonlySet<string>;
  /** The members that lie: what the plane does by their word, about their own copies, is not its fault. */
  readonly liars: ReadonlySet<string>;
  /** What people do, and when. */
  readonly steps: readonly Step[];
  /** More than one set of controllers may be at work. */
  readonly hasTwoLeaders: boolean;
}

const LAG_MS = 2000;
/** Where events are late or lost, or the plane stands still. */
const LONG_LAG_MS = 180_000;

const PATIENCE_MS = 30_000;

/** Of an undisturbed world with everything off. */
export const PLAIN: Circumstances = {
  membersAreSteady: true,
  failover: false,
  statefulInjection: false,
  lagMs: LAG_MS,
  roundTripMs: 0,
  patienceMs: PATIENCE_MS,
  clockIsTrue: true,
  placedByHand: new Set(),
  liars: new Set(),
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
    lagMs: faults.some(makesLate) ? LONG_LAG_MS : LAG_MS,
    roundTripMs: 2 * (syncDelayMs + Math.max(0, ...faults.map(slowestMs))),
    patienceMs: faults.reduce((sum, fault) => sum + troubleMs(fault), PATIENCE_MS),
    clockIsTrue: !faults.some(({ fault }) => fault === "clock-skew" || fault === "clock-step"),
    steps,
    liars: new Set(faults.flatMap((fault) => (fault.fault === "lies" ? [fault.member] : []))),
    hasTwoLeaders: faults.some(({ fault }) => fault === "two-leaders"),
    placedByHand: new Set(
      steps.flatMap((step) => (step.do === "place-by-hand" ? [step.name] : [])),
    ),
  };
}

/** Whether copies change in members by it. */
function movesCopies(fault: Fault): boolean {
  if (fault.fault === "pods") return fault.kind === "crash" || fault.kind === "pods-not-ready";
  return ["member-crash", "member-restored", "foreign-object"].includes(fault.fault);
}

/** How much later something between controllers and their API may happen. */
function slowestMs(fault: Fault): number {
  if (fault.fault === "pause") return fault.lasts * 1000;
  if (fault.fault !== "link" || fault.link !== "plane") return 0;
  return fault.conditions.delayMs?.[1] ?? 0;
}

/** Whether controllers may decide by what was true long ago. */
function makesLate(fault: Fault): boolean {
  if (fault.fault === "link" || fault.fault === "reset") return fault.link === "plane";
  return ["pause", "two-leaders", "disk-full"].includes(fault.fault);
}

/** For how long a fault may keep the plane from doing anything. */
function troubleMs(fault: Fault): number {
  if (makesLate(fault)) return LONG_LAG_MS;
  if ("downFor" in fault && !("member" in fault))
    return ("again" in fault ? 2 : 1) * (fault.downFor * 1000 + PATIENCE_MS);
  return 0;
}
