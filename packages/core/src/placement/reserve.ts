/**
 * What a binding has promised to clusters and their status does not show yet: the replicas given to a cluster without
 * those that its copy reports. It follows from the binding alone, so a restart forgets nothing.
 *
 * A copy that was applied and reports no count of replicas counts as visible whole.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { resultOf } from "../binding/index.ts";
import { countAt, integerAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import { type Amounts, readAmounts } from "./candidate.ts";
import type { Target } from "./view.ts";

export interface RoomReservation {
  readonly cluster: string;
  readonly amounts: Amounts;
}

/** `targets`: the result that counts, the binding's own or one that is being written. */
export function reservationsOf(
  binding: Pick<ResourceBinding, "spec" | "status">,
  targets: readonly Target[] = resultOf(binding),
): readonly RoomReservation[] {
  const { spec, status } = binding;
  if (listAt(spec, "components").length > 1) return NOTHING;
  const reservations: RoomReservation[] = [];
  let request: Amounts | undefined;
  for (const { name, replicas = 0 } of targets) {
    const hidden = replicas > 0 ? replicas - visible(status, name, replicas) : 0;
    if (hidden <= 0) continue;
    request ??= readAmounts(valueAt(spec, "replicaRequirements", "resourceRequest"));
    const amounts = new Map<string, number>([["pods", hidden]]);
    for (const [resource, amount] of request) amounts.set(resource, amount * hidden);
    reservations.push({ cluster: name, amounts });
  }
  return reservations;
}

/** What all bindings together have promised, by cluster (`PlacementView.reserved`). */
export function reservedBy(bindings: readonly ResourceBinding[]): Map<string, Map<string, number>> {
  const reserved = new Map<string, Map<string, number>>();
  for (const { cluster, amounts } of bindings.flatMap((binding) => reservationsOf(binding))) {
    const sums = reserved.get(cluster) ?? new Map<string, number>();
    for (const [name, amount] of amounts) sums.set(name, (sums.get(name) ?? 0) + amount);
    reserved.set(cluster, sums);
  }
  return reserved;
}

/** Counts a binding in `reserved` with the result `to` instead of `from`; absent: its own. */
export function movePromise(
  reserved: Map<string, Map<string, number>>,
  binding: ResourceBinding,
  from: readonly Target[] | undefined,
  to: readonly Target[] | undefined,
): void {
  const add = (given: readonly Target[] | undefined, sign: number): void => {
    for (const { cluster, amounts } of reservationsOf(binding, given)) {
      const sums = reserved.get(cluster) ?? new Map<string, number>();
      for (const [name, amount] of amounts) sums.set(name, (sums.get(name) ?? 0) + sign * amount);
      reserved.set(cluster, sums);
    }
  };
  add(from, -1);
  add(to, 1);
}

const NOTHING: readonly never[] = Object.freeze([]);

function visible(status: unknown, cluster: string, replicas: number): number {
  const item = listAt(status, "aggregatedStatus").find(
    (one) => textAt(one, "clusterName") === cluster,
  );
  if (item === undefined) return 0;
  const reported = integerAt(item, "status", "replicas");
  if (reported !== undefined) return Math.min(replicas, countAt(item, "status", "replicas"));
  const isApplied = valueAt(item, "applied") === true && isFields(valueAt(item, "status"));
  return isApplied ? replicas : 0;
}
