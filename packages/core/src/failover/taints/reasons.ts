/** Why the taints of a cluster change, or stay. */
import { defineReasons } from "../../plan.ts";

export const taintReasons = defineReasons({
  TaintsChanged: "Taint policies added taints to the cluster or removed taints they had added.",
  Remembered: "The taints stay; when a window began or ended, or a removal by hand, is remembered.",
  Waiting: "A window has not passed yet.",
  Settled: "The taints are what the policies want.",
});

export type TaintReason = keyof typeof taintReasons;
