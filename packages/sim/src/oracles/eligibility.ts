/** Oracles of group B: the gate, and who is moved at all. */
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [];

export const convergedOracles: readonly ConvergedOracle[] = [];
