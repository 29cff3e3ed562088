/**
 * Finds out every few seconds which detectors are silent, and writes Unknown for the conditions that they wrote. The rules are in
 * core/remedy/detector/silence.ts.
 *
 * 1. A renewal of any Lease of the cluster's detector is a message. Silence is measured from when this process saw the last one, so a
 *    skewed clock of a node changes nothing, and a control plane that starts waits for the whole threshold.
 * 2. Time in which this process stood still does not count.
 * 3. Before a condition is written, Leases and Cluster are read from the server: a watch that broke is no silence (D20).
 */
import {
  type Cluster,
  clusters,
  type Condition,
  isRefused,
  orNothing,
  Refused,
  setCondition,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { watchedMs } from "@lifeboat/core/failover/health";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  decideSilence,
  detectedConditions,
  reportedVerdict,
  STALE_THRESHOLD_MS,
} from "@lifeboat/core/remedy/detector";
import { type Lease, leases, NotSent, OutcomeUnknown, type Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";

const PERIOD_MS = 5000;

/** Builds the monitor. */
export function createDetectorMonitor(context: PlaneContext): readonly Service[] {
  return [new DetectorMonitor(context)];
}

/** What was last heard of one condition of one Cluster. */
interface Heard {
  readonly renewals: string;
  since: number;
}

class DetectorMonitor implements Service {
  readonly name = "detector-monitor";
  readonly #context: PlaneContext;
  readonly #heard = new Map<string, Heard>();

  constructor(context: PlaneContext) {
    this.#context = context;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers, clock } = this.#context;
    for (const source of [informers.clusters, informers.detectorLeases])
      if (!(await source.whenSynced(signal))) return;
    this.#heard.clear();
    for (let last = clock.monotonic(); await sleep(clock, PERIOD_MS, signal);) {
      const now = clock.monotonic();
      const stoodStillMs = now - last - watchedMs(now - last, PERIOD_MS);
      for (const one of this.#heard.values()) one.since = Math.min(now, one.since + stoodStillMs);
      last = now;
      await this.#lookAll(signal);
    }
  }

  async #lookAll(signal: AbortSignal): Promise<void> {
    const before = new Set(this.#heard.keys());
    for (const cluster of this.#context.informers.clusters.list())
      for (const condition of detectedConditions(cluster.status?.conditions)) {
        before.delete(heardKey(cluster, condition));
        await this.#look(cluster, condition, signal);
      }
    for (const gone of before) this.#heard.delete(gone);
  }

  async #look(cluster: Cluster, condition: Condition, signal: AbortSignal): Promise<void> {
    const { informers, log } = this.#context;
    const { name } = cluster.metadata;
    const cached = informers.detectorLeases.byIndex("cluster", name);
    if (this.#decide(cluster, condition, cached) === undefined) return;
    try {
      await this.#mark(name, condition.type, signal);
    } catch (error) {
      const isTheirs =
        error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
      if (!isTheirs) throw error;
      if (!isRefused(error, "Conflict") && !signal.aborted)
        log.warn("the silence of a detector could not be written", { cluster: name, error });
    }
  }

  /** Takes in what these Leases show, and answers the condition to write when the detector is silent by now. */
  #decide(cluster: Cluster, condition: Condition, all: readonly Lease[]) {
    const now = this.#context.clock.monotonic();
    const key = heardKey(cluster, condition);
    const own = all.filter((lease) => reportedVerdict(lease, condition.type) !== null);
    const renewals = own
      .map((lease) => `${lease.metadata.name} ${lease.spec?.renewTime ?? ""}`)
      .sort()
      .join("\n");
    const known = this.#heard.get(key);
    const since = known?.renewals === renewals ? known.since : now;
    this.#heard.set(key, { renewals, since });
    const durations = own.map(({ spec }) => (spec?.leaseDurationSeconds ?? 0) * 1000);
    const thresholdMs = own.length === 0 ? STALE_THRESHOLD_MS : Math.max(...durations);
    return decideSilence(condition, now - since, thresholdMs);
  }

  async #mark(name: string, type: string, signal: AbortSignal): Promise<void> {
    const { plane, clock, events, log } = this.#context;
    const { items } = await plane.list(leases, {
      namespace: executionNamespace(name),
      labelSelector: `${wellKnown.DETECTOR_OF}=${name}`,
      signal,
    });
    const cluster = await orNothing(plane.get(clusters, { namespace: "", name }, { signal }));
    const condition = detectedConditions(cluster?.status?.conditions).find(
      (one) => one.type === type,
    );
    if (cluster === undefined || condition === undefined) return;
    const planned = this.#decide(cluster, condition, items);
    if (planned === undefined) return;
    const conditions = setCondition(cluster.status?.conditions, planned, clock.now());
    const status = { ...cluster.status, conditions };
    await plane.update(clusters, { ...cluster, status }, { subresource: "status", signal });
    const { reason, message } = planned;
    events.record(cluster, { type: "Warning", reason, message: `${type}: ${message}` });
    log.warn("nothing is heard of a detector", { cluster: name, condition: type });
  }
}

function heardKey({ metadata: { uid } }: Cluster, { type }: Condition): string {
  return `${uid} ${type}`;
}
