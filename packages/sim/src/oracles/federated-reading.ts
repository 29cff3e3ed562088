/** How oracles read federated StatefulSets: what their bindings remember, and since when clusters live. */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Committed } from "../disk/ledger.ts";
import { isFederated, isGoing, nameOfCluster, pairOf, readyOf } from "./reading.ts";
import { CLUSTERS, tableOf, type Truth } from "./truth.ts";

export const RESOURCE_BINDINGS = "work.karmada.io/resourcebindings";
export const STATEFUL_SETS = "apps/statefulsets";

type Counts = Readonly<Record<string, number>>;

/** What a binding remembers of its set (D15). */
export interface Remembered {
  readonly shares: Counts;
  /** What the set asked for when the shares were complete. */
  readonly replicas: number;
  readonly clusters: readonly string[];
  readonly numbers: Counts;
  readonly forgotten: readonly string[];
  /** Of a quorum. */
  readonly started?: Counts;
  /** Of a quorum: the replica that leaves. */
  readonly leaving?: {
    readonly cluster: string;
    readonly ordinal: number;
    readonly number: number;
  };
}

const NOTHING: Remembered = { shares: {}, replicas: 0, clusters: [], numbers: {}, forgotten: [] };

/** Undefined: the binding is of no federated StatefulSet. */
export function rememberedOf(binding: ResourceBinding | undefined): Remembered | undefined {
  if (binding === undefined || !isFederated(binding)) return undefined;
  const { annotations = {} } = binding.metadata;
  const record = JSON.parse(annotations[wellKnown.FEDERATED_RECORD] ?? "{}") as object;
  const shares = JSON.parse(annotations[wellKnown.FEDERATED_SHARES] ?? "{}") as Counts;
  return { ...NOTHING, ...record, shares };
}

export function isQuorum({ metadata }: ResourceBinding): boolean {
  return metadata.annotations?.[wellKnown.FEDERATED_QUORUM] === "true";
}

export function sum(counts: Counts): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

/** The bindings of federated StatefulSets that are there to stay, with what they remember and their template. */
export interface FederatedSet {
  readonly name: string;
  readonly namespace: string;
  readonly binding: ResourceBinding;
  readonly remembered: Remembered;
  readonly template: AnyObject;
}

export function federatedSets(truth: Truth): readonly FederatedSet[] {
  return truth.bindings().flatMap((binding) => {
    const remembered = rememberedOf(binding);
    const { name, namespace = "" } = binding.spec.resource;
    const template = truth.ledger.find("plane", STATEFUL_SETS, `${namespace}/${name}`)?.object;
    if (remembered === undefined || template === undefined) return [];
    if (isGoing(binding) || isGoing(template)) return [];
    return [{ name, namespace, binding, remembered, template }];
  });
}

/** The pods that are to run, by name, with their cluster. */
export function podsOf({ name, remembered }: FederatedSet): ReadonlyMap<string, string> {
  const { shares, started = shares } = remembered;
  return new Map(
    Object.entries(started).flatMap(([cluster, count]) =>
      Array.from(
        { length: count },
        (_none, ordinal) => [`${name}-${cluster}-${ordinal}`, cluster] as const,
      ),
    ),
  );
}

/** Whether every pod of the set has a Service and a global name. */
export function isGlobal({ metadata }: AnyObject): boolean {
  return metadata.annotations?.[wellKnown.FEDERATED_SERVICES] === "true";
}

export function serviceNamed(
  { ledger }: Truth,
  server: string,
  namespace: string,
  name: string,
): AnyObject | undefined {
  return ledger.find(server, tableOf("Service"), `${namespace}/${name}`)?.object;
}

/** Since when clusters are as they are, by the disks. Hears of every change of a Cluster. */
export class Lives {
  readonly #truth: Truth;
  /** By cluster: when its Ready became True, or ceased to be. */
  readonly #since = new Map<string, { readonly isReady: boolean; readonly at: number }>();
  /** By cluster: when its taints, its deletion or its Ready changed last. */
  readonly #changed = new Map<string, number>();

  constructor(truth: Truth) {
    this.#truth = truth;
    for (const cluster of truth.clusters()) this.#note(nameOfCluster(cluster), cluster, -Infinity);
  }

  hear(change: Committed): void {
    if (change.table !== CLUSTERS) return;
    const { before, now } = pairOf<Cluster>(change);
    const name = (now ?? before)?.metadata.name ?? "";
    const state = (one: Cluster | undefined): string =>
      JSON.stringify([readyOf(one), one?.spec.taints, one && isGoing(one), one?.metadata.labels]);
    if (state(before) !== state(now)) this.#changed.set(name, change.at);
    this.#note(name, now, change.at);
  }

  #note(name: string, cluster: Cluster | undefined, at: number): void {
    const isReady = readyOf(cluster) === "True";
    if (this.#since.get(name)?.isReady !== isReady) this.#since.set(name, { isReady, at });
  }

  /** How old what the plane decided by may be. */
  get #slackMs(): number {
    return this.#truth.lagMs + this.#truth.roundTripMs;
  }

  /** Whether a cluster has been Ready for so long that whoever decides knows it. */
  isAlive(name: string): boolean {
    const { isReady = false, at = 0 } = this.#since.get(name) ?? {};
    return isReady && this.#truth.ledger.now - at > this.#slackMs;
  }

  /** Whether it has not been Ready, or not been there, for so long. */
  isDead(name: string): boolean {
    const { isReady = false, at = -Infinity } = this.#since.get(name) ?? {};
    return !isReady && this.#truth.ledger.now - at > this.#slackMs;
  }

  /** When it ceased to be Ready; undefined: it is. */
  deadSince(name: string): number | undefined {
    const { isReady = true, at = 0 } = this.#since.get(name) ?? {};
    return isReady ? undefined : at;
  }

  /** The clusters that are known not to be Ready. */
  dead(): readonly string[] {
    return [...this.#since.keys()].filter((name) => this.isDead(name));
  }

  /** Whether a set certainly may grow there: it lives, bears no taint and stays, for so long. */
  takesMore(name: string): boolean {
    const cluster = this.#truth.ledger.find("plane", CLUSTERS, `/${name}`)?.object as unknown as
      | Cluster
      | undefined;
    const changed = this.#changed.get(name) ?? -Infinity;
    if (cluster === undefined || isGoing(cluster) || !this.isAlive(name)) return false;
    return (
      (cluster.spec.taints ?? []).length === 0 && this.#truth.ledger.now - changed > this.#slackMs
    );
  }
}
