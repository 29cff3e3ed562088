/**
 * What all controllers of a member share: its client, the copies of its collections, and the room on its nodes.
 *
 * Writes carry what they were decided on: a status its resourceVersion, a deletion the uid. `NotFound` means that the
 * work is done already.
 */
import {
  formatKey,
  isJsonObject,
  keyOf,
  type KubeObject,
  orNothing,
  type Resource,
} from "@lifeboat/api";
import { type Client, type ControllerWatch, Informer, type KitPorts } from "@lifeboat/kit";
import * as kinds from "./kinds.ts";
import { choosePlace, Ledger, type Placement, requestsOf } from "./model/placement.ts";
import { controllerOf, isFinished, nodeOf } from "./model/pods.ts";
import { saysNew } from "./model/status.ts";
import type { MemberOptions } from "./member-options.ts";

/** The index by the uid of the controlling owner. */
export const BY_OWNER = "owner";
/** The index of pods without a node, under one value. */
export const UNPLACED = "unplaced";

export class Member {
  readonly ports: KitPorts;
  readonly client: Client;
  readonly options: MemberOptions;
  readonly pods: Informer<kinds.Pod>;
  readonly nodes: Informer<kinds.Node>;
  readonly replicaSets: Informer<kinds.ReplicaSet>;
  readonly deployments: Informer<kinds.Deployment>;
  readonly statefulSets: Informer<kinds.StatefulSet>;
  readonly daemonSets: Informer<kinds.DaemonSet>;
  readonly jobs: Informer<kinds.Job>;
  readonly cronJobs: Informer<kinds.CronJob>;
  readonly services: Informer<kinds.LoadBalanced>;
  readonly claims: Informer<kinds.Claim>;
  readonly #ledger = new Ledger();

  constructor(ports: KitPorts, client: Client, options: MemberOptions) {
    this.ports = ports;
    this.client = client;
    this.options = options;
    this.pods = new Informer(ports, client, kinds.pods, {
      indexes: {
        [BY_OWNER]: ownerUid,
        [UNPLACED]: (pod) => (nodeOf(pod) === "" && !isFinished(pod) ? [UNPLACED] : []),
      },
    });
    this.nodes = new Informer(ports, client, kinds.nodes);
    this.replicaSets = owned(ports, client, kinds.replicaSets);
    this.deployments = new Informer(ports, client, kinds.deployments);
    this.statefulSets = new Informer(ports, client, kinds.statefulSets);
    this.daemonSets = new Informer(ports, client, kinds.daemonSets);
    this.jobs = owned(ports, client, kinds.jobs);
    this.cronJobs = new Informer(ports, client, kinds.cronJobs);
    this.services = new Informer(ports, client, kinds.services);
    this.claims = new Informer(ports, client, kinds.claims);
    this.pods.onChange((old, now) => this.#account(old, now));
  }

  /** All copies, in the order in which they start. */
  informers(): readonly Informer<never>[] {
    const all: readonly unknown[] = [
      this.nodes,
      this.pods,
      this.replicaSets,
      this.deployments,
      this.statefulSets,
      this.daemonSets,
      this.jobs,
      this.cronJobs,
      this.services,
      this.claims,
    ];
    return all as readonly Informer<never>[];
  }

  /** Holds a controller back until the nodes that the member shall have are there; it gives no keys. */
  nodesReady(): ControllerWatch {
    return {
      whenSynced: async (signal) => {
        if (!(await this.nodes.whenSynced(signal))) return false;
        return this.#nodesComplete(signal);
      },
      subscribe: () => () => undefined,
    };
  }

  /** Chooses a node for a pod and keeps the room for it; `free` gives it back. */
  place(pod: {
    readonly metadata: kinds.NewPod["metadata"];
    readonly spec: kinds.PodSpec;
  }): Placement {
    const requests = requestsOf(pod.spec);
    const key = formatKey(keyOf(pod));
    const placement = choosePlace(pod.spec, requests, this.nodes.list(), this.#ledger);
    if (placement.kind === "node") this.#ledger.set(key, placement.name, requests);
    return placement;
  }

  /** Gives back the room of a pod that was not created or placed after all. */
  free(pod: { readonly metadata: kinds.NewPod["metadata"] }): void {
    const key = keyOf(pod);
    const known = this.pods.get(key);
    if (known === undefined || nodeOf(known) === "") this.#ledger.remove(formatKey(key));
  }

  /**
   * Writes a status if it says something new, or if something else goes with it. That an object is going is nothing new by
   * itself: it is observed with the next thing that happens to it.
   */
  async report<T extends KubeObject & { readonly status?: unknown }>(
    resource: Resource<T>,
    object: T,
    status: T["status"],
    inAnyCase = false,
  ): Promise<void> {
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    const compared = isGoing ? asObserved(object.status, status) : status;
    if (!inAnyCase && !saysNew(object.status, compared)) return;
    await orNothing(this.client.update(resource, { ...object, status }, { subresource: "status" }));
  }

  /** Deletes exactly this object; its dependents follow. */
  async remove<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    gracePeriodSeconds?: number,
  ): Promise<T | undefined> {
    return orNothing(
      this.client.delete(resource, keyOf(object), {
        preconditions: { uid: object.metadata.uid },
        propagationPolicy: "Background",
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      }),
    );
  }

  #nodesComplete(signal: AbortSignal): Promise<boolean> {
    const complete = (): boolean =>
      this.options.nodes.every(
        ({ name }) => this.nodes.get({ namespace: "", name })?.status?.allocatable !== undefined,
      );
    if (complete()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (answer: boolean): void => {
        unsubscribe();
        signal.removeEventListener("abort", onAbort);
        resolve(answer);
      };
      const onAbort = (): void => settle(false);
      const unsubscribe = this.nodes.onChange(() => {
        if (complete()) settle(true);
      });
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** A pod without a node leaves the ledger as it is: the news of its place may still be on the way. */
  #account(old: kinds.Pod | undefined, now: kinds.Pod | undefined): void {
    const pod = now ?? old;
    if (pod === undefined) return;
    const key = formatKey(keyOf(pod));
    if (now === undefined || isFinished(now)) this.#ledger.remove(key);
    else if (nodeOf(now) !== "") this.#ledger.set(key, nodeOf(now), requestsOf(now.spec));
  }
}

function owned<T extends KubeObject>(
  ports: KitPorts,
  client: Client,
  resource: Resource<T>,
): Informer<T> {
  return new Informer(ports, client, resource, { indexes: { [BY_OWNER]: ownerUid } });
}

function ownerUid(object: KubeObject): readonly string[] {
  const owner = controllerOf(object);
  return owner === undefined ? [] : [owner.uid];
}

/** A status as if it were about the generation that the former one is about. */
function asObserved(former: unknown, status: unknown): unknown {
  if (!isJsonObject(former) || !isJsonObject(status)) return status;
  const { observedGeneration } = former;
  return observedGeneration === undefined ? status : { ...status, observedGeneration };
}
