/** Seeded bugs for the oracles of group B: the gate, and who is moved at all. */
import type { SimMutant } from "../mutant.ts";

export const eligibilityMutants: readonly SimMutant[] = [];
