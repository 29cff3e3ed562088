/**
 * Since when requests leave a pool: when a backend of it last ceased to serve, or was taken out. A change of anything else is no
 * drain, and moves no time.
 */
import type { RoutingTable } from "@lifeboat/core/traffic";

interface Seen {
  readonly serving: ReadonlySet<string>;
  readonly since: number;
}

export class DrainTimes {
  #pools: ReadonlyMap<string, Seen> = new Map();

  /** A table was carried out; times are monotonic. */
  saw({ pools }: RoutingTable, now: number): void {
    const seen = new Map<string, Seen>();
    for (const { id, backends } of pools) {
      const before = this.#pools.get(id);
      const serving = new Set(
        backends
          .filter(({ state }) => state === "serving")
          .map(({ cluster, address, port }) => `${cluster} ${address} ${port}`),
      );
      const hasLost = [...(before?.serving ?? [])].some((one) => !serving.has(one));
      seen.set(id, { serving, since: before === undefined || hasLost ? now : before.since });
    }
    // A pool that is not in the table any more: its requests are those of backends that were taken out.
    for (const [id, { serving, since }] of this.#pools)
      if (!seen.has(id) && (serving.size > 0 || since > now - FORGOTTEN_MS))
        seen.set(id, { serving: new Set(), since: serving.size > 0 ? now : since });
    this.#pools = seen;
  }

  /** Of a pool that is not known any more the drain is long over. */
  since(pool: string): number {
    return this.#pools.get(pool)?.since ?? Number.NEGATIVE_INFINITY;
  }
}

const FORGOTTEN_MS = 3_600_000;
