/**
 * What `watch` follows: the objects of the fleet by watches, and each change of them as entries of the history. What happened before
 * it began is read once from the history itself.
 */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  type Evacuation,
  evacuationBudgets,
  evacuations,
  type EvacuationSlice,
  evacuationSlices,
  type KubeObject,
  type LedgerEntry,
  ledgerSlices,
  remedies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { type Clock, createRandom, plainMoment } from "@lifeboat/base";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import type { ApprovalMode } from "@lifeboat/core/failover/evacuation";
import type { FenceTrust } from "@lifeboat/core/failover/eviction-tasks";
import { entriesBetween, type Move, movesOf, phasesOf, readLedger } from "@lifeboat/core/history";
import { type Client, Informer, type Log, silentLog, silentMetrics } from "@lifeboat/kit";
import { approvalModeOf } from "../approval-mode.ts";
import { fenceTrust } from "../fence-trust.ts";
import { seedFromProcess } from "../process-settings.ts";

export interface FeedPorts {
  readonly clock: Clock;
  readonly plane: Client;
  /** Called with what keeps the control plane from being read. */
  readonly onTrouble: (message: string) => void;
}

export class FleetFeed {
  readonly #clock: Clock;
  readonly #plane: Client;
  readonly #clusters: Informer<Cluster>;
  readonly #bindings: readonly Informer<ResourceBinding>[];
  readonly #evacuations: Informer<Evacuation>;
  readonly #slices: Informer<EvacuationSlice>;
  readonly #others: readonly Informer<KubeObject>[];
  #history: LedgerEntry[] = [];
  #trust: FenceTrust = { trustFencedCondition: false };
  #approval: ApprovalMode = "Policy";

  constructor({ clock, plane, onTrouble }: FeedPorts) {
    this.#clock = clock;
    this.#plane = plane;
    const log: Log = {
      ...silentLog,
      warn: (message, fields) => {
        const error = fields?.["error"];
        onTrouble(error instanceof Error ? error.message : message);
      },
      child: () => log,
    };
    const ports = { clock, random: createRandom(seedFromProcess()), log, metrics: silentMetrics };
    const of = <T extends KubeObject>(resource: Resource<T>): Informer<T> =>
      new Informer(ports, plane, resource);
    this.#clusters = of(clusters);
    this.#bindings = [of(resourceBindings), of(clusterResourceBindings)];
    this.#evacuations = of(evacuations);
    this.#slices = of(evacuationSlices);
    this.#others = [of(evacuationBudgets), of(remedies)] as unknown as Informer<KubeObject>[];
  }

  /** Reads everything once, then calls `tell` with each change, until the signal aborts. */
  async run(
    tell: (entries: readonly LedgerEntry[]) => void,
    onSynced: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const published = await readPublished(this.#plane);
    this.#trust = fenceTrust(published);
    this.#approval = approvalModeOf(published);
    this.#history = [...readLedger((await this.#plane.list(ledgerSlices)).items)];
    const told = [this.#clusters, ...this.#bindings, this.#evacuations, ...this.#others];
    const all = [...told, this.#slices] as unknown as readonly Informer<KubeObject>[];
    const running = all.map((informer) => informer.run(signal));
    for (const informer of all) if (!(await informer.whenSynced(signal))) return;
    for (const informer of told as unknown as readonly Informer<KubeObject>[]) {
      let isNew = false;
      informer.onChange((old, now) => {
        if (!isNew) return;
        const entries = entriesBetween(old, now, this.#clock.now());
        if (entries.length === 0) return;
        this.#history.push(...entries);
        tell(entries);
      });
      isNew = true;
    }
    onSynced();
    await Promise.all(running);
  }

  /** All evacuations, the newest last. */
  evacuations(): readonly Evacuation[] {
    return [...this.#evacuations.list()].toSorted((a, b) => {
      const [one, other] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
      return one < other ? -1 : one > other ? 1 : 0;
    });
  }

  moves(evacuation: Evacuation): readonly Move[] {
    const { name } = evacuation.metadata;
    return movesOf({
      evacuation,
      slices: [...this.#slices.list()].filter(({ spec }) => spec.evacuation === name),
      bindings: this.#bindings.flatMap((informer) => [...informer.list()]),
      approval: this.#approval,
      moment: plainMoment(this.#clock.now()),
      clusters: [...this.#clusters.list()],
      trust: this.#trust,
      history: this.#history,
    });
  }

  phases(evacuation: Evacuation): ReturnType<typeof phasesOf> {
    const cluster = this.#clusters.get({ namespace: "", name: evacuation.spec.cluster });
    return phasesOf(evacuation, cluster, this.#history);
  }
}
