/**
 * The scheduler: gives every binding its clusters and reports why.
 *
 *   binding or cluster changes ──▶ is it due? ──▶ place (core) ──▶ result, then status
 *
 * 1. Which binding is due, where a workload goes and what stays of a result is decided in core; here are only its view and
 *    writes.
 * 2. A change of a cluster puts those bindings in line that run there, follow clusters, or wait for what changed.
 * 3. A result counts for the next decision from the moment it is decided, not only when it is seen again.
 * 4. A binding that was placed and has not changed since is not decided again.
 * 5. A cluster that begins to leave while a result which names it is on its way finds the binding where it was before: so
 *    such a result is checked once more when it is seen.
 * 6. That an application's failures are forgotten does not change the generation, and may be what a binding waits for.
 * 7. What copies report goes on counting as promised until their cluster's own count of room shows it.
 */
import {
  type Cluster,
  equalJson,
  formatKey,
  hasCondition,
  type ObjectKey,
  parseKey,
} from "@lifeboat/api";
import type { Cancel, Instant } from "@lifeboat/base";
import { clusterNamesOf, isScheduled } from "@lifeboat/core/binding";
import { confirmedDepartures, isQuorum } from "@lifeboat/core/federated";
import {
  type Candidate,
  isLetBack,
  place,
  type PlacementDecision,
  type PlacementView,
  placementViewOf,
  type ScheduleReason,
  whyDue,
} from "@lifeboat/core/placement";
import { hasScheduler } from "@lifeboat/core/propagation/matching";
import {
  checkAgainAt,
  type ControllerWatch,
  createController,
  done,
  type Outcome,
  type Service,
} from "@lifeboat/kit";
import { type Binding, bindingOf, bindingsBy, watchingBindings } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { RoomLedger } from "../../context/room-ledger.ts";
import { type ClusterChange, clusterChangeOf } from "./cluster-change.ts";
import { type Awaited, Interest } from "./interest.ts";
import { declareSchedulerMetrics, type SchedulerMetrics } from "./metrics.ts";
import { type Write, writeDecision, writeObserved } from "./write.ts";

/** A source that knows better than a cluster's status how many replicas it has room for. */
export interface Estimator {
  /** By cluster, for those it can estimate. It must not throw, and answers within a bounded time. */
  estimate(binding: Binding): Promise<ReadonlyMap<string, number>>;
}

export interface SchedulerOptions {
  /** The bindings that name this scheduler, and those that name none if it is the default. */
  readonly schedulerName?: string;
  /** None when absent: the clusters' status alone counts. */
  readonly estimator?: Estimator;
  /** How often clusters count their room; 10 seconds when absent. */
  readonly clusterStatusUpdateFrequencyMs?: number;
  /** How long a replica that leaves a quorum waits for the application to let it go; 0 or absent: for ever. */
  readonly letGoTimeoutMs?: number;
}

const DEFAULT_SCHEDULER = "default-scheduler";
/** Deciding is serial anyway; this many results are on their way to disk at the same time. */
const CONCURRENCY = 64;
const STATUS_FREQUENCY_MS = 10_000;

export function createScheduler(context: PlaneContext, options: SchedulerOptions = {}): Service {
  const scheduler = new Scheduler(context, options);
  return createController(context, {
    name: "scheduler",
    concurrency: CONCURRENCY,
    // Clusters first: a binding is placed on what is known of them.
    watches: [scheduler.watchClusters(), ...scheduler.watchBindings()],
    reconcile: (key, signal) => scheduler.reconcile(key, signal),
  });
}

class Scheduler {
  readonly #context: PlaneContext;
  readonly #name: string;
  readonly #estimator: Estimator | undefined;
  readonly #metrics: SchedulerMetrics;
  readonly #countMs: number;
  readonly #letGoTimeoutMs: number;
  #interest = new Interest();
  #ledger: RoomLedger;
  #cancelExpiry: Cancel | undefined;
  /** Bindings in line that are decided again although nothing of theirs changed. */
  #forced = new Set<string>();
  /** Those of them whose last reconcile failed; the queue brings them back. */
  #failed = new Set<string>();
  #add: (key: ObjectKey) => void = () => undefined;

  constructor(context: PlaneContext, options: SchedulerOptions) {
    const { clusterStatusUpdateFrequencyMs = STATUS_FREQUENCY_MS } = options;
    this.#context = context;
    this.#name = options.schedulerName ?? DEFAULT_SCHEDULER;
    this.#estimator = options.estimator;
    this.#countMs = clusterStatusUpdateFrequencyMs;
    this.#letGoTimeoutMs = options.letGoTimeoutMs ?? 0;
    this.#ledger = new RoomLedger(this.#countMs);
    this.#metrics = declareSchedulerMetrics(context.metrics);
  }

