/** Oracles of group C: the queue of evictions and its rate. */
import type { ResourceBinding } from "@lifeboat/api";
import { parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { BINDINGS, tasksOf } from "./reading.ts";

/** 0.5 per second. */
const EVICTION_INTERVAL_MS = 2000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "evictions-keep-the-rate",
    promise: "D6: workloads are evicted for taints at most at the rate of the fleet",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) => {
      if (change.row.type !== "MODIFIED" || change.previous === undefined) return [];
      const now = parseObject(change.row.bytes) as unknown as ResourceBinding;
      const before = tasksOf(change.previous.object as unknown as ResourceBinding);
      const added = [...tasksOf(now)].filter((cluster) => !before.has(cluster));
      if (added.length === 0 || (now.spec.replicas ?? 0) === 0) return [];
      const last = truth.evictions.at(-1);
      truth.evictions.push(change.at);
      const waitedMs = last === undefined ? Infinity : change.at - last;
      return waitedMs >= EVICTION_INTERVAL_MS
        ? []
        : [`${change.key} was evicted ${waitedMs} ms after another`];
    },
  },
  {
    name: "one-task-per-cluster",
    promise: "C7: a binding has at most one eviction task per cluster",
    on: "plane",
    tables: BINDINGS,
    start:
      () =>
      ({ key, row }) => {
        if (row.type === "DELETED") return [];
        const { spec } = parseObject(row.bytes) as unknown as ResourceBinding;
        const { gracefulEvictionTasks = [] } = spec;
        return new Set(gracefulEvictionTasks.map((task) => task.fromCluster)).size ===
          gracefulEvictionTasks.length
          ? []
          : [`${key} has two tasks for one cluster`];
      },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [];
