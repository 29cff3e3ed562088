/**
 * What would happen if these clusters failed now: the production code plays it, from a snapshot, on a virtual clock.
 *
 * 1. Nothing outside is touched: after the snapshot was read, no connection is used.
 * 2. It ends when nothing was written for longer than every wait of the snapshot and of the request (`rest.ts`), or at the limit.
 * 3. A Pull member fails together with its agent: its silence is found by a lease that lapses.
 * 4. In a member that is overfull already, which pods wait is decided anew: the control plane's API does not have it.
 */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  evacuations,
  evacuationSlices,
  findCondition,
  type KubeObject,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { plainMoment } from "@lifeboat/base";
import { clusterNamesOf, resultOf } from "@lifeboat/core/binding";
import { workloadOf } from "@lifeboat/core/clusters";
import { isFailed } from "@lifeboat/core/failover/evacuation";
import {
  evacuationEntries,
  type Outcome,
  sharesOf,
  strengthWithout,
} from "@lifeboat/core/operating";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import type { Committed, Ledger } from "../disk/ledger.ts";
import { createSimulation, type Simulation, type SimulationPorts } from "../simulation.ts";
import { applyFirst, HEARTBEATS, type PlayFrom, type PlayRequest, untilAtRest } from "./play.ts";
import { restMsOf } from "./rest.ts";
import { isWhole, outcomeOf, type OutcomeView } from "./outcome.ts";

export interface FailureRequest extends PlayRequest {
  /** The clusters that fail, all at once. */
  readonly fail: readonly string[];
}

/** Times are milliseconds since the failure; absent: it did not happen. */
export interface PlayedCluster {
  readonly name: string;
  readonly notReadyAt?: number;
  /** When it got a taint that moves workloads. */
  readonly failedAt?: number;
}

export interface PlayedWorkload extends Outcome {
  /** `Deployment shop/web`. */
  readonly workload: string;
  /** `member1:2, member2:1`. */
  readonly before: string;
  readonly after: string;
  /** What is left of it until it is whole again: `4/6`. */
  readonly meanwhile: string;
  /** When no failed cluster was in its result any more. */
  readonly leftAt?: number;
  /** When it was whole again. */
  readonly wholeAt?: number;
}

export interface PlayedFailure {
  readonly fail: readonly string[];
  readonly clusters: readonly PlayedCluster[];
  /** Those with a copy in a failed cluster, by name. */
  readonly workloads: readonly PlayedWorkload[];
  /** How many have no copy there. */
  readonly untouched: number;
  /** How much time was played. */
  readonly playedMs: number;
  /** Whether things were still moving at the limit. */
  readonly isCutOff: boolean;
}

export async function playFailure(
  ports: SimulationPorts,
  { snapshot, images }: PlayFrom,
  request: FailureRequest,
): Promise<PlayedFailure> {
  const simulation = await createSimulation(ports, {
    seed: 1,
    members: [...images.joined.keys()],
    images,
    controllers: request.controllers,
  });
  if (request.apply !== undefined) await applyFirst(simulation, snapshot, request.apply);
  const failed = new Set(request.fail);
  const diary = new Diary(simulation.ledger, failed);
  for (const name of request.fail) {
    simulation.agents.get(name)?.crash();
    simulation.member(name).crash();
  }
  const restMs = restMsOf(snapshot, request);
  const { limitMs } = request;
  const end = await untilAtRest(simulation, () => diary.lastChange, { restMs, limitMs });
  return {
    fail: request.fail,
    clusters: request.fail.map((name) => ({ name, ...diary.cluster(name) })),
    workloads: workloadsOf(simulation, diary, request),
    untouched: diary.untouched,
    ...end,
  };
}

function workloadsOf(
  { clock, ledger }: Simulation,
  diary: Diary,
  { fail, controllers }: FailureRequest,
): readonly PlayedWorkload[] {
  const read = <T extends KubeObject>({ group, plural }: Resource<T>): readonly T[] =>
    ledger.objects("plane", `${group}/${plural}`).map(({ object }) => object as unknown as T);
  const bindings = [...read(resourceBindings), ...read(clusterResourceBindings)];
  const failed = new Set(fail);
  const entries = new Map<string, OutcomeView["entry"]>();
  const slices = read(evacuationSlices);
  const moment = plainMoment(clock.now());
  for (const evacuation of read(evacuations)) {
    if (!failed.has(evacuation.spec.cluster)) continue;
    const own = slices.filter(({ spec }) => spec.evacuation === evacuation.metadata.name);
    const approval = controllers.evacuationApproval ?? "Policy";
    const view = { evacuation, slices: own, bindings, approval, moment };
    for (const listed of evacuationEntries(view))
      entries.set(listed.entry.binding.uid, { ...listed, evacuation });
  }
  const sick = read(clusters).filter(({ metadata }) => failed.has(metadata.name));
  return bindings
    .flatMap((binding): readonly PlayedWorkload[] => {
      const before = diary.before(binding);
      if (before === undefined) return [];
      const entry = entries.get(binding.metadata.uid);
      return [
        {
          workload: workloadOf(binding),
          before: sharesOf(resultOf(before)),
          after: sharesOf(resultOf(binding)),
          meanwhile: strengthWithout(resultOf(before), failed),
          ...diary.times(binding),
          ...outcomeOf({
            binding,
            works: diary.worksOf(binding),
            failed,
            clusters: sick,
            failover: controllers.failover === true,
            ...(entry && { entry }),
          }),
        },
      ];
    })
    .toSorted((a, b) => (a.workload < b.workload ? -1 : 1));
}

