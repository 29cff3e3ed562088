/** Bugs in what people order about evacuations, and in priority. */
import type { SimMutant } from "../mutant.ts";

export const ordersMutants: readonly SimMutant[] = [
  {
    oracle: "unapproved-moves-nobody",
    promise: "D30",
    breaks: "what waits for an approval is put in line",
    file: "packages/controllers/src/failover/evacuation/orders.ts",
    symbol: "Orders.awaitsApproval",
    replace: "() => false",
    caughtIn: ["not-approved"],
  },
  {
    oracle: "paused-clusters-and-namespaces-move-nobody",
    promise: "D7",
    breaks: "a pause of a cluster is not heard",
    file: "packages/core/src/failover/evacuation/pauses.ts",
    symbol: "isClusterPaused",
    replace: "() => false",
    caughtIn: ["paused-cluster"],
  },
  {
    oracle: "paused-clusters-and-namespaces-move-nobody",
    promise: "D7",
    breaks: "a pause of a namespace is not heard",
    file: "packages/core/src/failover/evacuation/pauses.ts",
    symbol: "isNamespacePaused",
    replace: "() => false",
    caughtIn: ["paused-namespace"],
  },
  {
    oracle: "a-rate-of-0-that-a-person-set-holds",
    promise: "D6",
    breaks: "a rate that a person set is not heard",
    file: "packages/core/src/failover/evacuation/rate.ts",
    symbol: "overrideOf",
    replace: "() => undefined",
    caughtIn: ["rate-of-0"],
  },
  {
    oracle: "higher-priorities-go-first",
    promise: "D31",
    breaks: "the lower priority goes first",
    file: "packages/core/src/failover/evacuation/queue.ts",
    symbol: "compareReady",
    replace: "(a: Queued, b: Queued) => -original(a, b)",
    caughtIn: ["priorities"],
  },
  {
    oracle: "returns-once-to-what-is-stable",
    promise: "D31",
    breaks: "a workload returns as soon as its cluster is Ready",
    file: "packages/core/src/operating/failback.ts",
    condition: "stable",
    replace: "false",
    caughtIn: ["ordered"],
  },
];
