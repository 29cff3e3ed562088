/** What a person reads of runs: progress, a broken scenario with its timeline, and the table at the end of a search. */
import { CELLS, coverageTable, layOut } from "./coverage.ts";
import type { Outcome } from "./scenario/run-scenario.ts";
import { describe, type Scenario } from "./scenario/scenario.ts";

const HOUR_MS = 3_600_000;

/** Adds up runs. */
export class Tally {
  runs = 0;
  broken = 0;
  faults = 0;
  simulatedMs = 0;
  slowestConvergenceMs = 0;
  /** How many runs were repeated in processes of their own, and ended the same. */
  repeated = 0;
  readonly cells = new Map<string, number>();

  add(scenario: Scenario, outcome: Outcome): void {
    this.runs += 1;
    if (outcome.violations.length > 0) this.broken += 1;
    this.faults += scenario.faults.length;
    this.simulatedMs += outcome.simulatedMs;
    this.slowestConvergenceMs = Math.max(this.slowestConvergenceMs, outcome.convergedAfterMs);
    for (const cell of outcome.cells) this.cells.set(cell, (this.cells.get(cell) ?? 0) + 1);
  }

  /** One line of at most eighty columns. `share`: how much of the whole is done, 0 to 1; absent: nobody knows. */
  progress(what: string, cpuMs: number, share?: number): string {
    const bar = share === undefined ? "" : `${barOf(share)} `;
    const hours = (this.simulatedMs / HOUR_MS).toFixed(1);
    const line = `${bar}${what}: ${this.runs} runs, ${hours} simulated h, ${this.speed(cpuMs)}x, ${this.broken} broken`;
    return line.slice(0, COLUMNS).padEnd(COLUMNS);
  }

  /** How many times faster than real time a core simulates. */
  speed(cpuMs: number): number {
    return Math.round(this.simulatedMs / Math.max(cpuMs, 1));
  }

  /** `cpuMs`: what the runs cost. */
  table(cpuMs: number): string {
    return `${coverageTable(this.cells)}\n\n${layOut([
      ["scenarios", String(this.runs)],
      ["simulated hours", (this.simulatedMs / HOUR_MS).toFixed(1)],
      ["CPU seconds", (cpuMs / 1000).toFixed(1)],
      ["times real time", String(this.speed(cpuMs))],
      ["faults injected", String(this.faults)],
      ["cells reached", `${this.cells.size} of ${CELLS}`],
      ["slowest convergence", `${this.slowestConvergenceMs / 1000} s`],
      ["same in fresh processes", String(this.repeated)],
      ["violations", String(this.broken)],
    ])}`;
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