  watchClusters(): ControllerWatch {
    const { clusters } = this.#context.informers;
    return {
      whenSynced: (signal) => clusters.whenSynced(signal),
      subscribe: (add) => {
        this.#interest = new Interest();
        this.#ledger = new RoomLedger(this.#countMs);
        this.#forced = new Set();
        this.#failed = new Set();
        this.#add = add;
        const unsubscribe = clusters.onChange((old, now) => this.#takeInCluster(old, now));
        return () => {
          unsubscribe();
          this.#cancelExpiry?.();
          this.#cancelExpiry = undefined;
        };
      },
    };
  }

  #takeInCluster(old: Cluster | undefined, now: Cluster | undefined): void {
    const { name = "" } = (now ?? old)?.metadata ?? {};
    const change = clusterChangeOf(name, this.#candidateOf(old), this.#candidateOf(now));
    const hasCounted = !equalJson(old?.status?.resourceSummary, now?.status?.resourceSummary);
    const isSettled = hasCounted && this.#ledger.counted(name, this.#context.time.moment());
    if (change !== undefined) this.#clusterChanged(change);
    if (isSettled) this.#roomIsFree([name]);
  }

  #candidateOf(cluster: Cluster | undefined): Candidate | undefined {
    return cluster === undefined ? undefined : this.#context.fleetView.candidateOf(cluster);
  }

