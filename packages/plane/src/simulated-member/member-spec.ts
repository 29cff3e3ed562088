/** What a SimulatedMember's spec means for the model of the member. */
import type { SimulatedMember } from "@lifeboat/api";
import { MEMBER_DEFAULTS, type MemberOptions } from "@lifeboat/members";

export type SimulatedMemberSpec = SimulatedMember["spec"];

const DEFAULT_CAPACITY = Object.freeze({ cpu: "32", memory: "128Gi", pods: "250" });

/** The options of the model of a member. Pure. */
export function modelOptions(spec: SimulatedMemberSpec): MemberOptions {
  const capacity = { ...DEFAULT_CAPACITY, ...textsOf(spec.nodeCapacity ?? {}) };
  const { nodes: count = 1, podStartSeconds = 1, podStopSeconds = 1 } = spec;
  const nodes = Array.from({ length: count }, (_, i) => ({ name: `node-${i + 1}`, capacity }));
  return {
    ...MEMBER_DEFAULTS,
    nodes,
    startDelayMs: podStartSeconds * 1000,
    stopDelayMs: podStopSeconds * 1000,
  };
}

function textsOf(capacity: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, String(amount)]),
  );
}
