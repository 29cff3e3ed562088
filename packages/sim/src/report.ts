/** What a person reads of runs: a broken scenario with its timeline, and the table at the end of a search. */
import { coverageTable, layOut } from "./coverage.ts";
import type { Outcome } from "./scenario/run-scenario.ts";
import { describe, type Scenario } from "./scenario/scenario.ts";

/** Adds up runs. */
export class Tally {
  runs = 0;
  broken = 0;
  faults = 0;
  simulatedMs = 0;
  slowestConvergenceMs = 0;
  readonly cells = new Map<string, number>();

  add(scenario: Scenario, outcome: Outcome): void {
    this.runs += 1;
    if (outcome.violations.length > 0) this.broken += 1;
    this.faults += scenario.faults.length;
    this.simulatedMs += outcome.simulatedMs;
    this.slowestConvergenceMs = Math.max(this.slowestConvergenceMs, outcome.convergedAfterMs);
    for (const cell of outcome.cells) this.cells.set(cell, (this.cells.get(cell) ?? 0) + 1);
  }

  /** `cpuMs`: what the runs cost. */
  table(cpuMs: number): string {
    const hours = this.simulatedMs / 3_600_000;
    return `${coverageTable(this.cells)}\n\n${layOut([
      ["scenarios", String(this.runs)],
      ["simulated hours", hours.toFixed(1)],
      ["CPU seconds", (cpuMs / 1000).toFixed(1)],
      ["times real time", String(Math.round(this.simulatedMs / Math.max(cpuMs, 1)))],
      ["faults injected", String(this.faults)],
      ["cells reached", String(this.cells.size)],
      ["slowest convergence", `${this.slowestConvergenceMs / 1000} s`],
      ["violations", String(this.broken)],
    ])}`;
  }
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
    ...scenario.faults.map((fault) => `  ${describe(fault)}`),
    "timeline:",
    ...timeline.slice(-SHOWN),
  ].join("\n");
}
