/**
 * How far the evacuations of each cluster are, written on their status and shown by metrics: at most once a second.
 */
import type { Evacuation } from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import {
  currentOf,
  type EvictingTaint,
  passiveRateOf,
  progressOf,
  type RecordedTaint,
  secondsLeft,
  taintId,
} from "@lifeboat/core/failover/evacuation";
import type { Track } from "./items.ts";
import { confirmTaints, isBehind, isCounted, writeStatus } from "./record-writes.ts";
import type { EvacuationState } from "./state.ts";
import { summarize, type Summary } from "./summary.ts";
import { reportOnCluster } from "./reports.ts";

/** Progress of an evacuation is written and counted at most once in this time. */
const COALESCE_MS = 1000;
/** How long `evict_rate` may be behind while nothing happens. */
const REFRESH_MS = 10_000;

export class Progress {
  readonly #state: EvacuationState;
  /** When the progress of a cluster's evacuations was last counted. */
  readonly #counted = new Map<string, Instant>();
  /** The kinds that a cluster's metrics show. */
  readonly #shownKinds = new Map<string, ReadonlySet<string>>();

  constructor(state: EvacuationState) {
    this.#state = state;
  }

  /** Nothing of a cluster is evacuated any more; answers when to reconcile again. */
  end(name: string): Instant | undefined {
    this.#counted.delete(name);
    return this.#showMetrics(name, false, []);
  }

