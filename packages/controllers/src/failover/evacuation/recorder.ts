/**
 * Writes down who is affected when a cluster becomes faulty, and how far its evacuation is: one look per cluster.
 *
 *   taints, bindings ──▶ Evacuation ──▶ slices ──▶ taints marked as recorded        then: progress, at most once a second
 *
 * 1. The Evacuation comes first, then its slices, then the mark that lets entries go: a crash between any two of these is
 *    continued by the next look, and releases nobody too early.
 * 2. Who was judged is never judged again for the same taint; who arrives later is judged then.
 * 3. While the gate `Failover` is off only a person's drain is recorded. What was recorded before it was switched off is
 *    closed when it is switched on: eligibility is that of the new moment (D18).
 * 4. Before an evacuation begins or ends, or its taints change, the server is asked whether the cluster bears what the cache
 *    shows: of two leaders, one that has not heard of a taint would end what the other begins, without end.
 */
import {
  clusters,
  type Evacuation,
  type EvacuationSlice,
  evacuations,
  evacuationSlices,
  type EvacuationStatus,
  failure,
  isRefused,
  type ObjectKey,
  orNothing,
  Refused,
} from "@lifeboat/api";
import { addMs, formatTime, type Instant } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { isDrainTaint, isOn, type PurgeMode } from "@lifeboat/core/binding";
import {
  currentOf,
  describeTaint,
  evictingTaints,
  type EvictingTaint,
  identityOf,
  judge,
  type JudgeOptions,
  nextEvacuation,
  nextOrdinal,
  passiveRateOf,
  phaseReasons,
  progressOf,
  type Rate,
  type RateOptions,
  type RecordedTaint,
  recordTaints,
  secondsLeft,
  slicesFor,
  surplusOf,
  taintId,
  closedByGate,
  wasStoppedByGate,
} from "@lifeboat/core/failover/evacuation";
import { checkAgainAt, compareVersions, done, type Outcome } from "@lifeboat/kit";
import { type Binding, bindingOf, bindingsBy, tellWorkload } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import type { Board, Item, Track } from "./board.ts";
import type { EvacuationMetrics } from "./metrics.ts";
import type { Statistics } from "./statistics.ts";
import { summarize, type Summary } from "./summary.ts";

export interface RecorderParts {
  readonly context: PlaneContext;
  readonly board: Board;
  readonly statistics: Statistics;
  readonly metrics: EvacuationMetrics;
  readonly rates: RateOptions;
  readonly failover: boolean;
  readonly defaultPurgeMode: PurgeMode;
  /** The rate at this moment. */
  rate(): Rate;
  budgetPaused(): boolean;
}

/** Progress of an evacuation is written and counted at most once in this time. */
const COALESCE_MS = 1000;
/** How long `evict_rate` may be behind while nothing happens. */
const REFRESH_MS = 10_000;

export class Recorder {
  readonly #parts: RecorderParts;
  /** When the progress of a cluster's evacuations was last counted. */
  readonly #counted = new Map<string, Instant>();
  /** The kinds that a cluster's metrics show. */
  readonly #shownKinds = new Map<string, ReadonlySet<string>>();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  async look({ name }: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { board, context } = this.#parts;
    const cluster = context.informers.clusters.get({ namespace: "", name });
    const borne = cluster === undefined ? [] : evictingTaints(cluster);
    const known = board.evacuationsOf(name);
    if (known.length === 0 && !borne.some((taint) => this.#counts(taint))) {
      this.#endMetrics(name);
      this.#counted.delete(name);
      return done;
    }
    const current = await this.#current(name, borne, signal);
    if (current !== undefined && (await this.#record(current, borne, signal))) return done;
    const again = await this.#progress(name, borne, signal);
    for (const surplus of surplusOf(board.evacuationsOf(name))) await this.#remove(surplus, signal);
    return again === undefined ? done : checkAgainAt(again);
  }

  /** Its slices go with it: it owns them. */
  async #remove({ metadata }: Evacuation, signal: AbortSignal): Promise<void> {
    const key = { namespace: "", name: metadata.name };
    const preconditions = { uid: metadata.uid };
    try {
      await this.#parts.context.plane.delete(evacuations, key, { preconditions, signal });
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
    }
  }

  /** Whether a taint is recorded as the gate stands. */
  #counts(taint: EvictingTaint): boolean {
    return this.#parts.failover || isDrainTaint(taint);
  }