const BINDING_TABLES: ReadonlySet<string> = new Set(
  [resourceBindings, clusterResourceBindings].map(({ group, plural }) => `${group}/${plural}`),
);
const WORK_TABLE = `${works.group}/${works.plural}`;
const CLUSTER_TABLE = `${clusters.group}/${clusters.plural}`;

/** The id that a binding and its Works bear. */
function idOf({ metadata: { labels = {} } }: KubeObject): string {
  return labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID] ?? "";
}

interface Times {
  leftAt?: number;
  wholeAt?: number;
}

/** When what happened, from the writes of the control plane. */
class Diary {
  readonly #began: number;
  readonly #failed: ReadonlySet<string>;
  /** The bindings with a copy in a failed cluster as they were, by uid. */
  readonly #before = new Map<string, ResourceBinding>();
  readonly #times = new Map<string, Times>();
  /** Those bindings as they are, and their Works by cluster, by the permanent id that both bear. */
  readonly #now = new Map<string, ResourceBinding>();
  readonly #works = new Map<string, Map<string, Work>>();
  readonly #clusters = new Map<string, { notReadyAt?: number; failedAt?: number }>();
  readonly untouched: number;
  /** Since the beginning. */
  lastChange = 0;

  constructor(ledger: Ledger, failed: ReadonlySet<string>) {
    this.#began = ledger.now;
    this.#failed = failed;
    let untouched = 0;
    for (const table of BINDING_TABLES)
      for (const { object } of ledger.objects("plane", table)) {
        const binding = object as unknown as ResourceBinding;
        const isThere = clusterNamesOf(binding).some((name) => failed.has(name));
        if (isThere) this.#before.set(binding.metadata.uid, binding);
        else untouched += 1;
      }
    this.untouched = untouched;
    for (const { object } of ledger.objects("plane", WORK_TABLE))
      this.#worksFor(object).set(
        clusterOfWork(object as unknown as Work),
        object as unknown as Work,
      );
    ledger.onChange((change) => this.#note(ledger, change));
  }

  before({ metadata }: ResourceBinding): ResourceBinding | undefined {
    return this.#before.get(metadata.uid);
  }

  worksOf(binding: ResourceBinding): ReadonlyMap<string, Work> {
    return this.#works.get(idOf(binding)) ?? new Map<string, Work>();
  }

  times({ metadata }: ResourceBinding): Times {
    return this.#times.get(metadata.uid) ?? {};
  }

  cluster(name: string): Omit<PlayedCluster, "name"> {
    return this.#clusters.get(name) ?? {};
  }

  #note(ledger: Ledger, { at, server, table, key, previous }: Committed): void {
    if (HEARTBEATS.has(table)) return;
    this.lastChange = at - this.#began;
    if (server !== "plane") return;
    const held = ledger.find("plane", table, key)?.object;
    if (held === undefined) {
      if (table === WORK_TABLE && previous !== undefined)
        this.#worksFor(previous.object).delete(clusterOfWork(previous.object as unknown as Work));
      return;
    }
    if (BINDING_TABLES.has(table)) this.#noteBinding(held as unknown as ResourceBinding);
    if (table === WORK_TABLE) this.#noteWork(held as unknown as Work);
    if (table === CLUSTER_TABLE) this.#noteCluster(held as unknown as Cluster);
  }

  #noteBinding(binding: ResourceBinding): void {
    const { uid } = binding.metadata;
    if (!this.#before.has(uid)) return;
    const times = this.#times.get(uid) ?? {};
    this.#times.set(uid, times);
    if (!clusterNamesOf(binding).some((name) => this.#failed.has(name)))
      times.leftAt ??= this.lastChange;
    this.#now.set(idOf(binding), binding);
    this.#noteWhole(binding, times);
  }

  #noteWork(work: Work): void {
    this.#worksFor(work).set(clusterOfWork(work), work);
    const binding = this.#now.get(idOf(work));
    const times = this.#times.get(binding?.metadata.uid ?? "");
    if (binding !== undefined && times !== undefined) this.#noteWhole(binding, times);
  }

  /** Only once it left: a copy that has failed looks healthy until its silence is noticed. */
  #noteWhole(binding: ResourceBinding, times: Times): void {
    if (times.leftAt === undefined || times.wholeAt !== undefined) return;
    if (isWhole({ binding, works: this.worksOf(binding), failed: this.#failed }))
      times.wholeAt = this.lastChange;
  }

  #worksFor(object: KubeObject): Map<string, Work> {
    const id = idOf(object);
    const found = this.#works.get(id) ?? new Map<string, Work>();
    this.#works.set(id, found);
    return found;
  }

  #noteCluster(cluster: Cluster): void {
    const { name } = cluster.metadata;
    if (!this.#failed.has(name)) return;
    const times = this.#clusters.get(name) ?? {};
    this.#clusters.set(name, times);
    const isReady = findCondition(cluster.status?.conditions, "Ready")?.status === "True";
    if (!isReady) times.notReadyAt ??= this.lastChange;
    if (isFailed(cluster)) times.failedAt ??= this.lastChange;
  }
}
