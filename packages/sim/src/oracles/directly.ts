/** Oracles of group E: mode Directly, where the old copy is gone before the new one comes. */
import { parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { isDirectly } from "./reading.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "one-cluster-at-a-time",
    promise: "D10: in mode Directly pods of a workload are in one cluster at any time",
    on: "members",
    tables: ["/pods"],
    start:
      (truth) =>
      ({ row }) => {
        if (row.type !== "ADDED") return [];
        const app = parseObject(row.bytes).metadata.labels?.["app"] ?? "";
        if (!isDirectly(truth, app)) return [];
        const members = truth.membersWithPods(app, truth.members());
        return members.length <= 1 ? [] : [`pods of ${app} are in ${members.join(" and ")}`];
      },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [];
