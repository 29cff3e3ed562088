/**
 * Which faults met which phases of a failover: a cell never reached was never tested.
 *
 * Rows are the faults of docs/promises.md, by their number there; columns are the phases in the order of a failover. A fault
 * meets the phase in which it begins, and those that come while it lasts. What the simulation cannot do yet is said as such
 * and never counted as reached.
 */
import { unreachable } from "@lifeboat/base";
import type { LinkConditions } from "./network/link.ts";
import { phaseOf, phases } from "./phase.ts";
import type { Truth } from "./oracles/truth.ts";
import type { Fault, Step } from "./scenario/scenario.ts";

/** The faults that the simulation injects, by number. */
const faultRows: ReadonlyMap<string, string> = new Map([
  ["F1", "crash before"],
  ["F2", "crash after"],
  ["F3", "crash, twice"],
  ["F4", "answer lost"],
  ["F5", "429 500 503 410"],
  ["F6", "write repeated"],
  ["F7", "old data is back"],
  ["F8", "events late, cut"],
  ["F9", "partition"],
  ["F10", "slow link"],
  ["F11", "write refused"],
  ["F12", "foreign, drift"],
  ["F13", "pods in trouble"],
  ["F14", "member dies"],
  ["F15", "flapping"],
  ["F16", "mass failure"],
  ["F17", "clock, long stop"],
  ["F18", "two leaders"],
  ["F19", "people's edits"],
  ["F20", "member lies"],
  ["F21", "disk full, fails"],
  ["F22", "short stop"],
  ["F23", "other version"],
  ["F24", "balancer dies"],
  ["F25", "token refused"],
  ["F26", "names fail"],
]);

/** A process that stands still for longer than this is late for its promises, and not only slow. */
const SHORT_PAUSE = 5;

/** The rows that a step belongs to. */
function rowsOfStep(step: Step): readonly string[] {
  return step.do === "drift" ? ["F12"] : ["F19"];
}

/** The rows that a fault belongs to. */
export function rowsOfFault(fault: Fault): readonly string[] {
  switch (fault.fault) {
    case "crash":
      return ["F3"];
    case "crash-at-write": {
      const row = fault.moment === "before" ? "F1" : "F2";
      return fault.again === undefined ? [row] : [row, "F3"];
    }
    case "lost-answer-at-write":
      return ["F4"];
    case "pause":
    case "agent-pause":
      return [fault.lasts <= SHORT_PAUSE ? "F22" : "F17"];
    case "two-leaders":
      return ["F18"];
    case "upgrade":
      return ["F23"];
    case "reset":
      return ["F8"];
    case "flap":
      return ["F15"];
    case "mass-failure":
      return ["F16"];
    case "member-gone":
    case "member-crash":
    case "agent-crash":
      return ["F14"];
    case "member-restored":
      return ["F7", "F14"];
    case "foreign-object":
      return ["F12"];
    case "pods":
    case "stuck-finalizer":
      return ["F13"];
    case "lies":
    case "agent-forges":
      return ["F20"];
    case "balancer-crash":
    case "detector-crash":
      return ["F24"];
    case "names-fail":
      return ["F26"];
    case "detector-pause":
      return ["F22"];
    case "unauthorized":
    case "token-rotated":
      return ["F25"];
    case "disk-full":
    case "disk-fail":
      return ["F21"];
    case "clock-skew":
    case "clock-step":
    case "member-clock":
    case "agent-clock":
      return ["F17"];
    case "link":
      return rowsOfLink(fault.link, fault.conditions);
    default:
      return unreachable(fault);
  }
}

function rowsOfLink(link: string, conditions: LinkConditions): readonly string[] {
  const { partition, down, fail, refuse, missEvents, lose, loseAnswer, duplicate, late, delayMs } =
    conditions;
  return [
    ...(partition === undefined && down !== true ? [] : ["F9"]),
    ...(fail === undefined ? [] : ["F5"]),
    ...(refuse === undefined ? [] : ["F11"]),
    ...(missEvents === undefined ? [] : ["F8", "F5"]),
    ...(lose === undefined && loseAnswer === undefined ? [] : ["F4"]),
    ...(duplicate === undefined && late === undefined ? [] : ["F6"]),
    ...(delayMs === undefined ? [] : [link === "plane" ? "F8" : "F10"]),
  ];
}

