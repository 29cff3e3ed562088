/** Why the taints of a cluster change, or stay. */
import { defineReasons } from "../../plan.ts";

export const taintReasons = defineReasons({
  TaintsChanged: "Taint policies added taints to the cluster or removed taints they had added.",
  Remembered: "The taints stay; the start or end of a window, or a removal by hand, is recorded.",
  Waiting: "A window has not passed yet.",
  Settled: "The taints are what the policies want.",
});

export type TaintReason = keyof typeof taintReasons;
