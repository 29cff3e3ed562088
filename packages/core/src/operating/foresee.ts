/**
 * What would become of every workload if one cluster died, for each cluster of a fleet in turn: decided by the functions that the
 * control plane itself asks, on one view that all these failures share. It is the quick sibling of a played failure: no member
 * is simulated and no time passes, so that it answers for a thousand clusters within minutes.
 *
 *   taints      which ones the policies would add, and when                `decideTaints`
 *   entries     what would be recorded of each workload                    `judge`
 *   order       priority, time, name; lanes; tokens of the fleet's rate    `EvictionQueue`, `rateOf`
 *   release     whether it may go, and where to                            `decideRelease`
 *
 * 1. A workload that leaves takes its room from those that leave after it. Each failure begins with the fleet as it is.
 * 2. That a new copy becomes healthy is not known here; that its cluster has no room for it is.
 * 3. State is read from the binding's summary, as the control plane does where there is no Work.
 * 4. Evacuations that are under way are not gone on with: each cluster dies in a fleet that is otherwise at rest.
 */
import type {
  Cluster,
  ClusterTaintPolicy,
  EvacuationBudget,
  KubeObject,
  ResourceBinding,
} from "@lifeboat/api";
import { addMs, formatTime, type Instant, parseTime, plainMoment } from "@lifeboat/base";
import {
  clusterNamesOf,
  isOn,
  type PurgeMode,
  purgeModeOf,
  resultOf,
  shareIn,
} from "../binding/index.ts";
import { workloadOf } from "../clusters/stuck.ts";
import { affectedBy, evictingTaints } from "../failover/evacuation/affected.ts";
import { asksForApproval, needsApproval } from "../failover/evacuation/approval.ts";
import { priorityOf } from "../failover/evacuation/priority.ts";
import { EvictionQueue, type Lane, type Queued } from "../failover/evacuation/queue.ts";
import { isFailed, type RateOptions, rateReasons } from "../failover/evacuation/rate.ts";
import { compareEntries, judge, type JudgeOptions } from "../failover/evacuation/record.ts";
import { decideRelease } from "../failover/evacuation/release.ts";
import { identityOf, type TaintIdentity } from "../failover/evacuation/taint-identity.ts";
import { type Candidate, candidateOf, fleetOf } from "../placement/candidate.ts";
import { placementViewOf } from "../placement/placement-view.ts";
import { movePromise, reservedBy } from "../placement/reserve.ts";
import { roomFor } from "../placement/room.ts";
import { isDivided, readPlacement } from "../placement/rules.ts";
import type { Target } from "../placement/view.ts";
import { readWorkload } from "../placement/workload.ts";
import { pauseOf, RateWhenDead } from "./brakes.ts";
import { deadCluster, type DeadCluster, noticedAfterMs } from "./dead-cluster.ts";
import type { IfDiedSettings } from "./if-died.ts";
import { type Outcome, plainOutcome, remains, strengthWithout } from "./outcome.ts";
import { sharesOf } from "./shares.ts";

export interface ForesightView {
  readonly clusters: readonly Cluster[];
  /** All of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  readonly taintPolicies: readonly ClusterTaintPolicy[];
  /** What people ordered: pauses, the rate that they set. */
  readonly budget: EvacuationBudget["spec"] | undefined;
  readonly settings: IfDiedSettings;
  readonly rates: RateOptions;
  /** The policy that claims a binding; undefined: it is gone. */
  policyOf(binding: ResourceBinding): Pick<KubeObject, "metadata"> | undefined;
  priorityClassOf(name: string): object | undefined;
  /** Whether a user's script interprets the replicas or the health of this kind. */
  isScripted(apiVersion: string, kind: string): boolean;
}

/** Times are milliseconds since the failure, at the earliest. */
export interface ForeseenWorkload extends Outcome {
  /** `Deployment shop/web`. */
  readonly workload: string;
  /** `member1:2, member2:1`. */
  readonly before: string;
  readonly after: string;
  /** What is left of it until it is whole again: `4/6`. */
  readonly meanwhile: string;
  readonly leftAt?: number;
}

export interface ForeseenCluster {
  readonly name: string;
  readonly notReadyAt: number;
  /** When it gets a taint that moves workloads; absent: never. */
  readonly failedAt?: number;
}

