/** Seeded bugs for the oracles of group A: how clusters are found to be faulty, and tainted. */
import type { SimMutant } from "../mutant.ts";

export const detectionMutants: readonly SimMutant[] = [];
