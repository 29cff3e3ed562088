export { defineReasons, type Plan, type PlannedCondition, type PlannedEvent } from "./plan.ts";