  /** The evacuation to which the cluster's taints belong, made if there is none. */
  async #current(
    name: string,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<Evacuation | undefined> {
    const { board, context, failover } = this.#parts;
    const known = board.evacuationsOf(name);
    const current = currentOf(known);
    if (current !== undefined && failover && wasStoppedByGate(current)) {
      await this.#close(current, signal);
      return undefined;
    }
    if (current !== undefined || !borne.some((taint) => this.#counts(taint))) return current;
    const next = nextEvacuation(
      name,
      known,
      (taken) => context.informers.evacuations.get({ namespace: "", name: taken }) !== undefined,
    );
    await this.#confirm(name, borne, signal);
    const made = await context.plane.create(evacuations, next, { signal });
    context.log.info("a cluster became faulty, its evacuation is recorded", {
      cluster: name,
      evacuation: made.metadata.name,
      taints: borne.map(describeTaint),
    });
    return made;
  }

  /** Asks the server whether the cluster bears these taints. If not, the cache is behind, and the look comes again. */
  async #confirm(
    name: string,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<void> {
    const { plane } = this.#parts.context;
    const cluster = await orNothing(plane.get(clusters, { namespace: "", name }, { signal }));
    const now = new Set(cluster === undefined ? [] : evictingTaints(cluster).map(taintId));
    if (now.size === borne.length && borne.every((taint) => now.has(taintId(taint)))) return;
    throw new Refused(failure(409, "Conflict", `the taints of cluster ${name} have changed`));
  }

  /** Brings the record in line with the taints; answers whether anything was written. */
  async #record(
    current: Evacuation,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { context } = this.#parts;
    const recorded = current.status?.taints ?? [];
    const slices = new Map<string, number>();
    for (const taint of borne) {
      const count = await this.#recordTaint(current, taint, borne, signal);
      if (count !== undefined) slices.set(taintId(taint), count);
    }
    const now = context.clock.now();
    const taints = recordTaints(recorded, { borne, slices }, now);
    if (taints === recorded) return false;
    const gone = taints.filter(
      ({ removedAt }, i) => removedAt !== undefined && recorded[i]?.removedAt === undefined,
    );
    await this.#confirm(current.spec.cluster, borne, signal);
    const stays = this.#stayingOf(current, taints);
    await this.#writeStatus(current, recordingStatus(current, taints, now), signal);
    this.#tellRemoved(current, gone, stays);
    return true;
  }

  /** Writes the slices of a taint that are missing; undefined when there is nothing to say about it. */
  async #recordTaint(
    current: Evacuation,
    taint: EvictingTaint,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { board, context } = this.#parts;
    const { cluster } = current.spec;
    const id = taintId(taint);
    const known = (current.status?.taints ?? []).find((one) => taintId(one.taint) === id);
    if (!this.#counts(taint)) return undefined;
    const existing = board.slicesOf(current, id);
    // A slice that the cache does not show yet would be written a second time.
    if (this.#isBehind(current, existing.length, known)) return undefined;
    // Those who arrive are gathered for a while, so that they share a slice.
    if (known !== undefined && this.#isTooEarly(cluster)) return undefined;
    const bindings =
      known === undefined ? this.#onCluster(current, existing) : this.#arrived(current, id);
    if (known !== undefined && bindings.length === 0)
      return existing.length === known.slices ? undefined : existing.length;
    const options = this.#judgeOptions();
    const entries = bindings.map((binding) => judge(binding, cluster, taint, options));
    const slices = slicesFor(current, identityOf(taint), nextOrdinal(existing), entries);
    if (slices.length > 0) await this.#confirm(cluster, borne, signal);
    for (const slice of slices) await context.plane.create(evacuationSlices, slice, { signal });
    for (const [i, binding] of bindings.entries()) {
      const { exempt } = entries[i] ?? {};
      if (exempt === undefined)
        this.#tell(binding, "EvictionQueued", queuedMessage(cluster, taint));
    }
    const affected = entries.filter(({ exempt }) => exempt === undefined).length;
    context.log.info("recorded who is affected by a taint", {
      evacuation: current.metadata.name,
      taint: describeTaint(taint),
      affected,
      exempt: entries.length - affected,
      arrived: known !== undefined,
    });
    this.#tellCluster(
      cluster,
      "EvictionQueued",
      `Evacuation ${current.metadata.name}: ${affected} of ${entries.length} are queued because of the taint ${describeTaint(taint)}.`,
    );
    return existing.length + slices.length;
  }

  /**
   * Whether slices of a taint exist that the cache does not show yet. Once the cache is as new as the evacuation, what it
   * does not show was deleted by hand, and who stood in it counts as arrived.
   */
  #isBehind(evacuation: Evacuation, existing: number, known: RecordedTaint | undefined): boolean {
    if (known === undefined || existing >= known.slices) return false;
    const { resourceVersion: seen = "0" } = this.#parts.context.informers.evacuationSlices;
    return compareVersions(seen, evacuation.metadata.resourceVersion ?? "0") < 0;
  }

  /** Everything on the cluster that no slice of the taint names yet. */
  #onCluster(current: Evacuation, existing: readonly EvacuationSlice[]): readonly Binding[] {
    const { informers } = this.#parts.context;
    const { cluster } = current.spec;
    const named = new Set(
      existing.flatMap(({ spec }) => spec.entries.map(({ binding }) => binding.uid)),
    );
    return bindingsBy(informers, "cluster", cluster).filter(
      (binding) =>
        isOn(binding, cluster) &&
        binding.metadata.deletionTimestamp === undefined &&
        !named.has(binding.metadata.uid),
    );
  }

