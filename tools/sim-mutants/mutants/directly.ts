/** Seeded bugs for the oracles of group E: mode Directly. */
import type { SimMutant } from "../mutant.ts";

export const directlyMutants: readonly SimMutant[] = [];
