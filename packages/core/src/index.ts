export { type Fields, listAt } from "./fields.ts";
export { defineReasons, type Plan, type PlannedCondition, type PlannedEvent } from "./plan.ts";
export * as wellKnown from "./well-known.ts";