  watchBindings(): readonly ControllerWatch[] {
    return watchingBindings(this.#context.informers, (old, now) => {
      const { namespace = "", name = "" } = (now ?? old)?.metadata ?? {};
      const key = { namespace, name };
      return this.#takeIn(formatKey(key), old, now) ? [key] : [];
    });
  }

  /** Answers whether the binding must be reconciled. */
  #takeIn(id: string, old: Binding | undefined, now: Binding | undefined): boolean {
    if (now === undefined || !this.#isOurs(now)) {
      this.#interest.remove(id);
      this.#forced.delete(id);
      this.#failed.delete(id);
      this.#roomIsFree(this.#ledger.remove(id).map(({ cluster }) => cluster));
      return false;
    }
    this.#interest.put(id, now);
    const known = old !== undefined && this.#isOurs(old) ? old : undefined;
    const isChanged = known?.metadata.generation !== now.metadata.generation;
    const mayReturn =
      known !== undefined &&
      !hasCondition(now.status?.conditions, "Scheduled") &&
      isLetBack(known, now);
    const mayStep = known !== undefined && mayStepOn(known, now);
    if (known === undefined || mayReturn || mayStep || (isChanged && this.#isToLeave(now)))
      this.#forced.add(id);
    const freed = this.#ledger.takeIn(id, known, now, this.#context.time.moment());
    this.#roomIsFree(freed.map(({ cluster }) => cluster));
    this.#expireLater();
    const isConcerned = isChanged || mayReturn || mayStep;
    if (isConcerned) this.#metrics.incoming.add(1, { event: "BindingChanged" });
    return isConcerned;
  }

  /** Whether a cluster of the result is gone or going. */
  #isToLeave(binding: Binding): boolean {
    const { byName } = this.#context.fleetView.fleet;
    return clusterNamesOf(binding).some((name) => byName.get(name)?.isDeleting !== false);
  }

  #clusterChanged({ name, now, fitsMore, hasMoreRoom, livens, mayLose }: ClusterChange): void {
    const concerned = new Set<string>();
    if (mayLose) {
      for (const { metadata } of bindingsBy(this.#context.informers, "cluster", name))
        concerned.add(formatKey({ namespace: metadata.namespace ?? "", name: metadata.name }));
      for (const id of this.#interest.concernedByLoss()) concerned.add(id);
    }
    if (fitsMore && now !== undefined)
      for (const id of this.#interest.concernedByFit(now)) concerned.add(id);
    if (livens && now !== undefined)
      for (const id of this.#interest.concernedByLife(now)) concerned.add(id);
    if (hasMoreRoom && now !== undefined)
      for (const id of this.#interest.concernedByRoom(now)) concerned.add(id);
    this.#force(concerned);
  }

  #expireLater(): void {
    if (this.#cancelExpiry !== undefined || !this.#ledger.hasSettling) return;
    const { clock, time } = this.#context;
    this.#cancelExpiry = clock.after(this.#ledger.settleMs, () => {
      this.#cancelExpiry = undefined;
      this.#roomIsFree(this.#ledger.expire(time.moment()));
      this.#expireLater();
    });
  }

  #roomIsFree(clusters: readonly string[]): void {
    for (const name of clusters) {
      const candidate = this.#context.fleetView.fleet.byName.get(name);
      if (candidate !== undefined) this.#force(this.#interest.concernedByRoom(candidate));
    }
  }

  #force(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#forced.has(id)) continue;
      this.#forced.add(id);
      this.#metrics.incoming.add(1, { event: "ClusterChanged" });
      this.#add(parseKey(id));
    }
  }

  /** Whether a policy (or another owner) wants this binding placed, by us. */
  #isOurs(binding: Binding): boolean {
    return (
      hasScheduler(binding) && (binding.spec.schedulerName || DEFAULT_SCHEDULER) === this.#name
    );
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const id = formatKey(key);
    const binding = bindingOf(this.#context.informers, key);
    const isForced = [this.#forced.delete(id), this.#failed.delete(id)].includes(true);
    if (binding === undefined || !this.#isOurs(binding) || isHeldBack(binding)) return done;
    if (!isForced && isScheduled(binding)) return done;
    const now = this.#context.clock.now();
    const write = { plane: this.#context.plane, key, now, signal };
    try {
      const due = whyDue(binding, this.#context.fleetView.fleet);
      if (due === undefined) await writeObserved(write, binding);
      else {
        const again = await this.#schedule(id, binding, due, write);
        if (again !== undefined) {
          this.#forced.add(id);
          return checkAgainAt(again);
        }
      }
    } catch (error) {
      // One that was reconciled for a change of its own may have been placed by another scheduler meanwhile.
      if (isForced) this.#failed.add(id);
      throw error;
    }
    return done;
  }

  /** Answers when time alone changes the decision. */
  async #schedule(
    id: string,
    binding: Binding,
    due: ScheduleReason,
    write: Write,
  ): Promise<Instant | undefined> {
    const { clock, time } = this.#context;
    const estimates = await this.#estimator?.estimate(binding);
    const started = clock.monotonic();
    const decision = place(this.#viewOf(binding, estimates), time.moment());
    this.#metrics.algorithm.observe((clock.monotonic() - started) / 1000, {
      schedule_step: "Place",
    });
    this.#interest.wait(id, AWAITED[decision.reason]);
    this.#ledger.put(id, binding, decision.clusters);
    const schedule_type = due === "ReplicasChanged" ? "ScaleSchedule" : "ReconcileSchedule";
    let result = decision.reason === "Placed" ? "scheduled" : "unschedulable";
    try {
      const isWritten = await writeDecision(write, binding, decision);
      if (isWritten) this.#record(binding, decision);
    } catch (error) {
      result = "error";
      const seen = bindingOf(this.#context.informers, write.key);
      if (seen === undefined) this.#ledger.remove(id);
      else this.#ledger.put(id, seen);
      throw error;
    } finally {
      const seconds = (clock.monotonic() - started) / 1000;
      this.#metrics.attempts.add(1, { result, schedule_type });
      this.#metrics.duration.observe(seconds, { result, schedule_type });
    }
    return decision.again;
  }

  #viewOf(binding: Binding, estimates: ReadonlyMap<string, number> | undefined): PlacementView {
    const { fleet } = this.#context.fleetView;
    const { reserved } = this.#ledger;
    const letGoTimeoutMs = this.#letGoTimeoutMs;
    const seen = { fleet, reserved, letGoTimeoutMs, ...(estimates !== undefined && { estimates }) };
    return placementViewOf(binding, seen, "result");
  }

  /** On the binding and on its template: where it went, or why not. */
  #record(binding: Binding, { reason, message, clusters }: PlacementDecision): void {
    const isPlaced = reason === "Placed";
    const shares = clusters.map(({ name, replicas = 0 }) => `${name}:${replicas}`);
    const event = {
      type: isPlaced ? ("Normal" as const) : ("Warning" as const),
      reason: isPlaced ? "ScheduleBindingSucceed" : "ScheduleBindingFailed",
      message: isPlaced ? `${message} Result: {${shares.join(", ")}}` : message,
    };
    const { events } = this.#context;
    events.record(binding, event);
    const { apiVersion, kind, name, namespace, uid = "" } = binding.spec.resource;
    const metadata = { name, uid, ...(namespace !== undefined && { namespace }) };
    events.record({ apiVersion, kind, metadata }, event);
  }
}

const AWAITED: Readonly<Record<PlacementDecision["reason"], Awaited | undefined>> = {
  Placed: undefined,
  NoClusterFit: "fit",
  // Too little room shows in a selection, too.
  ConstraintsUnmet: "room",
  Unschedulable: "room",
  AwaitingPurge: undefined,
};

/**
 * Whether a quorum may start its next pod, because those before it are reported ready, or let one go, because the application
 * confirmed it (D15).
 */
function mayStepOn(old: Binding, now: Binding): boolean {
  if (isQuorum(old) !== isQuorum(now)) return true;
  return (
    isQuorum(now) &&
    (confirmedDepartures(old) !== confirmedDepartures(now) ||
      !equalJson(old.status?.aggregatedStatus, now.status?.aggregatedStatus))
  );
}

/** Not to be placed now, whatever is due. */
function isHeldBack({ metadata, spec }: Binding): boolean {
  return metadata.deletionTimestamp !== undefined || spec.suspension?.scheduling === true;
}
