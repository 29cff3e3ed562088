/**
 * The Works of one cluster, brought to its member: one reconciliation of a Work applies its objects, reads what they
 * report, and writes the Work's status once, if anything changed.
 *
 *   Work, member object, script, Ready ──▶ keep-work.ts   ──▶ applied or failed ──▶ status, Events (report-work.ts)
 *   Work being deleted                 ──▶ remove-work.ts ──▶ object gone       ──▶ finalizer off
 *   object without a Work              ──▶ stray-copies.ts
 *
 * This file holds the queue, what fills it, and which of the three a key goes to. It needs a plane and a member as Clients
 * and nothing else, so it runs in the control plane (push) and beside the member (pull) alike.
 *
 * 1. Each cluster has a queue and workers of its own: a member that hangs delays no other member.
 * 2. Whether a member can be reached is found out by a request to it, not by its Ready condition. After a failure a Work
 *    is reconciled after a growing pause, up to a minute (reconcile-again.ts), and at once when the member is back
 *    (`lookAgain`).
 * 3. A Work that comes back from the plane as it was last reported is not reconciled: nothing in it is new.
 */
import { type Cluster, type ObjectKey, services, type Work } from "@lifeboat/api";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  type Client,
  type CollectionLimits,
  type Controller,
  type ControllerWatch,
  createController,
  done,
  type EventRecorder,
  type KitPorts,
  type Outcome,
  type Service,
} from "@lifeboat/kit";
import type { Interpretation } from "../../context/interpretation.ts";
import { createFederatedPods, type FederatedPods } from "../federated-pods/federated-pods.ts";
import type { ManifestPorts } from "./keep-manifest.ts";
import { type KeepPorts, keepWork } from "./keep-work.ts";
import { LateCreates } from "./late-creates.ts";
import { MemberApis } from "./member-apis.ts";
import { MemberEndpoints } from "./member-endpoints.ts";
import { MemberObjects } from "./member-objects.ts";
import { MemberWrites } from "./member-writes.ts";
import { declareExecutionMetrics } from "./metrics.ts";
import { removeWork } from "./remove-work.ts";
import type { PlaneWord } from "./still-wanted.ts";
import { removeStray } from "./stray-copies.ts";
import { newestOf, WorkMemories } from "./work-memory.ts";

/** The Works of one cluster, from a cache. */
export interface ClusterWorks extends ControllerWatch {
  get(key: ObjectKey): Work | undefined;
}

export interface ClusterExecutionParts {
  readonly cluster: string;
  readonly plane: Client;
  readonly member: Client;
  readonly works: ClusterWorks;
  /** What the plane decided about bindings: `askBindings` in the control plane, `readEndorsements` in an agent. */
  readonly word: PlaneWord;
  readonly events: EventRecorder;
  readonly interpretation: Interpretation;
  /** The Cluster of the member; absent: where it is is not known. */
  readonly own?: () => Cluster | undefined;
  /** How much the member may put into an informer's copy; absent: it is trusted. */
  readonly limits?: CollectionLimits;
}

export interface ClusterExecution extends Service {
  /** The member may be back: everything that failed is reconciled now. */
  lookAgain(): void;
  /** Another script answers for this kind. */
  lookAtKind(apiVersion: string, kind: string): void;
}

const CONCURRENCY = 8;

/** Builds the execution of one cluster's Works; `run` starts it. */
export function createClusterExecution(
  ports: KitPorts,
  parts: ClusterExecutionParts,
): ClusterExecution {
  return new WorksOfCluster(ports, parts);
}

class WorksOfCluster implements ClusterExecution {
  readonly name: string;
  readonly #parts: ClusterExecutionParts;
  readonly #controller: Controller;
  readonly #ports: KeepPorts;
  readonly #memories: WorkMemories;
  readonly #federatedPods: FederatedPods;

  constructor(ports: KitPorts, parts: ClusterExecutionParts) {
    const { cluster, plane, member, events, works, word, limits } = parts;
    const { clock } = ports;
    const log = ports.log.child({ cluster });
    const source = { member, namespace: executionNamespace(cluster), ...(limits && { limits }) };
    this.name = `execution ${cluster}`;
    this.#parts = parts;
    this.#federatedPods = createFederatedPods({ ...ports, log }, parts);
    this.#ports = {
      cluster,
      clock,
      log,
      plane,
      word,
      events,
      apis: new MemberApis(clock, member),
      objects: new MemberObjects(ports, source, (work) => this.#enqueue(work)),
      endpoints: new MemberEndpoints(ports, source, (key) => this.#lookAtService(key)),
      metrics: declareExecutionMetrics(ports.metrics),
    };
    this.#memories = new WorkMemories(clock, (late) => this.#portsWith(late));
    this.#controller = createController(
      { ...ports, log },
      {
        name: "execution",
        concurrency: CONCURRENCY,
        watches: [
          {
            whenSynced: (signal) => works.whenSynced(signal),
            subscribe: (add) => {
              let isFirst = true;
              const unsubscribe = works.subscribe((key) => {
                if (isFirst) this.#memories.inherit(key.name);
                this.#federatedPods.see(works.get(key));
                if (!this.#isOwnReport(key)) add(key);
              });
              isFirst = false;
              return unsubscribe;
            },
          },
        ],
        reconcile: (key, signal) => this.#look(key, signal),
      },
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#memories.begin();
    try {
      await Promise.all([this.#controller.run(signal), this.#federatedPods.run(signal)]);
    } finally {
      this.#memories.clear();
      await Promise.all([this.#ports.objects.stop(), this.#ports.endpoints.stop()]);
    }
  }

  lookAgain(): void {
    this.#ports.apis.tryAgain();
    for (const work of this.#memories.endPauses()) this.#enqueue(work);
  }

  lookAtKind(apiVersion: string, kind: string): void {
    for (const work of this.#ports.objects.worksOf(apiVersion, kind)) this.#enqueue(work);
  }

  #lookAtService(key: ObjectKey): void {
    const holding = this.#ports.objects.worksHolding({ resource: services, key });
    if (holding.length === 0) this.#ports.endpoints.forget(key);
    for (const work of holding) this.#enqueue(work);
  }

  #enqueue(name: string): void {
    this.#controller.enqueue({ namespace: executionNamespace(this.#parts.cluster), name });
  }

  #isOwnReport(key: ObjectKey): boolean {
    const work = this.#parts.works.get(key);
    return work !== undefined && this.#memories.isOwnReport(work);
  }

  async #look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const cached = this.#parts.works.get(key);
    if (cached === undefined) {
      this.#memories.forget(key.name);
      this.#ports.objects.forget(key.name);
      return this.#lookForStray(key, signal);
    }
    const memory = this.#memories.of(cached);
    const work = newestOf(cached, memory);
    return work.metadata.deletionTimestamp === undefined
      ? keepWork(this.#ports, work, memory, signal)
      : removeWork(this.#ports, work, memory, signal);
  }

  async #lookForStray(work: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const stray = this.#ports.objects.strayOf(work.name);
    if (stray === undefined) return done;
    const { writes } = this.#portsWith(new LateCreates(this.#ports.clock, () => false));
    return removeStray({ ...this.#ports, writes }, work, stray, signal);
  }

  #portsWith(late: LateCreates): ManifestPorts {
    const { cluster, member, interpretation } = this.#parts;
    const { clock, objects, metrics } = this.#ports;
    return {
      cluster,
      clock,
      objects,
      writes: new MemberWrites(cluster, member, metrics, late),
      interpretation,
    };
  }
}
