/** When somebody left the queue of each cluster, by the monotonic clock, kept in memory for `evict_rate` while the cluster has a queue. */
const WINDOW_MS = 60_000;

export class Statistics {
  /** By cluster, oldest first. */
  readonly #left = new Map<string, number[]>();

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

  forget(cluster: string): void {
    this.#left.delete(cluster);
  }
}
