/** Seeded faults of replicas that share out members: whether a replica may act, and the second opinion (A2, K5). */
import type { SeededFault } from "./faults.ts";

const SHARES = "packages/core/src/clusters/shares";

export const shareFaults: readonly SeededFault[] = [
  {
    promise: "A2",
    breaks: "a cluster turns not Ready without a second opinion",
    file: "packages/core/src/failover/health/ready.ts",
    symbol: "decideReady.isAgreed",
    replace: "true",
    caughtBy: ["packages/core/src/failover/health/ready.test.ts"],
  },
  {
    promise: "A2",
    breaks: "an answer to an earlier question counts as a second opinion",
    file: `${SHARES}/opinion.ts`,
    symbol: "secondOpinion",
    replace: `(replicas: readonly ReplicaView[], member: string) =>
      original(replicas, member, secondOf(replicas, member)?.report.answers.get(member)?.question ?? "")`,
    caughtBy: [`${SHARES}/shares.test.ts`],
  },
  {
    promise: "A2",
    breaks: "a replica that lost its own network still reports",
    file: `${SHARES}/sight.ts`,
    symbol: "decideSight",
    replace: '(): SightPlan => ({ isBlind: false, reason: "Alone" })',
    caughtBy: [`${SHARES}/shares.test.ts`],
  },
  {
    promise: "K5",
    breaks: "a replica acts on when its Lease was not renewed",
    file: `${SHARES}/claim.ts`,
    symbol: "actsUntil",
    replace: "() => Infinity",
    caughtBy: [`${SHARES}/shares.prop.test.ts`],
  },
  {
    promise: "K5",
    breaks: "a new replica acts before the others know of it",
    file: `${SHARES}/claim.ts`,
    symbol: "renewed.knownFrom",
    replace: "at",
    caughtBy: [`${SHARES}/shares.prop.test.ts`],
  },
];