/** How long a fault goes on after it began, in seconds; without end: until everything is healed. */
function lastsOf(fault: Fault): number {
  if ("until" in fault) return fault.until - fault.from;
  if ("lasts" in fault) return fault.lasts;
  if ("downFor" in fault) return fault.downFor;
  if (fault.fault === "token-rotated") return Math.abs(fault.oldEndsAfter);
  return fault.fault === "reset" || fault.fault === "lost-answer-at-write" ? 0 : Infinity;
}

/** What changes the phase. */
const TELLING = /^(cluster|work)\.karmada\.io\/|^lifeboat\.dev\/evacuations$|^apps\//;

/** Keeps the cells of one run. */
export class Cells {
  readonly #truth: Truth;
  readonly #now: () => number;
  readonly #met: string[] = [];
  #going: { readonly rows: readonly string[]; readonly until: number; met: Set<string> }[] = [];

  constructor(truth: Truth, now: () => number) {
    this.#truth = truth;
    this.#now = now;
  }

  /** Every fault and step with every phase that it met, as `fault × phase`. */
  get met(): readonly string[] {
    return this.#met;
  }

  stepTaken(step: Step): void {
    const phase = phaseOf(this.#truth);
    for (const row of rowsOfStep(step)) this.#met.push(cellOf(row, phase));
  }

  faultBegan(fault: Fault): void {
    const until = this.#now() + lastsOf(fault) * 1000;
    this.#going.push({ rows: rowsOfFault(fault), until, met: new Set() });
    this.#meet();
  }

  /** Something was written to this table. */
  changed(table: string): void {
    if (this.#going.length > 0 && TELLING.test(table)) this.#meet();
  }

  /** Everything is healed; only what a fault at a write leaves is still to come. */
  healed(): void {
    this.#going = [];
  }

  #meet(): void {
    const phase = phaseOf(this.#truth);
    const now = this.#now();
    for (const { rows, met } of this.#going)
      for (const row of rows) {
        const cell = cellOf(row, phase);
        if (met.has(cell)) continue;
        met.add(cell);
        this.#met.push(cell);
      }
    this.#going = this.#going.filter(({ until }) => until > now);
  }
}

function cellOf(row: string, phase: string): string {
  return `${row} × ${phase}`;
}

/** How many cells there are. */
export const CELLS = faultRows.size * phases.length;

/** The table of cells in eighty columns, and which of them were never reached. */
export function coverageTable(cells: ReadonlyMap<string, number>): string {
  const head = ["", ...phases.map((_, i) => String(i + 1).padStart(4))];
  const rows = [...faultRows].map(([id, what]) => [
    `${id.padEnd(3)} ${what}`,
    ...phases.map((phase) => shortNumber(cells.get(cellOf(id, phase)) ?? 0)),
  ]);
  const columns = phases.map((phase, i) => `${i + 1} ${phase}`).join(", ");
  return [
    layOut([head, ...rows], " "),
    ...wrapped(`Phases: ${columns}.`),
    ...wrapped(neverReached(cells)),
  ].join("\n");
}

function neverReached(cells: ReadonlyMap<string, number>): string {
  const rows = [...faultRows.keys()].flatMap((id) => {
    const missing = phases.flatMap((phase, i) => (cells.has(cellOf(id, phase)) ? [] : [i + 1]));
    return missing.length === 0 ? [] : [`${id} in ${missing.join(" ")}`];
  });
  return rows.length === 0 ? "Every cell was reached." : `Never reached: ${rows.join(", ")}.`;
}

/** In four columns. */
function shortNumber(count: number): string {
  const text = count < 10_000 ? String(count) : `${Math.floor(count / 1000)}k`;
  return (count === 0 ? "-" : text).padStart(4);
}

const COLUMNS = 80;

/** Lines of words that are not longer than eighty columns. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Columns as wide as their widest cell. */
export function layOut(rows: readonly (readonly string[])[], gap = "  "): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(gap))
    .map((line) => line.trimEnd())
    .join("\n");
}
