/** Seeded bugs about members that pull. */
import type { SimMutant } from "../mutant.ts";

export const agentsMutants: readonly SimMutant[] = [
  {
    oracle: "unknown-follows-silence",
    promise: "A2",
    breaks: "half of the grace period is enough",
    file: "packages/core/src/failover/health/heartbeat.ts",
    symbol: "decideHeartbeat",
    replace: "(view) => original({ ...view, graceMs: view.graceMs / 2 })",
    caughtIn: ["agent-silent-for-a-moment"],
  },
  {
    oracle: "silence-is-noticed",
    promise: "A2",
    breaks: "silence is never noticed",
    file: "packages/core/src/failover/health/heartbeat.ts",
    symbol: "decideHeartbeat",
    replace: '() => ({ reason: "Heard" })',
    caughtIn: ["agent-silent-for-long"],
  },
  {
    oracle: "nothing-moves-when-most-are-silent",
    promise: "C11",
    breaks: "silence of most Pull clusters stops nothing",
    file: "packages/core/src/failover/evacuation/rate.ts",
    condition: "may-be-isolated",
    replace: "false",
    caughtIn: ["most-agents-silent"],
  },
  {
    oracle: "no-first-copy-that-nothing-wants",
    promise: "E9",
    breaks: "an agent makes every copy that a Work holds",
    file: "packages/core/src/propagation/works/first-copy.ts",
    symbol: "isEndorsed",
    replace: "() => true",
    caughtIn: ["evicted-before-the-agent-heard"],
  },
  {
    oracle: "agents-change-only-their-own",
    promise: "H9",
    breaks: "an agent may write whatever its rights let through",
    file: "packages/core/src/clusters/rights/agent-admission.ts",
    symbol: "agentRefusal",
    replace: "() => undefined",
    caughtIn: ["agent-identity-in-other-hands"],
  },
  {
    oracle: "nothing-is-left-going",
    promise: "H6",
    breaks: "the rights of an agent go before its Works do",
    file: "packages/controllers/src/clusters/lifecycle/create-cluster-controller.ts",
    symbol: "isPull",
    replace: "() => false",
    caughtIn: ["agent-away-while-its-cluster-leaves"],
  },
];
