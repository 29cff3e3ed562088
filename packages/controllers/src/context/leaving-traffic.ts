/**
 * What load balancers confirm about the copies that are leaving: the view of the guard TrafficDrained (D27).
 *
 * A Lease is fresh for its duration after this process saw it change: the clocks of load balancers do not matter. After a start
 * every Lease counts as fresh for that long.
 */
import { formatKey, keyOf, type MultiClusterIngress, type ObjectKey } from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import { tasksOf } from "@lifeboat/core/binding";
import type { LeavingTraffic } from "@lifeboat/core/failover/eviction-tasks";
import { bindingsBehind, providerOn, trafficTo } from "@lifeboat/core/traffic";
import { type ControllerWatch, type Lease, watching } from "@lifeboat/kit";
import type { Binding } from "./bindings.ts";
import type { PlaneContext } from "./context.ts";

/** How long a Lease that states no duration is fresh. */
const DEFAULT_LEASE_S = 15;

/** How long the guard waits for load balancers. */
export interface TrafficWaits {
  /** Where none of ours can confirm that a copy gets no requests. */
  readonly trafficDrainTimeoutMs: number;
  /** Where some of ours run, and do not confirm it. */
  readonly trafficDrainLimitMs: number;
}

export class LeavingTrafficView {
  readonly #context: Pick<PlaneContext, "clock" | "informers">;
  readonly #waits: TrafficWaits;
  /** By Lease: when it last changed, in monotonic time. */
  readonly #seen = new Map<string, number>();
  /** By binding and cluster: since when nothing but traffic keeps its copy. */
  readonly #since = new Map<string, Instant>();

  constructor(context: Pick<PlaneContext, "clock" | "informers">, waits: TrafficWaits) {
    this.#context = context;
    this.#waits = waits;
    context.informers.trafficLeases.onChange((old, now) => {
      const lease = now ?? old;
      if (lease === undefined) return;
      if (now === undefined) this.#seen.delete(lease.metadata.name);
      else if (old?.spec?.renewTime !== now.spec?.renewTime)
        this.#seen.set(lease.metadata.name, context.clock.monotonic());
    });
  }

  /** The traffic of every leaving copy of a binding that an ingress sends requests to. */
  of(binding: Binding): ReadonlyMap<string, LeavingTraffic> | undefined {
    const key = formatKey(keyOf(binding));
    const ingresses = this.#ingressesBefore(key);
    if (ingresses.length === 0) return undefined;
    const providers = this.#context.informers.trafficLeases
      .list()
      .map((lease) => providerOn(lease, this.#msLeft(lease) > 0));
    const { trafficDrainTimeoutMs: timeoutMs, trafficDrainLimitMs: limitMs } = this.#waits;
    const found = new Map<string, LeavingTraffic>();
    for (const { fromCluster } of tasksOf(binding)) {
      const state = trafficTo(binding.metadata.name, fromCluster, ingresses, providers);
      if (state === "none") continue;
      const since = this.#since.get(`${key} ${fromCluster}`);
      found.set(fromCluster, {
        state,
        timeoutMs,
        limitMs,
        ...(since !== undefined && { since }),
      });
    }
    return found;
  }

  /** The copies of a binding that wait for traffic and for nothing else: their time runs, and that of others does not. */
  keepsWaiting(key: string, clusters: readonly string[]): void {
    const now = this.#context.clock.now();
    const before = clusters.map((cluster) => this.#since.get(`${key} ${cluster}`) ?? now);
    this.forget(key);
    for (const [i, cluster] of clusters.entries())
      this.#since.set(`${key} ${cluster}`, before[i] ?? now);
  }

  /** When a Lease lapses next, so that what waits for it looks again. */
  nextLapse(): Instant | undefined {
    const left = this.#context.informers.trafficLeases
      .list()
      .map((lease) => this.#msLeft(lease))
      .filter((ms) => ms > 0);
    if (left.length === 0) return undefined;
    return addMs(this.#context.clock.now(), Math.min(...left) + 1);
  }

  /** Nothing of this binding waits any more. */
  forget(key: string): void {
    for (const waiting of this.#since.keys())
      if (waiting.startsWith(`${key} `)) this.#since.delete(waiting);
  }

  #ingressesBefore(bindingKey: string): readonly MultiClusterIngress[] {
    return this.#context.informers.multiClusterIngresses.byIndex("binding", bindingKey);
  }

  #msLeft({ metadata, spec }: Lease): number {
    const seen = this.#seen.get(metadata.name);
    if (seen === undefined) return 0;
    const durationMs = (spec?.leaseDurationSeconds ?? DEFAULT_LEASE_S) * 1000;
    return seen + durationMs - this.#context.clock.monotonic();
  }
}

/** Changes of ingresses and of load balancers' Leases, as the keys of bindings whose copies they concern. */
export function watchingLeavingTraffic(
  { informers }: Pick<PlaneContext, "informers">,
  movingBindings: () => readonly ObjectKey[],
): readonly ControllerWatch[] {
  return [
    watching(informers.multiClusterIngresses, (old, now) => {
      const behind = new Set(
        [old, now].flatMap((one) => (one === undefined ? [] : bindingsBehind(one))),
      );
      return movingBindings().filter((key) => behind.has(formatKey(key)));
    }),
    watching(informers.trafficLeases, (old, now) =>
      reportText(old) === reportText(now) ? [] : movingBindings(),
    ),
  ];
}

function reportText(lease: Lease | undefined): string {
  return lease === undefined ? "" : JSON.stringify(providerOn(lease, true));
}
