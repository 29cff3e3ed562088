/** Why the status of a Work is written, or left alone. */
import { defineReasons } from "../../plan.ts";

export const workStatusReasons = defineReasons({
  StatusChanged: "What became of the objects, or their health, is another than was reported.",
  CountersMoved: "Only numbers moved since the last report.",
  CountersHeldBack: "Only numbers moved, and the last report is less than a second old.",
  ContradictionHeldBack:
    "Somebody else reported otherwise, and our own last report is less than a second old.",
  AsReported: "Everything is as it was reported.",
});

export type WorkStatusReason = keyof typeof workStatusReasons;
