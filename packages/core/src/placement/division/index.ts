export { hashBytes, safeHash } from "./hash.ts";
export { divideByWeights, type Weight } from "./webster.ts";
