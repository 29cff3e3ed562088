/** Clusters that hold a copy come first: moving is the last resort. */
import type { Score } from "./score.ts";

export const clusterLocality: Score = {
  name: "ClusterLocality",
  prepare: () => (_candidate, holdsCopy) => (holdsCopy ? 100 : 0),
};
