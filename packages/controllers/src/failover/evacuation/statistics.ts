/**
 * What the metrics of a cluster's queue need to remember, by the monotonic clock and in memory: when workloads left the queue, for
 * `evict_rate`, and when the cluster recovered. Its series stay for a time after that: what ends between two scrapes is never seen.
 */
const WINDOW_MS = 60_000;
/** For so long after its recovery the series of a cluster stay. */
const KEPT_MS = 300_000;

export class Statistics {
  /** By cluster, oldest first. */
  readonly #left = new Map<string, number[]>();

  /** By cluster whose series are shown; undefined: it is faulty. */
  readonly #recoveredAt = new Map<string, number | undefined>();

  released(cluster: string, now: number): void {
    const left = this.#left.get(cluster);
    if (left === undefined) this.#left.set(cluster, [now]);
    else left.push(now);
  }

  /** Per second, over the last minute. */
  rate(cluster: string, now: number): number {
    const left = (this.#left.get(cluster) ?? []).filter((at) => at > now - WINDOW_MS);
    if (left.length === 0) this.#left.delete(cluster);
    else this.#left.set(cluster, left);
    return left.length / (WINDOW_MS / 1000);
  }

  /** For how long the series of a cluster stay: without end while it is faulty; 0: there are none. */
  shownForMs(cluster: string, isFaulty: boolean, now: number): number {
    if (isFaulty) {
      this.#recoveredAt.set(cluster, undefined);
      return Infinity;
    }
    if (!this.#recoveredAt.has(cluster)) return 0;
    const recoveredAt = this.#recoveredAt.get(cluster) ?? now;
    this.#recoveredAt.set(cluster, recoveredAt);
    return Math.max(0, recoveredAt + KEPT_MS - now);
  }

  forget(cluster: string): void {
    this.#left.delete(cluster);
    this.#recoveredAt.delete(cluster);
  }
}