  #arrived(current: Evacuation, taint: string): readonly Binding[] {
    const { board } = this.#parts;
    const track = this.#trackOf(current);
    if (track === undefined) return [];
    return board
      .unrecorded(track, taint)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  #trackOf({ metadata, spec }: Evacuation): Track | undefined {
    return this.#parts.board
      .tracksOf(spec.cluster)
      .find(({ evacuation }) => evacuation.metadata.name === metadata.name);
  }

  #judgeOptions(): JudgeOptions {
    const { context, defaultPurgeMode } = this.#parts;
    return {
      defaultPurgeMode,
      isFederated: ({ spec: { resource } }) => {
        if (resource.kind !== "StatefulSet" || resource.apiVersion !== "apps/v1") return false;
        const template = context.templates.get(resource);
        return template?.metadata.annotations?.[wellKnown.FEDERATED] === "true";
      },
      isScripted: (apiVersion, kind) =>
        context.interpretation.isCustomized(apiVersion, kind, "health") ||
        context.interpretation.isCustomized(apiVersion, kind, "replicas"),
    };
  }

  /** Writes how far the cluster's evacuations are; answers when to look again. */
  async #progress(
    name: string,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<Instant | undefined> {
    const { board, context } = this.#parts;
    const { now, due } = context.time.moment();
    const tracks = board.tracksOf(name);
    const isRecording = tracks.some(({ evacuation }) => isRecordingPhase(evacuation));
    if (this.#isTooEarly(name) && !isRecording)
      return due(this.#counted.get(name) ?? now, COALESCE_MS);
    this.#counted.set(name, now);
    const summaries: Summary[] = [];
    for (const track of tracks) {
      const summary = summarize(board, track, now);
      const isCurrent = currentOf(board.evacuationsOf(name)) === track.evacuation;
      await this.#writeProgress(track, summary, isCurrent ? borne : [], signal);
      summaries.push(summary);
    }
    if (summaries.length === 0) {
      this.#endMetrics(name);
      return undefined;
    }
    const isMoving = this.#showMetrics(name, summaries);
    const nextDue = summaries.flatMap(({ nextDueAt }) => nextDueAt ?? []);
    // Slices that never come, because a person wrote that there are more, end with the cache's next sign of life.
    return earliest([...nextDue, ...(isMoving || isRecording ? [addMs(now, REFRESH_MS)] : [])]);
  }

  #isTooEarly(name: string): boolean {
    const counted = this.#counted.get(name);
    const { now, due } = this.#parts.context.time.moment();
    return counted !== undefined && now < due(counted, COALESCE_MS);
  }

  async #writeProgress(
    track: Track,
    summary: Summary,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<void> {
    const { board, context, failover, rates } = this.#parts;
    const { evacuation } = track;
    const taints = evacuation.status?.taints ?? [];
    const rate = this.#parts.rate();
    const now = context.clock.now();
    const others = [...board.tracks]
      .filter((other) => other !== track)
      .map(({ cluster }) => ({
        workloads: board.queue.sizeOf("Workload", cluster),
        passive: board.queue.sizeOf("Passive", cluster),
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
        budgetPaused: this.#parts.budgetPaused(),
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
      await this.#confirm(cluster, borne, signal);
    await this.#writeStatus(evacuation, status, signal);
    const { name } = evacuation.metadata;
    const { held } = summary.counts;
    if (held > 0 && (evacuation.status?.entries?.held ?? 0) === 0)
      this.#tellCluster(
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
    if (borne.some((taint) => this.#counts(taint) && !known.has(taintId(taint)))) return true;
    return taints.some(
      (one) =>
        one.removedAt === undefined &&
        this.#isBehind(
          evacuation,
          this.#parts.board.slicesOf(evacuation, taintId(one.taint)).length,
          one,
        ),
    );
  }

  /** Ends an evacuation that the gate had stopped. */
  async #close(current: Evacuation, signal: AbortSignal): Promise<void> {
    const status = closedByGate(current.status ?? {}, this.#parts.context.clock.now());
    await this.#writeStatus(current, status, signal);
  }

  async #writeStatus(
    evacuation: Evacuation,
    status: EvacuationStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const { plane } = this.#parts.context;
    const options = { subresource: "status", signal };
    await plane.update(evacuations, { ...evacuation, status }, options);
  }

  /** How many wait only for taints that are gone now. */
  #stayingOf(current: Evacuation, now: readonly RecordedTaint[]): number {
    const inForce = new Set(
      now.filter(({ removedAt }) => removedAt === undefined).map(({ taint }) => taintId(taint)),
    );
    const isLeft = ({ terms }: Item): boolean =>
      [...terms.values()].some(({ id, exempt }) => exempt === undefined && inForce.has(id));
    const track = this.#trackOf(current);
    const items = track === undefined ? [] : [...track.items.values()];
    return items.filter((item) => item.state === "Queued" && !isLeft(item)).length;
  }

  /** Says that taints came off, and how many stay for that. */
  #tellRemoved(current: Evacuation, gone: readonly RecordedTaint[], stays: number): void {
    if (gone.length === 0) return;
    const { name } = current.metadata;
    if (stays > 0)
      this.#tellCluster(
        current.spec.cluster,
        "EvictionAbandoned",
        `Evacuation ${name}: ${stays} stay, because the taint is gone.`,
      );
    this.#parts.context.log.info("a faulty cluster lost taints, what they had queued stays", {
      evacuation: name,
      stays,
      taints: gone.map(({ taint }) => describeTaint(taint)),
    });
  }

  /** Says of a workload that was in line that it stays. */
  tellStays(item: Item): void {
    const { track, entry, id, key } = item;
    const { cluster, evacuation } = track;
    const { informers, log } = this.#parts.context;
    const isTakenOut = this.#parts.board.termsInForce(item).length > 0;
    const why = isTakenOut ? "a person took it out of" : "the taint is gone that had caused";
    const binding = bindingOf(informers, key);
    if (binding !== undefined)
      this.#tell(
        binding,
        "EvictionAbandoned",
        `Stays on cluster ${cluster}: ${why} evacuation ${evacuation.metadata.name}.`,
      );
    log.info("an eviction was abandoned", {
      evacuation: evacuation.metadata.name,
      cluster,
      binding: id,
      kind: entry.resource.kind,
      reason: isTakenOut ? "EditedByHand" : "Recovered",
    });
  }

  #tell(binding: Binding, reason: string, message: string): void {
    tellWorkload(this.#parts.context.events, binding, { type: "Normal", reason, message });
  }

  #tellCluster(name: string, reason: string, message: string): void {
    const { informers, events } = this.#parts.context;
    const cluster = informers.clusters.get({ namespace: "", name });
    if (cluster !== undefined) events.record(cluster, { type: "Warning", reason, message });
  }

  /** Answers whether the numbers change with time alone. */
  #showMetrics(name: string, summaries: readonly Summary[]): boolean {
    const { context, metrics, statistics } = this.#parts;
    const kinds = new Map<string, number>();
    let total = 0;
    let open = 0;
    for (const { kinds: some, counts } of summaries) {
      open += counts.queued + counts.held;
      for (const [kind, count] of some) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + count);
        total += count;
      }
    }
    if (open === 0) {
      this.#endMetrics(name);
      return false;
    }
    metrics.total.set(total, { cluster_name: name });
    for (const kind of this.#shownKinds.get(name) ?? [])
      if (!kinds.has(kind)) metrics.byKind.remove({ cluster_name: name, resource_kind: kind });
    for (const [kind, count] of kinds)
      metrics.byKind.set(count, { cluster_name: name, resource_kind: kind });
    this.#shownKinds.set(name, new Set(kinds.keys()));
    const rate = statistics.rate(name, context.clock.monotonic());
    metrics.rate.set(rate, { cluster_name: name });
    metrics.successRate.set(successRate(summaries), { cluster_name: name });
    return rate > 0;
  }

  /** The queue of the cluster has ended, and so do its series. */
  #endMetrics(name: string): void {
    const { metrics, statistics } = this.#parts;
    for (const kind of this.#shownKinds.get(name) ?? [])
      metrics.byKind.remove({ cluster_name: name, resource_kind: kind });
    this.#shownKinds.delete(name);
    for (const series of [metrics.total, metrics.rate, metrics.successRate, metrics.latency])
      series.remove({ cluster_name: name });
    statistics.forget(name);
  }
}

