/** Faults in what people order about evacuations: approvals, pauses, the rate, priority (D6, D30, D31). */
import type { SeededFault } from "./faults.ts";

const ORDERS = "packages/controllers/src/failover/evacuation/orders.test.ts";
const CORE = "packages/core/src/failover/evacuation";

export const orderFaults: readonly SeededFault[] = [
  {
    promise: "D30",
    breaks: "the fleet's switch for approvals is not heard",
    file: `${CORE}/approval.ts`,
    symbol: "needsApproval",
    replace:
      '(entry: { readonly approval?: string | undefined }, taint: TaintIdentity): boolean => !isDrainTaint(taint) && entry.approval === "Required"',
    caughtBy: [`${CORE}/approval.test.ts`, ORDERS],
  },
  {
    promise: "D30",
    breaks: "an approval never expires",
    file: `${CORE}/approval.ts`,
    symbol: "expiryOf",
    replace: "(): number => Infinity",
    caughtBy: [`${CORE}/approval.test.ts`, ORDERS],
  },
  {
    promise: "D30",
    breaks: "what waits for an approval is put in line",
    file: "packages/controllers/src/failover/evacuation/orders.ts",
    symbol: "Orders.awaitsApproval",
    replace: "(): boolean => false",
    caughtBy: [ORDERS],
  },
  {
    promise: "D6",
    breaks: "a rate that a person set holds for ever",
    file: `${CORE}/rate.ts`,
    symbol: "overrideUntil.endsAt",
    replace: "due(setAt, (until - setAt) * 1000)",
    caughtBy: [`${CORE}/rate.test.ts`, ORDERS],
  },
  {
    promise: "D6",
    breaks: "a pause of a cluster is not heard",
    file: `${CORE}/pauses.ts`,
    symbol: "isClusterPaused",
    replace: "(): boolean => false",
    caughtBy: [`${CORE}/pauses.test.ts`, ORDERS],
  },
  {
    promise: "D6",
    breaks: "a pause of a namespace is not heard",
    file: `${CORE}/pauses.ts`,
    symbol: "isNamespacePaused",
    replace: "(): boolean => false",
    caughtBy: [ORDERS],
  },
  {
    promise: "D31",
    breaks: "the lower priority leaves first",
    file: `${CORE}/queue.ts`,
    symbol: "compareReady",
    replace:
      "(a: Queued, b: Queued): number => a.priority - b.priority || a.dueAt - b.dueAt || a.order - b.order",
    caughtBy: [`${CORE}/queue.test.ts`, ORDERS],
  },
  {
    promise: "D31",
    breaks: "a workload returns again and again after one outage",
    file: "packages/core/src/operating/failback.ts",
    condition: "returned-once",
    replace: "false",
    caughtBy: ["packages/core/src/operating/failback.test.ts"],
  },
  {
    promise: "D31",
    breaks: "a workload returns as soon as its cluster is Ready",
    file: "packages/core/src/operating/failback.ts",
    condition: "stable",
    replace: "false",
    caughtBy: ["packages/core/src/operating/failback.test.ts"],
  },
  {
    promise: "D31",
    breaks: "a workload returns although a person put it elsewhere",
    file: "packages/core/src/failover/evacuation/own-result.ts",
    symbol: "isWrittenByPlane",
    replace: "(): boolean => true",
    caughtBy: ["packages/core/src/operating/failback.test.ts"],
  },
  {
    promise: "D7",
    breaks: "a foreseen failure takes every workload for one with a whole copy elsewhere",
    file: "packages/core/src/operating/foresee.ts",
    symbol: "hasWholeCopy",
    replace: "(): boolean => true",
    caughtBy: ["packages/core/src/operating/foresee.test.ts"],
  },
  {
    promise: "D7",
    breaks: "a foreseen failure takes room from the next one",
    file: "packages/core/src/operating/foresee.ts",
    marked: "promises-taken-back",
    replace: ";",
    caughtBy: ["packages/core/src/operating/foresee.test.ts"],
  },
  {
    promise: "D7",
    breaks: "a foreseen failure does not know the rate that a person set",
    file: "packages/core/src/operating/foresee.ts",
    symbol: "Foresight.#rateAt.override",
    replace: "undefined",
    caughtBy: ["packages/core/src/operating/foresee.test.ts"],
  },
  {
    promise: "D10",
    breaks:
      "the shares that are left of a workload that waits for a fence count as the whole of it",
    file: "packages/sim/src/what-if/outcome.ts",
    symbol: "outcomeOf.waits",
    replace: "false",
    caughtBy: ["packages/sim/src/what-if/play-failure.test.ts"],
  },
];
