/** Which members that pull are silent since when, and whether so many that the control plane may be cut off itself (D6). */
import type { Cluster, KubeObject } from "@lifeboat/api";
import { parseObject } from "../disk/ledger.ts";
import { isGoing, readyOf } from "./reading.ts";
import { CLUSTERS, type Truth } from "./truth.ts";

/** A minute, but for whole seconds at both ends. */
const TOGETHER_MS = 58_000;

const silences = new WeakMap<Truth, Silences>();

/** Which Pull clusters are silent since when. */
export class Silences {
  readonly #since = new Map<string, number>();
  readonly #counted = new Set<string>();
  /** Since when more than half are silent together. */
  #manySince = Infinity;
  /** When that was last over. */
  endedAt = Number.NEGATIVE_INFINITY;

  private constructor({ ledger }: Truth) {
    for (const { object } of ledger.objects("plane", CLUSTERS))
      this.#put(object as KubeObject as Cluster, Number.NEGATIVE_INFINITY);
    ledger.onChange((change) => {
      if (change.server !== "plane" || change.table !== CLUSTERS) return;
      const { row, at, previous } = change;
      if (row.type === "DELETED") this.#forget(previous?.object.metadata.name ?? "");
      else this.#put(parseObject(row.bytes) as KubeObject as Cluster, at);
      const isMany = this.#together() !== undefined;
      if (!isMany && this.#manySince < Infinity) this.endedAt = at;
      this.#manySince = isMany ? Math.min(this.#manySince, at) : Infinity;
    });
  }

  static of(truth: Truth): Silences {
    const found = silences.get(truth) ?? new Silences(truth);
    silences.set(truth, found);
    return found;
  }

  /** Those that are silent together since before this moment; undefined: they are not so many. */
  togetherUntil(moment: number): string | undefined {
    return this.#manySince < moment ? this.#together() : undefined;
  }

  #together(): string | undefined {
    const times = [...this.#since.values()];
    const most = Math.max(
      0,
      ...times.map(
        (first) => times.filter((at) => at >= first && at <= first + TOGETHER_MS).length,
      ),
    );
    const isMany = most >= 2 && 2 * most > this.#counted.size;
    return isMany ? `${most} of ${this.#counted.size} Pull clusters` : undefined;
  }

  #put(cluster: Cluster, at: number): void {
    const { name } = cluster.metadata;
    const ready = readyOf(cluster);
    if (cluster.spec.syncMode !== "Pull" || isGoing(cluster) || ready === undefined)
      return this.#forget(name);
    this.#counted.add(name);
    if (ready !== "Unknown") this.#since.delete(name);
    else if (!this.#since.has(name)) this.#since.set(name, at);
  }

  #forget(name: string): void {
    this.#counted.delete(name);
    this.#since.delete(name);
  }
}
