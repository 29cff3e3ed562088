/** Oracles of group K: the store and its API. */
import { parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "deletion-is-final",
    promise: "K4: what bears finalizers is marked before it goes, and the mark stays",
    on: "both",
    start:
      () =>
      ({ server, table, key, row, previous }) => {
        if (previous === undefined) return [];
        const { finalizers = [], deletionTimestamp } = previous.object.metadata;
        if (row.type === "DELETED")
          return finalizers.length === 0 || deletionTimestamp !== undefined
            ? []
            : [`${server} ${table} ${key} vanished with ${finalizers.join(", ")}`];
        const now = deletionTimestamp === undefined ? undefined : parseObject(row.bytes).metadata;
        return now === undefined || now.deletionTimestamp !== undefined
          ? []
          : [`${server} ${table} ${key} lost its deletionTimestamp`];
      },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [];
