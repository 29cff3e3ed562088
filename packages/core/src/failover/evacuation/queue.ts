/**
 * The queue of all entries that wait to be released: one line per faulty cluster and lane, served in turn (D6).
 *
 * 1. Clusters take turns: a cluster with a long line delays the others by one release per round.
 * 2. Of the entries of a line that may leave now, the one with the higher priority goes first (D31); of those with the same, the
 *    one that may leave for longest; then the one recorded first. One that may not leave yet delays none, whatever its priority.
 * 3. The caller serves the second lane only when no entry of the first may leave now.
 * 4. Adding an entry again changes its place; taking or removing an entry forgets it.
 * 5. An entry that was taken and not released costs its cluster no turn: otherwise a few entries that cannot move would
 *    delay all others of their cluster for as long as another line lasts.
 */
import { Heap, type Instant } from "@lifeboat/base";
import { compareText } from "../../fields.ts";

export type Lane = "Workload" | "Passive";

export interface Queued {
  readonly cluster: string;
  /** Of the binding in its evacuation, unique within a cluster. */
  readonly id: string;
  readonly lane: Lane;
  /** Not before this. */
  readonly dueAt: Instant;
  /** Higher goes first among those that may go. */
  readonly priority: number;
  /** Its place among those that are due at the same time. */
  readonly order: number;
}

interface Line<T extends Queued> {
  /** By the time from which they may go; those of which that time has come are in `ready`. */
  readonly later: Heap<T>;
  /** In the order in which they go. */
  readonly ready: Heap<T>;
  readonly live: Map<string, T>;
}

export class EvictionQueue<T extends Queued> {
  readonly #lines: Readonly<Record<Lane, Map<string, Line<T>>>> = {
    Workload: new Map(),
    Passive: new Map(),
  };
  /** The cluster that was served last; its successor by name is next. Or, not served, the one whose turn it is. */
  readonly #turn: Record<Lane, { readonly cluster: string; readonly isServed: boolean }> = {
    Workload: { cluster: "", isServed: true },
    Passive: { cluster: "", isServed: true },
  };

  put(item: T): void {
    this.remove(item);
    const lines = this.#lines[item.lane];
    const line = lines.get(item.cluster) ?? {
      later: new Heap<T>(compareTimes),
      ready: new Heap<T>(compareReady),
      live: new Map(),
    };
    lines.set(item.cluster, line);
    line.live.set(item.id, item);
    line.later.push(item);
  }

  remove({ cluster, id, lane }: Pick<T, "cluster" | "id" | "lane">): void {
    const lines = this.#lines[lane];
    const line = lines.get(cluster);
    if (line === undefined || !line.live.delete(id)) return;
    if (line.live.size === 0) lines.delete(cluster);
  }

  /** Takes the next that may go now out of the queue. */
  take(lane: Lane, now: Instant): T | undefined {
    const cluster = this.#inTurn(lane).find((name) => this.#first(lane, name, now) !== undefined);
    if (cluster === undefined) return undefined;
    const item = this.#first(lane, cluster, now);
    if (item === undefined) return undefined;
    this.remove(item);
    // seed: turn-taken
    this.#turn[lane] = { cluster, isServed: true };
    return item;
  }

  /** An entry was taken and not released: it is still the turn of its cluster. Of several entries, call this for the first one last. */
  giveTurnBack({ lane, cluster }: Pick<T, "lane" | "cluster">): void {
    this.#turn[lane] = { cluster, isServed: false };
  }

  /** When the next entry may go; undefined: no entry waits in this lane. */
  nextDueAt(lane: Lane): Instant | undefined {
    let earliest: Instant | undefined;
    for (const line of this.#lines[lane].values())
      for (const heap of [line.ready, line.later]) {
        const dueAt = headOf(line, heap)?.dueAt;
        if (dueAt !== undefined && (earliest === undefined || dueAt < earliest)) earliest = dueAt;
      }
    return earliest;
  }

  /** How many wait, due or not. */
  sizeOf(lane: Lane, cluster?: string): number {
    const lines = this.#lines[lane];
    if (cluster !== undefined) return lines.get(cluster)?.live.size ?? 0;
    let size = 0;
    for (const { live } of lines.values()) size += live.size;
    return size;
  }

  #inTurn(lane: Lane): readonly string[] {
    const names = [...this.#lines[lane].keys()].sort(compareText);
    const { cluster, isServed } = this.#turn[lane];
    const next = names.findIndex((name) => compareText(name, cluster) >= (isServed ? 1 : 0));
    return next <= 0 ? names : [...names.slice(next), ...names.slice(0, next)];
  }

  #first(lane: Lane, cluster: string, now: Instant): T | undefined {
    const line = this.#lines[lane].get(cluster);
    if (line === undefined) return undefined;
    for (let next = headOf(line, line.later); next !== undefined && next.dueAt <= now;) {
      line.later.pop();
      line.ready.push(next);
      next = headOf(line, line.later);
    }
    for (let head = headOf(line, line.ready); head !== undefined;) {
      if (head.dueAt <= now) return head;
      // The clock was set back.
      line.ready.pop();
      line.later.push(head);
      head = headOf(line, line.ready);
    }
    return undefined;
  }
}

/** The first of a heap; what was removed or put in again meanwhile is dropped from the heap on the way. */
function headOf<T extends Queued>({ live }: Line<T>, heap: Heap<T>): T | undefined {
  for (let head = heap.peek(); head !== undefined; head = heap.peek()) {
    if (live.get(head.id) === head) return head;
    heap.pop();
  }
  return undefined;
}

function compareTimes(a: Queued, b: Queued): number {
  return a.dueAt - b.dueAt;
}

function compareReady(a: Queued, b: Queued): number {
  return (
    b.priority - a.priority || a.dueAt - b.dueAt || a.order - b.order || compareText(a.id, b.id)
  );
}
