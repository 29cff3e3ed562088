/** The Events about taints that policies added and removed, each with the names of the policies. */
import type { Cluster, ClusterTaintPolicy } from "@lifeboat/api";
import type { PlannedEvent } from "../../plan.ts";
import { type HeldTaint, type PolicyMemory, taintId } from "./record.ts";

type Taint = NonNullable<Cluster["spec"]["taints"]>[number];

/** The taints of a cluster, and by their ids the names of the policies that added them; "": it is deleted. */
interface Tainted {
  readonly taints: readonly Taint[];
  readonly holders: ReadonlyMap<string, readonly string[]>;
}

export function holdersOf(
  memories: Iterable<readonly [string, PolicyMemory]>,
  policies: readonly ClusterTaintPolicy[],
): Tainted["holders"] {
  const names = new Map(policies.map(({ metadata }) => [metadata.uid, metadata.name]));
  const holders = new Map<string, string[]>();
  for (const [uid, { added }] of memories)
    for (const one of added) {
      const known = holders.get(taintId(one)) ?? [];
      holders.set(taintId(one), [...known, names.get(uid) ?? ""].sort());
    }
  return holders;
}

/** One Event for all that changed, with the policies that did it. */
export function eventsOf(before: Tainted, after: Tainted): readonly PlannedEvent[] {
  const old = new Set(before.taints.map(taintId));
  const now = new Set(after.taints.map(taintId));
  const added = [...now].filter((id) => !old.has(id));
  const removed = [...old].filter((id) => !now.has(id));
  const said = [
    ...byPolicies(added, after.holders).map(([names, ids]) => `${names} added ${ids}`),
    ...byPolicies(removed, before.holders).map(([names, ids]) =>
      names === ""
        ? `A deleted ClusterTaintPolicy had added ${ids}, which is removed`
        : `${names} removed ${ids}`,
    ),
  ];
  if (said.length === 0) return [];
  return [{ type: "Normal", reason: "TaintClusterSucceed", message: `${said.join("; ")}.` }];
}

/** Taints together with those of the same policies. */
function byPolicies(
  ids: readonly string[],
  holders: Tainted["holders"],
): readonly (readonly [names: string, ids: string])[] {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const names = (holders.get(id) ?? []).filter((name) => name !== "");
    const kind = names.length === 1 ? "ClusterTaintPolicy" : "ClusterTaintPolicies";
    const label = names.length === 0 ? "" : `${kind} ${names.join(", ")}`;
    groups.set(label, [...(groups.get(label) ?? []), id]);
  }
  return [...groups].map(([names, some]) => [names, some.join(", ")] as const);
}

export function removedByHandEvent(policy: string, taint: HeldTaint): PlannedEvent {
  return {
    type: "Normal",
    reason: "TaintRemovedByHand",
    message:
      `The taint ${taintId(taint)} of the ClusterTaintPolicy ${policy} was removed by hand; ` +
      "it stays off until the conditions of the policy stop matching once.",
  };
}