  /** Writes how far the cluster's evacuations are; answers when to reconcile again. */
  async write(
    name: string,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<Instant | undefined> {
    const { board, context } = this.#state;
    const { now, due } = context.time.moment();
    const tracks = board.tracksOf(name);
    const isRecording = tracks.some(({ evacuation }) => isRecordingPhase(evacuation));
    if (this.isTooEarly(name) && !isRecording)
      return due(this.#counted.get(name) ?? now, COALESCE_MS);
    this.#counted.set(name, now);
    const summaries: Summary[] = [];
    for (const track of tracks) {
      const summary = summarize(board, track, now);
      const isCurrent = currentOf(board.evacuationsOf(name)) === track.evacuation;
      await this.#writeProgress(track, summary, isCurrent ? borne : [], signal);
      summaries.push(summary);
    }
    const isFaulty = borne.some((taint) => isCounted(this.#state, taint));
    const metricsAt = this.#showMetrics(name, isFaulty, summaries);
    return earliest([
      ...summaries.flatMap(({ nextDueAt }) => nextDueAt ?? []),
      ...(metricsAt === undefined ? [] : [metricsAt]),
      // Slices that never come, because a person wrote that there are more, end with the cache's next sign of life.
      ...(isRecording ? [addMs(now, REFRESH_MS)] : []),
    ]);
  }

  /** Whether the progress of a cluster was counted within the last second: what arrives meanwhile is gathered. */
  isTooEarly(name: string): boolean {
    const counted = this.#counted.get(name);
    const { now, due } = this.#state.context.time.moment();
    return counted !== undefined && now < due(counted, COALESCE_MS);
  }

  async #writeProgress(
    track: Track,
    summary: Summary,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<void> {
    const { board, context, failover, fleetRate, rates } = this.#state;
    const { evacuation } = track;
    const taints = evacuation.status?.taints ?? [];
    const rate = fleetRate.now;
    const now = context.clock.now();
    const others = [...board.tracks]
      .filter((other) => other !== track)
      .map(({ cluster }) => ({
        workloads: board.line.queue.sizeOf("Workload", cluster),
        passive: board.line.queue.sizeOf("Passive", cluster),
      }));
    const status = progressOf(
      {
        evacuation,
        taints,
        isRecording: this.#isRecording(evacuation, taints, borne),
        counts: summary.counts,
        stranded: summary.stranded,
        due: summary.due,
        rate,
        budgetPaused: fleetRate.isPausedNow,
        clusterPaused: board.line.orders.stopsCluster(evacuation.spec.cluster),
        failover,
        held: summary.held,
        putBack: summary.putBack,
        secondsLeft: secondsLeft(
          summary.line,
          others,
          { workloads: rate.perSecond, passive: passiveRateOf(rate, rates) },
          summary.lastDueAt,
          now,
        ),
      },
      now,
    );
    if (status === undefined) return;
    const { cluster } = evacuation.spec;
    const ends = currentOf([{ ...evacuation, status }]) === undefined;
    if (ends && currentOf(board.evacuationsOf(cluster)) === evacuation)
      await confirmTaints(this.#state, cluster, borne, signal);
    await writeStatus(this.#state, evacuation, status, signal);
    const { name } = evacuation.metadata;
    const { held, awaitingApproval = 0 } = summary.counts;
    if (awaitingApproval > 0 && (evacuation.status?.entries?.awaitingApproval ?? 0) === 0)
      reportOnCluster(
        context,
        evacuation.spec.cluster,
        "EvictionAwaitsApproval",
        `Evacuation ${name}: ${awaitingApproval} wait for a person's approval: lifeboat evacuations approve ${name}`,
      );
    if (held > 0 && (evacuation.status?.entries?.held ?? 0) === 0)
      reportOnCluster(
        context,
        evacuation.spec.cluster,
        "EvictionHeld",
        `Evacuation ${name}: ${held} cannot leave for now; see lifeboat evacuations show ${name}`,
      );
    if (status.phase !== evacuation.status?.phase)
      context.log.info("an evacuation changed its phase", {
        evacuation: name,
        phase: status.phase,
        reason: status.reason,
        ...status.entries,
      });
  }

  /** Whether slices are missing, here or in the cache. */
  #isRecording(
    evacuation: Evacuation,
    taints: readonly RecordedTaint[],
    borne: readonly EvictingTaint[],
  ): boolean {
    const known = new Set(taints.map(({ taint }) => taintId(taint)));
    if (borne.some((taint) => isCounted(this.#state, taint) && !known.has(taintId(taint))))
      return true;
    return taints.some(
      (one) =>
        one.removedAt === undefined &&
        isBehind(
          this.#state,
          evacuation,
          this.#state.board.slicesOf(evacuation, taintId(one.taint)).length,
          one,
        ),
    );
  }

  /** Answers when the numbers change with time alone. */
  #showMetrics(
    name: string,
    isFaulty: boolean,
    summaries: readonly Summary[],
  ): Instant | undefined {
    const { context, metrics, statistics } = this.#state;
    const monotonic = context.clock.monotonic();
    const isGoingOn = isFaulty || summaries.length > 0;
    const shownForMs = statistics.shownForMs(name, isGoingOn, monotonic);
    if (shownForMs === 0) {
      this.#endMetrics(name);
      return undefined;
    }
    const kinds = new Map([...(this.#shownKinds.get(name) ?? [])].map((kind) => [kind, 0]));
    let total = 0;
    for (const { kinds: some } of summaries)
      for (const [kind, count] of some) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + count);
        total += count;
      }
    metrics.total.set(total, { cluster_name: name });
    for (const [kind, count] of kinds)
      metrics.byKind.set(count, { cluster_name: name, resource_kind: kind });
    this.#shownKinds.set(name, new Set(kinds.keys()));
    const rate = statistics.rate(name, monotonic);
    metrics.rate.set(rate, { cluster_name: name });
    // After the recovery it stays what it was at last.
    if (isGoingOn) metrics.successRate.set(successRate(summaries), { cluster_name: name });
    const nextMs = Math.min(shownForMs, rate > 0 ? REFRESH_MS : Infinity);
    return nextMs === Infinity ? undefined : addMs(context.clock.now(), Math.ceil(nextMs));
  }

  /** The cluster recovered long enough ago: its series end. */
  #endMetrics(name: string): void {
    const { metrics, statistics } = this.#state;
    for (const kind of this.#shownKinds.get(name) ?? [])
      metrics.byKind.remove({ cluster_name: name, resource_kind: kind });
    this.#shownKinds.delete(name);
    for (const series of [metrics.total, metrics.rate, metrics.successRate, metrics.latency])
      series.remove({ cluster_name: name });
    statistics.forget(name);
  }
}

/** The share of entries that left among all that were tried or stay; 1 while none was. */
function successRate(summaries: readonly Summary[]): number {
  let left = 0;
  let stay = 0;
  for (const { counts } of summaries) {
    left += counts.evicted + counts.done;
    stay += counts.held + counts.abandoned;
  }
  return left + stay === 0 ? 1 : left / (left + stay);
}

function isRecordingPhase({ status }: Evacuation): boolean {
  return status?.phase === undefined || status.phase === "Recording";
}

function earliest(times: readonly Instant[]): Instant | undefined {
  return times.length === 0 ? undefined : times.reduce((a, b) => (a < b ? a : b));
}
