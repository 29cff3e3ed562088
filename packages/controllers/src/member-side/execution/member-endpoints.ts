/**
 * Where the pods of Services are in one member, for Services that ask for it or that only some nodes answer for. The rules are in
 * core/traffic/endpoints.ts.
 *
 * 1. EndpointSlices are watched only once a Service needs them, nodes only once one with the policy Local does; and of the slices only
 *    those of our Services: the member gives a slice the labels of its Service.
 * 2. A change enqueues the Works of the Services concerned. Until the first list is complete, and where the member forbids it, what was
 *    reported before stays.
 */
import {
  endpointSlices,
  formatKey,
  keptAs,
  type KubeObject,
  nodes as nodeResource,
  type ObjectKey,
} from "@lifeboat/api";
import type { Fields } from "@lifeboat/core";
import {
  completeReport,
  type EndpointSlice,
  localNodeAddressOf,
  needsOf,
  readSlice,
  SLICE_SELECTOR,
} from "@lifeboat/core/traffic";
import { type Client, type CollectionLimits, Informer, type KitPorts } from "@lifeboat/kit";
import { keepRunning } from "./keep-running.ts";

interface KeptNode extends KubeObject {
  readonly address: string | undefined;
}

const SLICES = keptAs<EndpointSlice>(endpointSlices);
const NODES = keptAs<KeptNode>(nodeResource);

export interface EndpointsSource {
  readonly member: Client;
  readonly limits?: CollectionLimits;
}

/** A Service of a Work, and what is reported of it. */
export interface ServiceReport {
  readonly manifest: Fields;
  readonly key: ObjectKey;
  /** What the Service itself reports. */
  readonly status: unknown;
  /** What was reported last. */
  readonly before: unknown;
}

export class MemberEndpoints {
  readonly #ports: KitPorts;
  readonly #source: EndpointsSource;
  readonly #onChange: (service: ObjectKey) => void;
  /** The Services that need slices, by key, and whether they need nodes. */
  readonly #needed = new Map<string, { readonly key: ObjectKey; readonly nodes: boolean }>();
  #stop = new AbortController();
  #ended: Promise<void>[] = [];
  #slices: Informer<EndpointSlice> | undefined;
  #nodes: Informer<KeptNode> | undefined;

  /** `onChange` is called with a Service that is to be reported again. */
  constructor(ports: KitPorts, source: EndpointsSource, onChange: (service: ObjectKey) => void) {
    this.#ports = ports;
    this.#source = source;
    this.#onChange = onChange;
  }

  /** The report of a Service, with its pods or nodes if it needs them. */
  complete({ manifest, key, status, before }: ServiceReport): unknown {
    const needs = needsOf(manifest, status);
    const id = formatKey(key);
    if (!needs.slices) {
      this.#needed.delete(id);
      return status;
    }
    this.#needed.set(id, { key, nodes: needs.nodes });
    this.#slices ??= this.#startSlices();
    if (needs.nodes) this.#nodes ??= this.#startNodes();
    const slices = this.#slices.synced ? this.#slices.byIndex("service", id) : undefined;
    const nodes = this.#nodes?.synced === true ? this.#nodes : undefined;
    return completeReport({
      manifest,
      status,
      before,
      ...(slices !== undefined && { slices }),
      ...(nodes !== undefined && {
        addressOf: (name) => nodes.get({ namespace: "", name })?.address,
      }),
    });
  }

  /** The Service is no Work's any more. */
  forget(service: ObjectKey): void {
    this.#needed.delete(formatKey(service));
  }

  /** Ends all watches; resolves when they have ended. */
  async stop(): Promise<void> {
    const ended = this.#ended;
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#ended = [];
    this.#needed.clear();
    this.#slices = undefined;
    this.#nodes = undefined;
    await Promise.all(ended);
  }

  #startSlices(): Informer<EndpointSlice> {
    const { member, limits } = this.#source;
    const informer = new Informer(this.#ports, member, SLICES, {
      labelSelector: SLICE_SELECTOR,
      transform: readSlice,
      indexes: { service: (slice) => [formatKey(serviceKeyOf(slice))] },
      ...(limits && { limits }),
    });
    informer.onChange((old, now) => {
      for (const slice of [old, now]) if (slice !== undefined) this.#changed(serviceKeyOf(slice));
    });
    this.#run(informer, () => true);
    return informer;
  }

  #startNodes(): Informer<KeptNode> {
    const { member, limits } = this.#source;
    const informer = new Informer(this.#ports, member, NODES, {
      transform: (node) => ({ ...bare(node), address: localNodeAddressOf(node) }),
      ...(limits && { limits }),
    });
    informer.onChange((old, now) => {
      if (informer.synced && old?.address !== now?.address) this.#allChanged(({ nodes }) => nodes);
    });
    this.#run(informer, ({ nodes }) => nodes);
    return informer;
  }

  #run<T extends KubeObject>(
    informer: Informer<T>,
    isConcerned: (needed: { readonly nodes: boolean }) => boolean,
  ): void {
    this.#ended.push(keepRunning(this.#ports, informer, this.#stop.signal));
    void informer.whenSynced(this.#stop.signal).then((synced) => {
      if (synced) this.#allChanged(isConcerned);
    });
  }

  #changed(service: ObjectKey): void {
    if (this.#slices?.synced === true && this.#needed.has(formatKey(service)))
      this.#onChange(service);
  }

  #allChanged(isConcerned: (needed: { readonly nodes: boolean }) => boolean): void {
    for (const needed of this.#needed.values()) if (isConcerned(needed)) this.#onChange(needed.key);
  }
}

function serviceKeyOf({ metadata: { namespace = "" }, service }: EndpointSlice): ObjectKey {
  return { namespace, name: service };
}

function bare({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, creationTimestamp } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, creationTimestamp } };
}
