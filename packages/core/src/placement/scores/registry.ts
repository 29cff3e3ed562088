/** All scores; a cluster's score is their sum. */
import { clusterLocality } from "./cluster-locality.ts";
import { preferredTaints } from "./preferred-taints.ts";
import type { Score } from "./score.ts";

export const scores: readonly Score[] = [clusterLocality, preferredTaints];
