/** Oracles of group F: state that goes with a workload. */
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [];

export const convergedOracles: readonly ConvergedOracle[] = [];
