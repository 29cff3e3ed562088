/**
 * Oracles of K10: what the plane writes down of its own accord stays within bounds, however long it runs and whatever flaps.
 *
 * Judged as things are written, so that a table that grows is seen when it passes its bound, and not when a disk is full.
 * Works have their bounds in H1 and H2. Events, queues and the buffers of watches are on no disk: tests of the packages that
 * have them show their bounds.
 */
import type { Evacuation, EvacuationSlice, KubeObject } from "@lifeboat/api";
import { type Committed, parseObject } from "../disk/ledger.ts";
import { SLICES } from "./decisions.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { EVACUATIONS, evacuationsOf } from "./pauses.ts";
import type { Truth } from "./truth.ts";

/** Ten are kept (D7), one may be under way, and the oldest goes after the newest has come. */
const MOST_EVACUATIONS = 12;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "evacuations-are-forgotten",
    promise: "K10: of each cluster the last ten evacuations are kept, and no more (D7)",
    on: "plane",
    tables: [EVACUATIONS],
    start: (truth) => (change) => {
      const cluster = clusterOf(change);
      if (cluster === undefined || change.previous !== undefined) return [];
      const count = countOf(truth, cluster);
      return count > MOST_EVACUATIONS ? [`there are ${count} evacuations of ${cluster}`] : [];
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "no-slice-outlives-its-evacuation",
    promise: "K10: what was written down of an evacuation goes with it",
    judge: (truth) => {
      const known = new Set(evacuationsOf(truth).map(({ metadata }) => metadata.name));
      return truth.ledger
        .objects("plane", SLICES)
        .map(({ object }) => object as KubeObject as EvacuationSlice)
        .filter(({ spec }) => !known.has(spec.evacuation))
        .map(({ metadata }) => `${metadata.name} is left`);
    },
  },
];

function clusterOf({ row }: Committed): string | undefined {
  if (row.type === "DELETED") return undefined;
  return (parseObject(row.bytes) as KubeObject as Evacuation).spec.cluster;
}

function countOf(truth: Truth, cluster: string): number {
  return evacuationsOf(truth).filter(({ spec }) => spec.cluster === cluster).length;
}
