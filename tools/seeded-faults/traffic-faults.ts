/** Seeded faults of load balancers: where requests go, and when an old copy may go after them. */
import type { SeededFault } from "./faults.ts";

const TRAFFIC = "packages/core/src/traffic";
const GUARD = "packages/core/src/failover/eviction-tasks/traffic-guard";

export const trafficFaults: readonly SeededFault[] = [
  {
    promise: "D27",
    breaks: "an old copy waits without end for a load balancer that does not confirm",
    file: `${GUARD}.ts`,
    condition: "traffic-limit",
    replace: "true",
    caughtBy: [`${GUARD}.test.ts`],
  },
  {
    promise: "D27",
    breaks: "the confirmation of one load balancer is enough",
    file: `${TRAFFIC}/confirmation.ts`,
    symbol: "trafficOf.own",
    replace: "original.slice(0, 1)",
    caughtBy: [`${TRAFFIC}/confirmation.test.ts`],
  },
  {
    promise: "D27",
    breaks: "a load balancer whose Lease lapsed is waited for",
    file: `${TRAFFIC}/confirmation.ts`,
    symbol: "trafficTo.fresh",
    replace: "providers",
    caughtBy: [`${TRAFFIC}/confirmation.test.ts`],
  },
  {
    promise: "D27",
    breaks: "a copy waits for requests to a workload that stays behind the same Service",
    file: `${TRAFFIC}/backends.ts`,
    symbol: "clusterOf.keptBy",
    replace: "[] as readonly string[]",
    caughtBy: [`${TRAFFIC}/backends.test.ts`],
  },
  {
    promise: "D16",
    breaks: "an eviction takes the last address of a Service",
    file: `${TRAFFIC}/backends.ts`,
    symbol: "serviceOf.another",
    replace: "true",
    caughtBy: [`${TRAFFIC}/backends.test.ts`],
  },
  {
    promise: "D16",
    breaks: "a cluster without a ready replica is as good as a blocked one that serves",
    file: `${TRAFFIC}/published.ts`,
    symbol: "isEmpty",
    replace: "() => false",
    caughtBy: [`${TRAFFIC}/table.test.ts`],
  },
  {
    promise: "D16",
    breaks: "a block counts on clusters without a ready replica",
    file: "packages/core/src/remedy/ingress/decide.ts",
    symbol: "blockedClusters.isReady",
    replace: "() => true",
    caughtBy: ["packages/core/src/remedy/ingress/ingress.test.ts"],
  },
  {
    promise: "D25",
    breaks: "every user writes where load balancers send requests",
    file: `${TRAFFIC}/protection.ts`,
    symbol: "publishesBackends",
    replace: "() => true",
    caughtBy: ["packages/plane/src/webhook/review.test.ts"],
  },
  {
    promise: "D16",
    breaks: "a load balancer serves nothing where all clusters are blocked or left",
    file: `${TRAFFIC}/table.ts`,
    condition: "some-serve",
    replace: "true",
    caughtBy: [`${TRAFFIC}/table.test.ts`],
  },
  {
    promise: "D16",
    breaks: "the limit removes the last copy that serves the requests of an ingress",
    file: `${TRAFFIC}/confirmation.ts`,
    symbol: "isLastServed",
    replace: "() => false",
    caughtBy: [`${TRAFFIC}/confirmation.test.ts`],
  },
  {
    promise: "D27",
    breaks: "a generation is confirmed by what a load balancer reported under the table before",
    file: "packages/traffic/src/follower.ts",
    symbol: "Follower.#lookedAtLeaving.isCurrent",
    replace: "true",
    caughtBy: ["packages/plane/test/traffic/drain-limit.test.ts"],
  },
  {
    promise: "—",
    breaks: "the gateway sends new requests to a backend that drains",
    file: "packages/traffic/src/adapters/gateway/endpoints.ts",
    symbol: "Backends.choose.serving",
    replace: "(this.#pools.get(pool) ?? []).filter((one) => !tried.has(one))",
    caughtBy: ["packages/traffic/src/adapters/gateway/gateway.test.ts"],
  },
];
