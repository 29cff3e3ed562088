/**
 * Clusters with a taint of the effect PreferNoSchedule that the workload does not tolerate come after those without, the more of them
 * the later. It never outweighs a copy that is there: such a taint moves nothing.
 */
import { toleranceOf } from "../filters/taints.ts";
import type { Score } from "./score.ts";

const EACH = 10;
/** Less than what a cluster is worth because it holds a copy. */
const MOST = 50;

export const preferredTaints: Score = {
  name: "PreferNoSchedule",
  prepare: ({ rules: { tolerations }, moment }, { someTainted }) => {
    if (!someTainted) return undefined;
    const isTolerated = toleranceOf(tolerations, moment);
    return ({ taints }) => {
      let untolerated = 0;
      for (const taint of taints)
        if (taint.effect === "PreferNoSchedule" && !isTolerated(taint)) untolerated += 1;
      return -Math.min(MOST, EACH * untolerated);
    };
  },
};