export interface ForeseenFailure {
  readonly fail: readonly string[];
  readonly clusters: readonly ForeseenCluster[];
  /** Those with a copy there, by name. */
  readonly workloads: readonly ForeseenWorkload[];
  /** How many have no copy there. */
  readonly untouched: number;
}

/** Reads the fleet once; then every cluster is asked about. */
export function createForesight(view: ForesightView, now: Instant): Foresight {
  return new Foresight(view, now);
}

export class Foresight {
  readonly #view: ForesightView;
  readonly #now: Instant;
  readonly #candidates: readonly Candidate[];
  readonly #clusters: ReadonlyMap<string, Cluster>;
  readonly #reserved: Map<string, Map<string, number>>;
  readonly #byCluster = new Map<string, ResourceBinding[]>();
  readonly #judgeOptions: JudgeOptions;
  /** Clusters that have failed already. */
  readonly #failed: ReadonlySet<string>;

  constructor(view: ForesightView, now: Instant) {
    this.#view = view;
    this.#now = now;
    this.#candidates = view.clusters.map(candidateOf);
    this.#clusters = new Map(view.clusters.map((one) => [one.metadata.name, one]));
    this.#reserved = reservedBy(view.bindings);
    this.#failed = new Set(view.clusters.filter(isFailed).map(({ metadata }) => metadata.name));
    for (const binding of view.bindings)
      for (const name of new Set(clusterNamesOf(binding))) {
        const there = this.#byCluster.get(name);
        if (there === undefined) this.#byCluster.set(name, [binding]);
        else there.push(binding);
      }
    this.#judgeOptions = {
      defaultPurgeMode: view.settings.purgeMode,
      isScripted: (apiVersion, kind) => view.isScripted(apiVersion, kind),
      asksForApproval: (binding) => asksForApproval(view.policyOf(binding)),
      priorityOf: (binding) =>
        priorityOf(binding, view.policyOf(binding), (name) => view.priorityClassOf(name)),
    };
  }

  /** What the failure of this cluster alone would do. */
  failureOf(name: string): ForeseenFailure {
    const { settings, taintPolicies, bindings } = this.#view;
    const source = this.#clusters.get(name);
    const there = this.#byCluster.get(name) ?? [];
    const notReadyAt = source === undefined ? 0 : noticedAfterMs(source, settings);
    const noticed = addMs(this.#now, notReadyAt);
    const dead = source && deadCluster(source, taintPolicies, noticed);
    const failedAt = parseTime(dead?.taints[0]?.timeAdded ?? "");
    const workloads =
      dead === undefined || !settings.failover || dead.taints.length === 0
        ? there.map((binding) =>
            this.#stays(binding, name, {
              reason: settings.failover ? "NotTainted" : "GateOff",
              message: "",
            }),
          )
        : this.#evacuate(there, dead);
    const isTainted = failedAt !== undefined && settings.failover;
    const noticedAt = { name, notReadyAt };
    return {
      fail: [name],
      clusters: [isTainted ? { ...noticedAt, failedAt: failedAt - this.#now } : noticedAt],
      workloads: workloads.toSorted((a, b) => (a.workload < b.workload ? -1 : 1)),
      untouched: bindings.length - there.length,
    };
  }

  /** All workloads of a dead cluster, in the order in which they would leave. */
  #evacuate(there: readonly ResourceBinding[], dead: DeadCluster): readonly ForeseenWorkload[] {
    const { name } = dead.cluster.metadata;
    const told: ForeseenWorkload[] = [];
    const leaving: Leaver[] = [];
    for (const binding of there) {
      const found = this.#leaverOf(binding, name, dead);
      if ("reason" in found) told.push(this.#stays(binding, name, found));
      else leaving.push(found);
    }
    const queue = new EvictionQueue<Leaver & Queued>();
    for (const [order, one] of leaving
      .toSorted((a, b) => compareEntries(a.entry, b.entry))
      .entries())
      queue.put({ ...one, cluster: name, id: one.binding.metadata.uid, order });
    const moves: Move[] = [];
    const { clusters, budget, rates } = this.#view;
    const rate = new RateWhenDead(dead.cluster, clusters, budget, rates);
    const fleet = fleetOf(this.#candidates.filter((one) => one.name !== name));
    try {
      this.#serve(queue, rate, (leaver, at) => {
        const step = this.#release(leaver, fleet, name, at);
        told.push(step.told);
        if (step.move === undefined) return false;
        moves.push(step.move);
        movePromise(this.#reserved, leaver.binding, undefined, step.move.targets);
        return true;
      });
      const message = rateReasons[rate.at(this.#now).reason];
      for (const { binding } of drained(queue, name))
        told.push(this.#stays(binding, name, { reason: "Queued", message }));
    } finally {
      // The next failure begins with the fleet as it is.
      // seed: promises-taken-back
      for (const { binding, targets } of moves)
        movePromise(this.#reserved, binding, targets, undefined);
    }
    return told;
  }

  /** Whether and when it may leave, or why it stays. */
  #leaverOf(binding: ResourceBinding, name: string, dead: DeadCluster): Leaver | Outcome {
    const { settings, budget } = this.#view;
    const judged = dead.taints.map((taint) => ({
      taint: identityOf(taint),
      entry: judge(binding, name, taint, this.#judgeOptions),
    }));
    const moving = judged.filter(({ entry }) => entry.exempt === undefined);
    if (moving.length === 0)
      return { reason: "Exempt", message: judged[0]?.entry.exempt ?? "Tolerated" };
    const free = moving.filter(
      ({ entry, taint }) => !needsApproval(entry, taint, settings.approval),
    );
    if (free.length === 0) return plainOutcome("AwaitingApproval");
    const pause = pauseOf(budget, name, binding);
    if (pause !== undefined) return { reason: "Queued", message: pause };
    const [first] = free
      .map(({ taint, entry }) => ({
        binding,
        taint,
        entry,
        lane: entry.lane,
        purgeMode: purgeModeOf(entry.purgeMode, settings.purgeMode),
        priority: entry.priority ?? 0,
        dueAt: parseTime(entry.toleratedUntil ?? taint.timeAdded ?? "") ?? this.#now,
      }))
      .toSorted((a, b) => a.dueAt - b.dueAt);
    return first ?? plainOutcome("Queued");
  }

  /** Gives each leaver its turn; `release` answers whether it took a token. Ends early where nothing may move. */
  #serve(
    queue: EvictionQueue<Leaver & Queued>,
    rate: RateWhenDead,
    release: (leaver: Leaver, at: Instant) => boolean,
  ): void {
    let at = this.#now;
    for (;;) {
      const dues = LANES.map((lane) => ({ lane, dueAt: queue.nextDueAt(lane) }));
      const waiting = dues.flatMap(({ dueAt }) => dueAt ?? []);
      if (waiting.length === 0) return;
      const due = dues.find(({ dueAt }) => dueAt !== undefined && dueAt <= at);
      if (due === undefined) {
        at = waiting.reduce((a, b) => (a < b ? a : b));
        continue;
      }
      const movesAt = rate.firstMoveFrom(at);
      if (movesAt === undefined) return;
      if (movesAt > at) {
        at = movesAt;
        continue;
      }
      const next = queue.take(due.lane, at);
      if (next !== undefined && release(next, at))
        at = addMs(at, Math.ceil(1000 / rate.perSecond(due.lane, at)));
    }
  }

  #release(
    { binding, taint, purgeMode }: Leaver,
    fleet: ReturnType<typeof fleetOf>,
    name: string,
    at: Instant,
  ): { readonly told: ForeseenWorkload; readonly move?: Move } {
    const { settings } = this.#view;
    const decision = decideRelease(
      {
        evacuation: name,
        cluster: name,
        taint: { ...taint, timeAdded: taint.timeAdded ?? formatTime(at) },
        purgeMode,
        placement: placementViewOf(binding, { fleet, reserved: this.#reserved }, "target"),
        leaving: new Set([name, ...this.#alsoLeft(binding)]),
        healthyElsewhere: 0,
        state: {
          work: undefined,
          policy: this.#view.policyOf(binding),
          enabled: settings.statefulFailoverInjection,
          template: {},
        },
      },
      plainMoment(at),
    );
    if (decision.outcome === "held") {
      const message = `${decision.reason}: ${decision.message}`;
      return { told: this.#stays(binding, name, { reason: "Held", message }) };
    }
    const { targets } = decision;
    const move = { binding, targets };
    const rest = resultOf(binding).filter((one) => one.name !== name);
    const leftAt = at - this.#now;
    if (purgeMode === "Directly") {
      const why = plainOutcome("AwaitingFence");
      const outcome = hasWholeCopy(binding, name) ? remains(why) : why;
      return { told: { ...toldOf(binding, name, rest), leftAt, ...outcome }, move };
    }
    return {
      told: { ...toldOf(binding, name, targets), leftAt, ...this.#arrival(move, fleet) },
      move,
    };
  }

  /** Whether the copies have room where they go, and those that stay are healthy. */
  #arrival({ binding, targets }: Move, fleet: ReturnType<typeof fleetOf>): Outcome {
    const { replicas, request, hasShares } = readWorkload(binding);
    for (const target of targets) {
      const had = shareIn(binding, target.name);
      const gained = (target.replicas ?? replicas) - (had?.replicas ?? 0);
      if (had !== undefined && !isHealthyIn(binding, target.name))
        return { reason: "NotHealthy", message: `its copy in ${target.name} is not healthy` };
      const room = fleet.byName.get(target.name)?.room;
      if (!hasShares || gained <= 0 || room === undefined) continue;
      if (roomFor(room, request, this.#reserved.get(target.name)) < gained)
        return { reason: "NotHealthy", message: `${target.name} has no room for it` };
    }
    return plainOutcome("Moved");
  }

  /** Other clusters that have failed and that it would leave, too. */
  *#alsoLeft(binding: ResourceBinding): Iterable<string> {
    if (this.#failed.size === 0) return;
    for (const other of clusterNamesOf(binding)) {
      const cluster = this.#failed.has(other) ? this.#clusters.get(other) : undefined;
      const taints = cluster === undefined ? [] : evictingTaints(cluster);
      if (
        taints.some(
          (taint) => affectedBy(binding, other, taint, this.#view.settings.purgeMode).affected,
        )
      )
        yield other;
    }
  }

  #stays(binding: ResourceBinding, name: string, why: Outcome): ForeseenWorkload {
    const outcome = hasWholeCopy(binding, name) ? remains(why) : why;
    return { ...toldOf(binding, name, resultOf(binding)), ...outcome };
  }
}

const LANES: readonly Lane[] = ["Workload", "Passive"];

interface Leaver {
  readonly binding: ResourceBinding;
  readonly taint: TaintIdentity;
  readonly entry: ReturnType<typeof judge>;
  readonly lane: Lane;
  readonly purgeMode: PurgeMode;
  readonly priority: number;
  readonly dueAt: Instant;
}

interface Move {
  readonly binding: ResourceBinding;
  readonly targets: readonly Target[];
}

/** Takes out what was not served. */
function* drained(queue: EvictionQueue<Leaver & Queued>, name: string): Iterable<Leaver & Queued> {
  for (const lane of LANES)
    while (queue.sizeOf(lane, name) > 0) {
      const next = queue.take(lane, Infinity as Instant);
      if (next === undefined) return;
      yield next;
    }
}

function toldOf(
  binding: ResourceBinding,
  failed: string,
  after: readonly Target[],
): Pick<ForeseenWorkload, "workload" | "before" | "after" | "meanwhile"> {
  return {
    workload: workloadOf(binding),
    before: sharesOf(resultOf(binding)),
    after: sharesOf(after),
    meanwhile: strengthWithout(resultOf(binding), new Set([failed])),
  };
}

/** Whether every copy is the whole workload, and one that is not in the failed cluster is healthy. */
function hasWholeCopy(binding: ResourceBinding, failed: string): boolean {
  if (isDivided(readPlacement(binding.spec.placement))) return false;
  return clusterNamesOf(binding).some((name) => name !== failed && isHealthyIn(binding, name));
}

function isHealthyIn(binding: ResourceBinding, name: string): boolean {
  return (
    isOn(binding, name) &&
    (binding.status?.aggregatedStatus ?? []).some(
      ({ clusterName, health }) => clusterName === name && health === "Healthy",
    )
  );
}
