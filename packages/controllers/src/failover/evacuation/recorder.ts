/**
 * Records the affected workloads when a cluster becomes faulty, and the progress of its evacuation: one key per cluster.
 *
 *   taints, bindings ──▶ Evacuation ──▶ slices ──▶ taints marked as recorded        then: progress, at most once a second
 *
 * 1. The Evacuation comes first, then its slices, then the mark that lets entries go: a crash between any two of these is
 *    continued by the next reconcile, and releases no entry too early.
 * 2. A binding is judged once for a taint; a binding that arrives later is judged on arrival.
 * 3. While the gate `Failover` is off only a person's drain is recorded. What was recorded before it was switched off is
 *    closed when it is switched on: eligibility is that of the new moment (D18).
 * 4. Before an evacuation begins or ends, or its taints change, the server is asked whether the cluster bears what the cache
 *    shows: of two leaders, one that has not heard of a taint would end what the other begins, without end.
 */
import {
  type Evacuation,
  type EvacuationEntry,
  type EvacuationSlice,
  evacuations,
  evacuationSlices,
  type EvacuationStatus,
  isRefused,
  type ObjectKey,
} from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isOn } from "@lifeboat/core/binding";
import {
  asksForApproval,
  closedByGate,
  currentOf,
  describeTaint,
  evictingTaints,
  type EvictingTaint,
  identityOf,
  judge,
  type JudgeOptions,
  nextEvacuation,
  nextOrdinal,
  phaseReasons,
  priorityOf,
  type RecordedTaint,
  recordTaints,
  slicesFor,
  surplusOf,
  taintId,
  wasStoppedByGate,
} from "@lifeboat/core/failover/evacuation";
import { checkAgainAt, done, type Outcome } from "@lifeboat/kit";
import { type Binding, bindingsBy, policyOf } from "../../context/bindings.ts";
import type { Item, Track } from "./items.ts";
import { Progress } from "./progress.ts";
import { confirmTaints, isBehind, isCounted, writeStatus } from "./record-writes.ts";
import type { EvacuationState } from "./state.ts";
import { reportOnBinding, reportOnCluster, reportRemoved } from "./reports.ts";

export class Recorder {
  readonly #state: EvacuationState;
  readonly #progress: Progress;

  constructor(state: EvacuationState) {
    this.#state = state;
    this.#progress = new Progress(state);
  }

