/**
 * Writes releases that were picked and for which tokens stand on the budget: one write of the binding each.
 *
 * 1. Just before the write cluster and binding are read from the server: the taint must still be there, and the binding is
 *    decided on as it is. Releases side by side that ask for the same cluster share a read that begins after all of them asked.
 * 2. Each token is used at its own time; rate and pause are read again before each, and a token that may not be used then is
 *    lost. Only writes that take longer than that time go side by side.
 */
import {
  type Cluster,
  clusters,
  isRefused,
  type KubeObject,
  type ObjectKey,
  orNothing,
  Refused,
  type Resource,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import {
  describeTaint,
  evict,
  evictingTaints,
  type Lane,
  taintId,
} from "@lifeboat/core/failover/evacuation";
import { SharedRead } from "@lifeboat/kit";
import { type Binding, bindingResource } from "../../context/bindings.ts";
import type { Picked, Picker } from "./picker.ts";
import type { Reservations } from "./reservations.ts";
import type { EvacuationState } from "./state.ts";
import { reportOnBinding } from "./reports.ts";

/** How often one release is decided again because its binding changed under it. */
const WRITE_ATTEMPTS = 3;
/** Writes of one reservation that are under way at the same time, when the server is slower than the rate. */
const SIDE_BY_SIDE = 32;

/**
 * What became of one attempt: it is through, one way or the other; the binding changed meanwhile; or the cluster bears the
 * taint no more, which the recorder sees, too, and abandons what is queued.
 */
type Attempt = "through" | "changed" | "recovered";

type ReadCluster = (name: string, signal: AbortSignal) => Promise<Cluster | undefined>;

export class ReleaseWriter {
  readonly #state: EvacuationState;
  readonly #picker: Picker;
  readonly #reservations: Reservations;

  constructor(state: EvacuationState, picker: Picker, reservations: Reservations) {
    this.#state = state;
    this.#picker = picker;
    this.#reservations = reservations;
  }

  /** Uses the tokens of one reservation, each at its own time. */
  async releaseAll(
    lane: Lane,
    picks: readonly Picked[],
    tokenMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#state.context;
    const began = clock.monotonic();
    const read = this.#readClusters();
    const underWay = new Set<Promise<void>>();
    const failures: unknown[] = [];
    let used = 0;
    try {
      for (const [i, pick] of picks.entries()) {
        const waitMs = began + i * tokenMs - clock.monotonic();
        if (waitMs > 0) await sleep(clock, Math.ceil(waitMs), signal);
        while (underWay.size >= SIDE_BY_SIDE) await Promise.race(underWay);
        if (signal.aborted || failures.length > 0 || (i > 0 && this.#isSlower(lane, tokenMs)))
          break;
        used = i + 1;
        const release = this.#release(pick, read, signal)
          .catch((error: unknown) => failures.push(error))
          .then(() => {
            this.#reservations.waitFor(Math.ceil(tokenMs));
            underWay.delete(release);
          });
        underWay.add(release);
      }
    } finally {
      await Promise.all(underWay);
      this.#picker.putAllBack(lane, picks.slice(used));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Whether a lane may no longer go as fast as was reserved: the rate is read again before every release (D6). */
  #isSlower(lane: Lane, tokenMs: number): boolean {
    const { fleetRate } = this.#state;
    fleetRate.read();
    return fleetRate.wasPaused || 1000 / fleetRate.ofLane(lane) > tokenMs;
  }

  /** Evicts one, unless the server shows that it must not be any more. */
  async #release(pick: Picked, read: ReadCluster, signal: AbortSignal): Promise<void> {
    let outcome: Attempt = "changed";
    try {
      for (let attempt = 1; attempt <= WRITE_ATTEMPTS && outcome === "changed"; attempt++)
        outcome = await this.#tryRelease(pick, read, signal);
    } finally {
      if (outcome === "recovered") this.#picker.takeBack(pick);
      else this.#picker.putBack(pick);
    }
  }

  async #tryRelease(pick: Picked, read: ReadCluster, signal: AbortSignal): Promise<Attempt> {
    const { board, context, statistics, metrics } = this.#state;
    const { item, term } = pick;
    const { cluster: name } = item.track;
    const [cluster, binding] = await Promise.all([
      read(name, signal),
      this.#find(bindingResource(item.key), item.key, signal),
    ]);
    // seed: recovered
    if (cluster === undefined || !evictingTaints(cluster).some((one) => taintId(one) === term.id)) {
      context.log.info("an eviction was not carried out", {
        ...fieldsOf(pick),
        reason: "Recovered",
      });
      return "recovered";
    }
    board.observe(item, binding);
    // A person may have paused the evacuation since it was picked.
    if (binding === undefined || item.state !== "Queued" || board.line.dueAt(item) === undefined)
      return "through";
    const moment = context.time.moment();
    const { now } = moment;
    const decision = this.#picker.confirm(pick, binding, moment);
    if (decision.outcome === "held") {
      this.#picker.hold(item, decision.reason, decision.message);
      return "through";
    }
    let written: Binding;
    try {
      const options = { signal };
      const evicted = evict(binding, decision.order, now);
      written = await context.plane.update(bindingResource(item.key), evicted, options);
    } catch (error) {
      if (isRefused(error, "Conflict")) return "changed";
      reportOnBinding(context, binding, "Warning", {
        reason: "EvictWorkloadFromClusterFailed",
        message: `Evict from cluster ${name} failed.`,
      });
      if (!(error instanceof Refused) || isPassing(error)) throw error;
      this.#picker.hold(item, "EvictionRefused", error.message);
      return "through";
    }
    board.observe(item, written);
    statistics.released(name, context.clock.monotonic());
    const since = Math.max(term.toleratedUntil ?? 0, term.recordedAt);
    metrics.latency.observe(Math.max(0, now - since) / 1000, { cluster_name: name });
    context.log.info("evicted a workload from a cluster", {
      ...fieldsOf(pick),
      reason: decision.order.reason,
      rate: this.#state.fleetRate.last.perSecond,
      rateReason: this.#state.fleetRate.last.reason,
    });
    reportOnBinding(context, written, "Normal", {
      reason: "EvictionDecided",
      message: decision.order.message,
    });
    for (const warning of decision.warnings)
      reportOnBinding(context, written, "Warning", {
        reason: "StateNotPreserved",
        message: warning,
      });
    return "through";
  }

  #readClusters(): ReadCluster {
    const reads = new Map<string, SharedRead<Cluster | undefined>>();
    return (name, signal) => {
      const shared =
        reads.get(name) ??
        new SharedRead((until) => this.#find(clusters, { namespace: "", name }, until));
      reads.set(name, shared);
      return shared.read(signal);
    };
  }

  #find<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    return orNothing(this.#state.context.plane.get(resource, key, { signal }));
  }
}

function fieldsOf({ item, term }: Picked): Readonly<Record<string, unknown>> {
  const { cluster, evacuation } = item.track;
  return {
    evacuation: evacuation.metadata.name,
    cluster,
    binding: item.id,
    taint: describeTaint(term.taint),
    purgeMode: term.purgeMode,
  };
}

/** Whether trying again by itself may help. */
function isPassing({ status }: Refused): boolean {
  return status.code >= 500 || status.code === 429;
}
