/** The hand-written rules of all built-in kinds, by `apiVersion/Kind`. */
import type { KindRulesTable } from "../kind-rules.ts";

export const kindRules: KindRulesTable = {};
export { ageOf, humanDuration } from "./human-duration.ts";
