/**
 * What is under way in a failover at a moment, as the control plane's own objects show it: copies of them are kept by watches that
 * outlive the API server, so that a look takes no request.
 */
import {
  type Evacuation,
  evacuations,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type Client, Informer, silentLog, silentMetrics } from "@lifeboat/kit";

export const PHASES = [
  /** No eviction yet: the record of who is affected is being written. */
  "recording",
  /** Some were evicted, others not yet. */
  "releasing",
  /** Evicted, and the scheduler has not decided yet. */
  "between eviction and scheduling",
  /** A new cluster is known, and nothing healthy reported from there. */
  "starting the substitute",
  /** Healthy elsewhere, and the task still there. */
  "clearing",
] as const;

export type Phase = (typeof PHASES)[number];

/** How many workloads were in which phase; `recording` is 1 or nothing. */
export type Glance = Readonly<Record<Phase, number>>;

export class Phases {
  readonly #bindings: Informer<ResourceBinding>;
  readonly #records: Informer<Evacuation>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(client: Client) {
    const ports = {
      clock: createRealClock(),
      random: createRandom(1),
      log: silentLog,
      metrics: silentMetrics,
    };
    this.#bindings = new Informer(ports, client, resourceBindings);
    this.#records = new Informer(ports, client, evacuations);
    const { signal } = this.#stopping;
    this.#running = Promise.all([this.#bindings.run(signal), this.#records.run(signal)]);
  }

  static async start(client: Client): Promise<Phases> {
    const phases = new Phases(client);
    const { signal } = phases.#stopping;
    await Promise.all([phases.#bindings.whenSynced(signal), phases.#records.whenSynced(signal)]);
    return phases;
  }

  /** What is under way with the workloads that leave the member. */
  glance(member: string): Glance {
    const found = { waiting: 0, unscheduled: 0, starting: 0, clearing: 0 };
    for (const { spec, status } of this.#bindings.list()) {
      const [target] = spec.clusters ?? [];
      const isLeaving = (spec.gracefulEvictionTasks ?? []).some(
        ({ fromCluster }) => fromCluster === member,
      );
      if (target?.name === member) found.waiting++;
      else if (target === undefined) found.unscheduled++;
      else if (isLeaving) {
        const report = status?.aggregatedStatus?.find((one) => one.clusterName === target.name);
        if (report?.health === "Healthy") found.clearing++;
        else found.starting++;
      }
    }
    const hasReleased = found.waiting < this.#bindings.size;
    return {
      recording: hasReleased ? 0 : 1,
      releasing: hasReleased ? found.waiting : 0,
      "between eviction and scheduling": found.unscheduled,
      "starting the substitute": found.starting,
      clearing: found.clearing,
    };
  }

  /** Whether nothing is under way any more: the last task was cleared. */
  isOver(member: string): boolean {
    return Object.values(this.glance(member)).every((count) => count === 0);
  }

  /** What the newest record of an evacuation says of itself. */
  recorded(former: readonly string[]): string {
    const record = this.#records.list().find(({ metadata }) => !former.includes(metadata.name));
    return record === undefined ? "no record" : (record.status?.phase ?? "no phase");
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
