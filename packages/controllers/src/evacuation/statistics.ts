/** What left the queue of each cluster and how, kept in memory for the metrics while the cluster has a queue. */
import type { Instant } from "@lifeboat/base";

const WINDOW_MS = 60_000;

interface Line {
  /** When somebody left the queue, oldest first. */
  left: Instant[];
  released: number;
  /** Held or abandoned: the uids, each of which counts once. */
  readonly unsuccessful: Set<string>;
}

export class Statistics {
  readonly #lines = new Map<string, Line>();

  released(cluster: string, uid: string, now: Instant): void {
    const line = this.#lineOf(cluster);
    line.left.push(now);
    line.released += 1;
    line.unsuccessful.delete(uid);
  }

  unsuccessful(cluster: string, uid: string): void {
    this.#lineOf(cluster).unsuccessful.add(uid);
  }

  /** Per second, over the last minute. */
  rate(cluster: string, now: Instant): number {
    const line = this.#lineOf(cluster);
    const first = line.left.findIndex((at) => at > now - WINDOW_MS);
    line.left = first < 0 ? [] : line.left.slice(first);
    return line.left.length / (WINDOW_MS / 1000);
  }

  /** 1 while nothing was tried. */
  successRate(cluster: string): number {
    const { released, unsuccessful } = this.#lineOf(cluster);
    const tried = released + unsuccessful.size;
    return tried === 0 ? 1 : released / tried;
  }

  forget(cluster: string): void {
    this.#lines.delete(cluster);
  }

  #lineOf(cluster: string): Line {
    const known = this.#lines.get(cluster);
    if (known !== undefined) return known;
    const line: Line = { left: [], released: 0, unsuccessful: new Set() };
    this.#lines.set(cluster, line);
    return line;
  }
}
