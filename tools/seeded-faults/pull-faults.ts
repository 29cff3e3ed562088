/** Seeded faults of Pull clusters: silence, stale and stray copies, and an agent that is cut off. */
import type { SeededFault } from "./faults.ts";

export const pullFaults: readonly SeededFault[] = [
  {
    promise: "D26",
    breaks: "a report of a stray copy is believed whatever Work it names",
    file: "packages/core/src/propagation/works/stray-report.ts",
    symbol: "readReport",
    replace: "(value: unknown) => [value as StrayReport]",
    caughtBy: ["packages/core/src/propagation/works/stray-report.test.ts"],
  },
  {
    promise: "D26",
    breaks: "a stray copy goes although its binding asks for it",
    file: "packages/core/src/propagation/works/stray.ts",
    symbol: "judgeStray",
    replace: '(): StrayVerdict => "remove"',
    caughtBy: ["packages/core/src/propagation/works/stray.test.ts"],
  },
  {
    promise: "A2",
    breaks: "a Pull cluster that is silent stays Ready",
    file: "packages/core/src/failover/health/heartbeat.ts",
    symbol: "decideHeartbeat",
    replace: '(): HeartbeatPlan => ({ reason: "Heard" })',
    caughtBy: ["packages/core/src/failover/health/heartbeat.test.ts"],
  },
  {
    promise: "D25",
    breaks: "a bootstrap token gets the identity that writes the rights of agents, as an agent's",
    file: "packages/core/src/clusters/certificates/request.ts",
    symbol: "asksToWriteRights",
    replace: "() => false",
    caughtBy: ["packages/core/src/clusters/certificates/certificates.test.ts"],
  },
  {
    promise: "D25",
    breaks: "a watch outlives the certificate that opened it",
    file: "packages/apiserver/src/adapters/tls-server.ts",
    symbol: "endWithCertificate",
    replace: "() => undefined",
    caughtBy: ["packages/plane/src/revocations.test.ts"],
  },
  {
    promise: "D11",
    breaks: "a cluster that returns gets work while stale copies run there",
    file: "packages/core/src/failover/eviction-tasks/stale-copies.ts",
    symbol: "conditionOf",
    replace: "() => undefined",
    caughtBy: ["packages/core/src/failover/eviction-tasks/stale-copies.test.ts"],
  },
  {
    promise: "D11",
    breaks: "an agent that is cut off acts on what it last heard",
    file: "packages/controllers/src/member-side/execution/still-wanted.ts",
    symbol: "onServer",
    replace:
      "(_plane: Client, work: Work, _signal: AbortSignal): Promise<Work | undefined> => Promise.resolve(work)",
    caughtBy: ["packages/controllers/src/member-side/execution/endorsed.test.ts"],
  },
  {
    promise: "—",
    breaks: "what a hostile member sends in the place of an object is taken for one",
    file: "packages/kit/src/informer.ts",
    symbol: "objectOf",
    replace: "<T extends KubeObject>(object: T): T => object",
    caughtBy: ["packages/kit/src/informer.test.ts"],
  },
];