/** The share of those who left among all who were tried or stay; 1 while nobody was. */
function successRate(summaries: readonly Summary[]): number {
  let left = 0;
  let stay = 0;
  for (const { counts } of summaries) {
    left += counts.evicted + counts.done;
    stay += counts.held + counts.abandoned;
  }
  return left + stay === 0 ? 1 : left / (left + stay);
}

function queuedMessage(cluster: string, taint: EvictingTaint): string {
  return `Queued for eviction from cluster ${cluster}, which bears the taint ${describeTaint(taint)}.`;
}

function isRecordingPhase({ status }: Evacuation): boolean {
  return status?.phase === undefined || status.phase === "Recording";
}

/** The status with the taints that are recorded now; entries are counted by the next look. */
function recordingStatus(
  { status }: Evacuation,
  taints: readonly RecordedTaint[],
  now: Instant,
): EvacuationStatus {
  const { finishedAt: _finished, ...rest } = status ?? {};
  return {
    ...rest,
    phase: "Recording",
    reason: "Recording",
    message: phaseReasons.Recording,
    startedAt: status?.startedAt ?? formatTime(now),
    taints,
  };
}

function earliest(times: readonly Instant[]): Instant | undefined {
  return times.length === 0 ? undefined : times.reduce((a, b) => (a < b ? a : b));
}
