/** Why the status of a Work is written, or left alone. */
import { defineReasons } from "../../plan.ts";

export const workStatusReasons = defineReasons({
  StatusChanged:
    "The result of applying the objects, or their health, differs from the last report.",
  CountersMoved: "Only numbers moved since the last report.",
  CountersHeldBack: "Only numbers moved, and the last report is less than a second old.",
  ContradictionHeldBack:
    "Another writer changed the status, and the last report is less than a second old.",
  AsReported: "Nothing differs from the last report.",
});

export type WorkStatusReason = keyof typeof workStatusReasons;
