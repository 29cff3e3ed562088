/**
 * The queue of all entries that wait to be released: one line per faulty cluster and lane, served in turn (D6).
 *
 * 1. Clusters take turns: a cluster with a long line delays the others by one release per round.
 * 2. Within a line, the entry that may leave earlier goes first; of entries with the same time, the one recorded first.
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
  /** Its place among those that are due at the same time. */
  readonly order: number;
}

interface Line<T extends Queued> {
  readonly heap: Heap<T>;
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
    const line = lines.get(item.cluster) ?? { heap: new Heap<T>(compareQueued), live: new Map() };
    lines.set(item.cluster, line);
    line.live.set(item.id, item);
    line.heap.push(item);
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
    for (const name of this.#lines[lane].keys()) {
      const dueAt = this.#head(lane, name)?.dueAt;
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
    const head = this.#head(lane, cluster);
    return head !== undefined && head.dueAt <= now ? head : undefined;
  }

  /** The first of a line; what was removed or put in again meanwhile is dropped from the heap on the way. */
  #head(lane: Lane, cluster: string): T | undefined {
    const line = this.#lines[lane].get(cluster);
    if (line === undefined) return undefined;
    for (let head = line.heap.peek(); head !== undefined; head = line.heap.peek()) {
      if (line.live.get(head.id) === head) return head;
      line.heap.pop();
    }
    return undefined;
  }
}

function compareQueued(a: Queued, b: Queued): number {
  return a.dueAt - b.dueAt || a.order - b.order || compareText(a.id, b.id);
}
