/**
 * How the pods of a quorum start (annotation `federation.kubernetes.io/quorum`): the first cluster's share forms the quorum, then
 * the others join it, one pod after the other.
 *
 * 1. The first cluster is the one with the lowest number: it stays the first whatever joins later.
 * 2. The next pod starts only when every pod that was started in a living cluster is ready, and no pod that left is still
 *    there. Dead clusters are not waited for: the others must be able to grow. Only a quorum that is not formed yet is waited
 *    for: there is nothing to join.
 * 3. What was started stays started: only a smaller share takes a pod away.
 * 4. A set that ran before it became a quorum goes on with what runs.
 * 5. The pods that form the quorum are its founders, until they were ready together once. A pod that is made again later, even
 *    on an empty volume, must join and never form a second quorum.
 */
import { isStillGoing } from "./departure.ts";
import type { FederatedRecord } from "./record.ts";

export interface StartView {
  readonly record: FederatedRecord;
  /** By cluster: how many replicas the present result gives it. */
  readonly running: ReadonlyMap<string, number>;
  /** By cluster: how many pods are reported ready. */
  readonly ready: ReadonlyMap<string, number>;
  /** By cluster: how many pods are reported to exist. */
  readonly present: ReadonlyMap<string, number>;
  readonly living: ReadonlySet<string>;
}

/** How many replicas of each share are started, and how many of them form the quorum. */
export interface Start {
  readonly started: ReadonlyMap<string, number>;
  readonly founders: ReadonlyMap<string, number>;
}

/** What is started from now on. */
export function decideStart(view: StartView): Start {
  const { record, running, ready, living } = view;
  const { shares } = record;
  const started = new Map<string, number>();
  for (const [name, share] of shares) {
    const before = (record.started ?? running).get(name) ?? 0;
    if (before > 0) started.set(name, Math.min(before, share));
  }
  const order = startOrder(record);
  const [first] = order;
  const founders = foundersOf(view, started);
  if (first === undefined) return { started, founders };
  if (started.size === 0) {
    const share = shares.get(first) ?? 0;
    return { started: new Map([[first, share]]), founders: new Map(founders).set(first, share) };
  }
  const isWaiting = [...started].some(
    ([name, count]) => living.has(name) && (ready.get(name) ?? 0) < count,
  );
  const isForming = [...founders.values()].some((count) => count > 0);
  // seed: still-waiting
  if (isWaiting || isForming || record.leaving !== undefined) return { started, founders };
  if (isStillGoing(view.present, started, living)) return { started, founders };
  const next = order.find(
    (name) => living.has(name) && (started.get(name) ?? 0) < (shares.get(name) ?? 0),
  );
  if (next !== undefined) started.set(next, (started.get(next) ?? 0) + 1);
  return { started, founders };
}

/** The clusters with a share, in the order of their numbers. */
export function startOrder({
  shares,
  numbers,
}: Pick<FederatedRecord, "shares" | "numbers">): readonly string[] {
  return [...shares.keys()].toSorted(
    (a, b) => (numbers.get(a) ?? Infinity) - (numbers.get(b) ?? Infinity),
  );
}

/** Of a set that ran before, nothing forms any more; else the founders count until all of them are ready together. */
function foundersOf(
  { record, ready, living }: StartView,
  started: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const before = record.founders ?? new Map([...started.keys()].map((name) => [name, 0]));
  const forming = [...before].map(
    ([name, count]) => [name, Math.min(count, started.get(name) ?? 0)] as const,
  );
  const isFormed = forming.every(
    ([name, count]) => count === 0 || (living.has(name) && (ready.get(name) ?? 0) >= count),
  );
  return new Map(forming.map(([name, count]) => [name, isFormed ? 0 : count]));
}

/** The shares as far as they are started: all of them, unless the set is a quorum. */
export function startedShares({ started, shares }: FederatedRecord): ReadonlyMap<string, number> {
  return started ?? shares;
}

/** How a pod comes to the quorum: it forms it, or joins it; undefined: the set was never a quorum. */
export function joiningState(
  { founders }: Pick<FederatedRecord, "founders">,
  cluster: string,
  ordinal: number,
): "new" | "existing" | undefined {
  if (founders === undefined) return undefined;
  return ordinal < (founders.get(cluster) ?? 0) ? "new" : "existing";
}
