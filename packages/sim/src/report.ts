/** What a person reads of runs: progress, a broken scenario with its timeline, and the table at the end of a search. */
import { CELLS, coverageTable, layOut } from "./coverage.ts";
import type { Outcome } from "./scenario/run-scenario.ts";
import { describe, type Scenario } from "./scenario/scenario.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const HOURS_OF_YEAR = 8766;
/** In the place of no time at all. */
const EPSILON = 1e-6;

/** What a search remembers of a run; it goes from process to process as JSON. */
export interface RunSummary {
  readonly isBroken: boolean;
  readonly faults: number;
  readonly simulatedMs: number;
  readonly convergedAfterMs: number;
  readonly cells: readonly string[];
  /** What the run cost. */
  readonly cpuMs: number;
}

export function summaryOf(scenario: Scenario, outcome: Outcome, cpuMs: number): RunSummary {
  const { simulatedMs, convergedAfterMs, cells, violations } = outcome;
  const faults = scenario.faults.length;
  return { isBroken: violations.length > 0, faults, simulatedMs, convergedAfterMs, cells, cpuMs };
}

/** Adds up runs, in any order. */
export class Tally {
  runs = 0;
  broken = 0;
  faults = 0;
  simulatedMs = 0;
  cpuMs = 0;
  slowestConvergenceMs = 0;
  /** How many runs were repeated in processes of their own, and ended the same. */
  repeated = 0;
  readonly cells = new Map<string, number>();

  add(run: RunSummary): void {
    this.runs += 1;
    if (run.isBroken) this.broken += 1;
    this.faults += run.faults;
    this.simulatedMs += run.simulatedMs;
    this.cpuMs += run.cpuMs;
    this.slowestConvergenceMs = Math.max(this.slowestConvergenceMs, run.convergedAfterMs);
    for (const cell of run.cells) this.cells.set(cell, (this.cells.get(cell) ?? 0) + 1);
  }

  /** One line of at most eighty columns. `share`: how much of the whole is done, 0 to 1; absent: nobody knows. */
  progress(what: string, share?: number): string {
    const bar = share === undefined ? "" : `${barOf(share)} `;
    const hours = (this.simulatedMs / HOUR_MS).toFixed(1);
    const line = `${bar}${what}: ${this.runs} runs, ${hours} simulated h, ${this.#speed()}x, ${this.broken} broken`;
    return line.slice(0, COLUMNS);
  }

  /** The table at the end. */
  table({ wallMs, workers }: { readonly wallMs: number; readonly workers: number }): string {
    const hours = this.simulatedMs / HOUR_MS;
    return `${coverageTable(this.cells)}\n\n${layOut([
      ["scenarios", String(this.runs)],
      ["simulated time", `${hours.toFixed(1)} h, ${(hours / HOURS_OF_YEAR).toFixed(3)} years`],
      ["workers", String(workers)],
      ["wall time", `${(wallMs / 1000).toFixed(1)} s`],
      ["CPU time of the runs", `${(this.cpuMs / 1000).toFixed(1)} s`],
      ["times real time, of a core", String(this.#speed())],
      [
        "scenarios per CPU minute",
        (this.runs / Math.max(this.cpuMs / MINUTE_MS, EPSILON)).toFixed(1),
      ],
      ["faults injected", String(this.faults)],
      ["cells reached", `${this.cells.size} of ${CELLS}`],
      ["slowest convergence", `${this.slowestConvergenceMs / 1000} s`],
      ["same in fresh processes", String(this.repeated)],
      ["violations", String(this.broken)],
    ])}`;
  }

  /** How many times faster than real time a core simulates. */
  #speed(): number {
    return Math.round(this.simulatedMs / Math.max(this.cpuMs, 1));
  }
}

const COLUMNS = 79;
const BAR = 16;

function barOf(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR);
  return `[${"#".repeat(full)}${".".repeat(BAR - full)}]`;
}

/** How many lines of a timeline are shown, from the end of what people and faults did. */
const SHOWN = 120;

/**
 * What is needed to understand a broken run. Columns of the timeline: seconds since the first step; then a step or fault, or
 * a write as `server change table key @revision`.
 */
export function brokenReport(scenario: Scenario, outcome: Outcome): string {
  const { violations, timeline } = outcome;
  return [
    `seed ${scenario.seed} (${scenario.name}) broke ${violations.length} promises:`,
    ...violations.map(({ oracle, promise, says }) => `  ${oracle}: ${says}\n    ${promise}`),
    "steps and faults:",
    ...scenario.steps.map((step) => `  ${step.at} s ${describe(step)}`),
    ...scenario.faults.map((fault) => `  ${whenOf(fault)} ${describe(fault)}`),
    "timeline:",
    ...timeline.slice(-SHOWN),
  ].join("\n");
}

function whenOf(fault: Scenario["faults"][number]): string {
  if ("from" in fault) return `${fault.from} s`;
  return "at" in fault ? `${fault.at} s` : "";
}
