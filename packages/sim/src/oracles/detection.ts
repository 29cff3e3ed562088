/** Oracles of group A: how clusters are found to be faulty, and tainted. */
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [];

export const convergedOracles: readonly ConvergedOracle[] = [];
