export { type Fields, integerAt, listAt, textAt, textsAt, valueAt } from "./fields.ts";
export { formatOrigin, originOf, renderedIdentity } from "./origin.ts";
export { defineReasons, type Plan, type PlannedCondition, type PlannedEvent } from "./plan.ts";
export * as wellKnown from "./well-known.ts";
