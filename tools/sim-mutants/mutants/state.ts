/** Seeded bugs for the oracles of group F: preserved state. */
import type { SimMutant } from "../mutant.ts";

export const stateMutants: readonly SimMutant[] = [];
