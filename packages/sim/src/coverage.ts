/**
 * Which faults met which phases of a failover: a cell never reached was never tested.
 *
 * Rows are the faults of the fault matrix, by their number there; columns are the phases in the order of a failover. What
 * the simulation cannot do yet is said as such and never counted as reached.
 */
import { findCondition, type ResourceBinding } from "@lifeboat/api";
import type { Truth } from "./oracles/truth.ts";
import type { Fault } from "./scenario/scenario.ts";

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

/** The faults that the simulation knows, by number; the others of the matrix are not built yet. */
export const faultRows: ReadonlyMap<string, string> = new Map([
  ["F1", "crash before a write"],
  ["F2", "crash after a write"],
  ["F3", "crash at any time"],
  ["F4", "answer lost, request applied or not"],
  ["F5", "429, 500, 503"],
  ["F6", "duplicate delivery"],
  ["F8", "events late, streams cut"],
  ["F9", "partition, full and one-way"],
  ["F10", "slow member"],
  ["F13", "pods never ready or crashing"],
  ["F14", "member dies and returns"],
  ["F17", "clock off by minutes"],
  ["F21", "disk full or failing"],
]);

/** Those of the matrix that need parts or faults that are not built. */
export const notYet: readonly string[] = [
  "F7",
  "F11",
  "F12",
  "F15",
  "F16",
  "F18",
  "F19",
  "F20",
  "F22",
  "F23",
  "F24",
  "F25",
];

/** The phases that `phaseOf` cannot tell yet. */
export const unbuiltPhases: ReadonlySet<Phase> = new Set<Phase>(["window running"]);

/** The rows that a fault belongs to. */
export function faultsOf(fault: Fault): readonly string[] {
  switch (fault.fault) {
    case "crash":
      return ["F3"];
    case "crash-at-write":
      return [fault.moment === "before" ? "F1" : "F2"];
    case "lost-answer-at-write":
      return ["F4"];
    case "reset":
      return ["F8"];
    case "member-crash":
      return ["F14"];
    case "pods":
      return ["F13"];
    case "disk-full":
    case "disk-fail":
      return ["F21"];
    case "clock-skew":
      return ["F17"];
    case "link": {
      const { partition, down, fail, lose, loseAnswer, duplicate, delayMs } = fault.conditions;
      return [
        ...(partition === undefined && down !== true ? [] : ["F9"]),
        ...(fail === undefined ? [] : ["F5"]),
        ...(lose === undefined && loseAnswer === undefined ? [] : ["F4"]),
        ...(duplicate === undefined ? [] : ["F6"]),
        ...(delayMs === undefined ? [] : [fault.link === "plane" ? "F8" : "F10"]),
      ];
    }
  }
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
    ...phases.map((phase) => cellText(cells.get(`${id} × ${phase}`), phase)),
  ]);
  const unbuilt = notYet.map((id) => [id, ...phases.map(() => "not yet")]);
  return layOut([head, ...rows, ...unbuilt]);
}

function cellText(count: number | undefined, phase: Phase): string {
  if (count !== undefined) return String(count);
  return unbuiltPhases.has(phase) ? "not yet" : "0";
}

/** Columns as wide as their widest cell. */
export function layOut(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")).join("\n");
}
