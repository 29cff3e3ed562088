/**
 * Which faults met which phases of a failover: a cell never reached was never tested.
 *
 * Rows are the faults of the fault matrix, by their number there; columns are the phases in the order of a failover. What
 * the simulation cannot do yet is said as such and never counted as reached.
 */
import { findCondition, type ResourceBinding } from "@lifeboat/api";
import { unreachable } from "@lifeboat/base";
import type { Truth } from "./oracles/truth.ts";
import type { LinkConditions } from "./network/link.ts";
import type { Fault, Step } from "./scenario/scenario.ts";

export const phases = [
  "healthy",
  "detected",
  "window running",
  "tainted",
  "queued",
  "decided",
  "scheduled",
  "new starting",
  "new healthy",
  "old deleting",
  "done",
  "recovering",
] as const;

export type Phase = (typeof phases)[number];

/** The faults of the matrix that the simulation knows, by number. */
export const faultRows: ReadonlyMap<string, string> = new Map([
  ["F1", "crash before a write"],
  ["F2", "crash after a write"],
  ["F3", "crash at any time, in a recovery too"],
  ["F4", "answer lost, applied or not"],
  ["F5", "429, 500, 503, 410"],
  ["F6", "a write arrives twice"],
  ["F7", "versions go back in a member"],
  ["F8", "events late or missed, streams cut"],
  ["F9", "partition, full and one-way"],
  ["F10", "slow link"],
  ["F11", "a member refuses writes"],
  ["F12", "objects of somebody else, drift"],
  ["F13", "pods late, not ready, crashing"],
  ["F14", "member dies, returns, on old disk"],
  ["F15", "flapping"],
  ["F16", "several members at once"],
  ["F17", "clock off, steps, long pause"],
  ["F18", "two leaders"],
  ["F19", "people's edits"],
  ["F21", "disk full or failing"],
  ["F22", "short pauses"],
  ["F23", "data of another version"],
]);

/** Those that need parts that are not built: agents, and the providers and certificates of traffic. */
export const notYet: ReadonlyMap<string, string> = new Map([
  ["F20", "a member that lies"],
  ["F24", "DNS and load balancers"],
  ["F25", "certificates"],
]);

/** A process that stands still for longer than this is late for its promises, and not only slow. */
const SHORT_PAUSE = 5;

/** The rows that a step belongs to. */
export function rowsOfStep(step: Step): readonly string[] {
  return step.do === "drift" ? ["F12"] : ["F19"];
}

/** The rows that a fault belongs to. */
export function faultsOf(fault: Fault): readonly string[] {
  switch (fault.fault) {
    case "crash":
      return ["F3"];
    case "crash-at-write":
      return [fault.moment === "before" ? "F1" : "F2"];
    case "lost-answer-at-write":
      return ["F4"];
    case "pause":
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
      return ["F14"];
    case "member-restored":
      return ["F7", "F14"];
    case "foreign-object":
      return ["F12"];
    case "pods":
      return ["F13"];
    case "disk-full":
    case "disk-fail":
      return ["F21"];
    case "clock-skew":
    case "clock-step":
      return ["F17"];
    case "link":
      return rowsOfLink(fault.link, fault.conditions);
    default:
      return unreachable(fault);
  }
}

function rowsOfLink(link: string, conditions: LinkConditions): readonly string[] {
  const { partition, down, fail, refuse, missEvents, lose, loseAnswer, duplicate, delayMs } =
    conditions;
  return [
    ...(partition === undefined && down !== true ? [] : ["F9"]),
    ...(fail === undefined ? [] : ["F5"]),
    ...(refuse === undefined ? [] : ["F11"]),
    ...(missEvents === undefined ? [] : ["F8", "F5"]),
    ...(lose === undefined && loseAnswer === undefined ? [] : ["F4"]),
    ...(duplicate === undefined ? [] : ["F6"]),
    ...(delayMs === undefined ? [] : [link === "plane" ? "F8" : "F10"]),
  ];
}

/** Where the fleet as a whole stands: the furthest that any workload has come. */
export function phaseOf(truth: Truth): Phase {
  const clusters = truth.clusters();
  const faulty = new Set(
    clusters
      .filter(({ spec }) => (spec.taints ?? []).some(({ effect }) => effect !== "NoSchedule"))
      .map(({ metadata }) => metadata.name),
  );
  const evicted = truth
    .bindings()
    .filter(({ spec }) => (spec.gracefulEvictionTasks ?? []).length > 0);
  const [binding] = evicted;
  if (binding !== undefined) return phaseOfEvicted(truth, binding);
  const going = truth.works().some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (faulty.size > 0) {
    if (going) return "old deleting";
    if (truth.evictions.length === 0) return "tainted";
    const waits = truth
      .bindings()
      .some(({ spec }) => spec.clusters?.some(({ name }) => faulty.has(name)));
    return waits ? "queued" : "done";
  }
  const isReady = (cluster: (typeof clusters)[number]): boolean =>
    findCondition(cluster.status?.conditions, "Ready")?.status === "True";
  if (clusters.some((cluster) => !isReady(cluster))) return "detected";
  const isTainted = clusters.some(({ spec }) => (spec.taints ?? []).length > 0);
  return isTainted || truth.evictions.length > 0 ? "recovering" : "healthy";
}

function phaseOfEvicted(truth: Truth, { spec }: ResourceBinding): Phase {
  const targets = (spec.clusters ?? []).map(({ name }) => name);
  if (targets.length === 0) return "decided";
  const { kind, namespace = "", name } = spec.resource;
  const table = kind === "StatefulSet" ? "apps/statefulsets" : "apps/deployments";
  const there = targets.filter(
    (cluster) => truth.ledger.find(cluster, table, `${namespace}/${name}`) !== undefined,
  );
  if (there.length === 0) return "scheduled";
  const ready = truth.healthyCopies(table, `${namespace}/${name}`, targets);
  return ready.length === 0 ? "new starting" : "new healthy";
}

/** The table of cells, as text. */
export function coverageTable(cells: ReadonlyMap<string, number>): string {
  const head = ["", ...phases];
  const rows = [...faultRows].map(([id, what]) => [
    `${id} ${what}`,
    ...phases.map((phase) => String(cells.get(`${id} × ${phase}`) ?? 0)),
  ]);
  const unbuilt = [...notYet].map(([id, what]) => [
    `${id} ${what}`,
    ...phases.map(() => "not yet"),
  ]);
  return layOut([head, ...rows, ...unbuilt]);
}

/** Columns as wide as their widest cell. */
export function layOut(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")).join("\n");
}