  async look({ name }: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { board, context } = this.#state;
    const cluster = context.informers.clusters.get({ namespace: "", name });
    const borne = cluster === undefined ? [] : evictingTaints(cluster);
    const known = board.evacuationsOf(name);
    if (known.length === 0 && !borne.some((taint) => isCounted(this.#state, taint))) {
      const shownUntil = this.#progress.end(name);
      return shownUntil === undefined ? done : checkAgainAt(shownUntil);
    }
    const current = await this.#current(name, borne, signal);
    if (current !== undefined && (await this.#record(current, borne, signal))) return done;
    const again = await this.#progress.write(name, borne, signal);
    for (const surplus of surplusOf(board.evacuationsOf(name))) await this.#remove(surplus, signal);
    return again === undefined ? done : checkAgainAt(again);
  }

  /** Its slices go with it: it owns them. */
  async #remove({ metadata }: Evacuation, signal: AbortSignal): Promise<void> {
    const key = { namespace: "", name: metadata.name };
    const preconditions = { uid: metadata.uid };
    try {
      await this.#state.context.plane.delete(evacuations, key, { preconditions, signal });
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
    }
  }

  /** The evacuation to which the cluster's taints belong, made if there is none. */
  async #current(
    name: string,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<Evacuation | undefined> {
    const { board, context, failover } = this.#state;
    const known = board.evacuationsOf(name);
    const current = currentOf(known);
    if (current !== undefined && failover && wasStoppedByGate(current)) {
      await this.#close(current, signal);
      return undefined;
    }
    if (current !== undefined || !borne.some((taint) => isCounted(this.#state, taint)))
      return current;
    const next = nextEvacuation(
      name,
      known,
      (taken) => context.informers.evacuations.get({ namespace: "", name: taken }) !== undefined,
    );
    await confirmTaints(this.#state, name, borne, signal);
    const made = await context.plane.create(evacuations, next, { signal });
    context.log.info("a cluster became faulty, its evacuation is recorded", {
      cluster: name,
      evacuation: made.metadata.name,
      taints: borne.map(describeTaint),
    });
    return made;
  }

  /** Brings the record in line with the taints; answers whether anything was written. */
  async #record(
    current: Evacuation,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { context } = this.#state;
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
    await confirmTaints(this.#state, current.spec.cluster, borne, signal);
    const stays = this.#stayingOf(current, taints);
    await writeStatus(this.#state, current, recordingStatus(current, taints, now), signal);
    reportRemoved(context, current, gone, stays);
    return true;
  }

  /** Writes the slices of a taint that are missing; undefined when there is nothing to report about it. */
  async #recordTaint(
    current: Evacuation,
    taint: EvictingTaint,
    borne: readonly EvictingTaint[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { board, context } = this.#state;
    const { cluster } = current.spec;
    const id = taintId(taint);
    const known = (current.status?.taints ?? []).find((one) => taintId(one.taint) === id);
    if (!isCounted(this.#state, taint)) return undefined;
    const existing = board.slicesOf(current, id);
    // A slice that the cache does not show yet would be written a second time.
    if (isBehind(this.#state, current, existing.length, known)) return undefined;
    // Bindings that arrive are collected for a while, so that they share a slice.
    if (known !== undefined && this.#progress.isTooEarly(cluster)) return undefined;
    const bindings =
      known === undefined ? this.#onCluster(current, existing) : this.#arrived(current, id);
    if (known !== undefined && bindings.length === 0)
      return existing.length === known.slices ? undefined : existing.length;
    const options = this.#judgeOptions();
    const entries = bindings.map((binding) => judge(binding, cluster, taint, options));
    const slices = slicesFor(current, identityOf(taint), nextOrdinal(existing), entries);
    if (slices.length > 0) await confirmTaints(this.#state, cluster, borne, signal);
    for (const slice of slices) await context.plane.create(evacuationSlices, slice, { signal });
    for (const [i, binding] of bindings.entries()) {
      const { exempt } = entries[i] ?? {};
      if (exempt === undefined) this.#tellQueued(current, binding, entries[i], taint);
    }
    const affected = entries.filter(({ exempt }) => exempt === undefined).length;
    context.log.info("recorded the workloads that a taint affects", {
      evacuation: current.metadata.name,
      taint: describeTaint(taint),
      affected,
      exempt: entries.length - affected,
      arrived: known !== undefined,
    });
    reportOnCluster(
      context,
      cluster,
      "EvictionQueued",
      `Evacuation ${current.metadata.name}: ${affected} of ${entries.length} are queued because of the taint ${describeTaint(taint)}.`,
    );
    return existing.length + slices.length;
  }

  #tellQueued(
    { metadata: { name }, spec: { cluster } }: Evacuation,
    binding: Binding,
    entry: EvacuationEntry | undefined,
    taint: EvictingTaint,
  ): void {
    const { board, context } = this.#state;
    const message = queuedMessage(cluster, taint);
    reportOnBinding(context, binding, "Normal", { reason: "EvictionQueued", message });
    if (entry === undefined || !board.line.orders.asksFor(entry, identityOf(taint))) return;
    reportOnBinding(context, binding, "Warning", {
      reason: "EvictionAwaitsApproval",
      message: `Leaves cluster ${cluster} only after a person's approval: lifeboat evacuations approve ${name}`,
    });
  }

  /** Everything on the cluster that no slice of the taint names yet. */
  #onCluster(current: Evacuation, existing: readonly EvacuationSlice[]): readonly Binding[] {
    const { informers } = this.#state.context;
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
    const { board } = this.#state;
    const track = this.#trackOf(current);
    if (track === undefined) return [];
    return board
      .unrecorded(track, taint)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  #trackOf({ metadata, spec }: Evacuation): Track | undefined {
    return this.#state.board
      .tracksOf(spec.cluster)
      .find(({ evacuation }) => evacuation.metadata.name === metadata.name);
  }

  #judgeOptions(): JudgeOptions {
    const { context, defaultPurgeMode } = this.#state;
    return {
      defaultPurgeMode,
      asksForApproval: (binding) => asksForApproval(policyOf(context.informers, binding)),
      priorityOf: (binding) =>
        priorityOf(binding, policyOf(context.informers, binding), (name) =>
          context.informers.priorityClasses.get({ namespace: "", name }),
        ),
      isScripted: (apiVersion, kind) =>
        context.interpretation.isCustomized(apiVersion, kind, "health") ||
        context.interpretation.isCustomized(apiVersion, kind, "replicas"),
    };
  }

  /** Ends an evacuation that the gate had stopped. */
  async #close(current: Evacuation, signal: AbortSignal): Promise<void> {
    const status = closedByGate(current.status ?? {}, this.#state.context.clock.now());
    await writeStatus(this.#state, current, status, signal);
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
}

function queuedMessage(cluster: string, taint: EvictingTaint): string {
  return `Queued for eviction from cluster ${cluster}, which bears the taint ${describeTaint(taint)}.`;
}

/** The status with the taints that are recorded now; entries are counted by the next reconcile. */
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
