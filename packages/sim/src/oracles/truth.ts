/** What the disks say, in the terms of the control plane: for oracles, which never ask a cache or an API. */
import type {
  AnyObject,
  Cluster,
  KubeObject,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@lifeboat/api";
import { STEADY_TOLERANCE_MS } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { Held, Ledger } from "../disk/ledger.ts";
import type { Circumstances } from "./circumstances.ts";
import { Witness } from "./witness.ts";

export const WORKS = "work.karmada.io/works";
const RESOURCE_BINDINGS = "work.karmada.io/resourcebindings";
const CLUSTER_BINDINGS = "work.karmada.io/clusterresourcebindings";
export const CLUSTERS = "cluster.karmada.io/clusters";
const POLICIES = "policy.karmada.io/propagationpolicies";

/** How old what a controller decides by may be when nothing is wrong. */
export const LAG_MS = 2000;

/** Within this the plane has seen a change of its clock and written it down; of two changes within it only the sum is seen. */
const LOOK_MS = 10_000;

export class Truth {
  readonly ledger: Ledger;
  readonly circumstances: Circumstances;
  readonly witness: Witness;
  /** When steps and faults began, in milliseconds since the simulation began. */
  readonly beganAt: number;
  /** When workloads were evicted for a taint. */
  readonly evictions: number[] = [];
  readonly #tables = new Map<
    string,
    { readonly held: readonly Held[]; readonly objects: readonly AnyObject[] }
  >();

  /** How old what a controller decides by at this moment may be, in milliseconds. */
  get lagMs(): number {
    return this.lagMsAt(this.ledger.now);
  }

  /** The same for another moment. */
  lagMsAt(moment: number): number {
    const since = this.#lateSince(moment);
    return LAG_MS + (since === undefined ? 0 : moment - since);
  }

  /** How old what a controller has just read may be when the write that follows takes effect now, in milliseconds. */
  get roundTripMs(): number {
    const { lateTimes, syncDelayMs } = this.circumstances;
    const { now } = this.ledger;
    const delays = lateTimes
      .filter(({ from, until }) => this.#at(from) <= now && now <= this.#at(until) + LAG_MS)
      .map(({ delayMs }) => delayMs);
    return 2 * (syncDelayMs + Math.max(0, ...delays));
  }

  /**
   * By how much less than the true time the plane may have waited since then, in milliseconds. A change of its clock that it
   * has seen and written down makes no difference but for a tolerance; after another one nobody can know.
   */
  clockSlackMs(moment: number): number {
    const { now } = this.ledger;
    const since = this.witness.writtenSince(moment);
    const { clockChanges, clocksApart, hasTwoLeaders } = this.circumstances;
    const isApart = ({ from, until }: (typeof clocksApart)[number]): boolean =>
      this.#at(from) <= now && this.#at(until) >= since - LAG_MS;
    // One has counted by its clock what the other began by another.
    if (clocksApart.some(isApart)) return Infinity;
    const all = clockChanges.map((seconds) => this.#at(seconds));
    const changes = all.filter((at) => at <= now && at >= since - LAG_MS);
    if (changes.length === 0) return 0;
    const isSeen = (change: number): boolean =>
      this.witness.livedThrough(change, LOOK_MS) &&
      !this.#wasLate(change, change + LOOK_MS) &&
      all.every((other) => other === change || Math.abs(other - change) > LOOK_MS);
    // A second process has seen other changes than the first.
    if (hasTwoLeaders || !changes.every(isSeen)) return Infinity;
    return changes.length * STEADY_TOLERANCE_MS;
  }

  /** Whether news were late at some moment since then. */
  wasLateSince(since: number): boolean {
    return this.#wasLate(since, this.ledger.now);
  }

  #wasLate(since: number, until: number): boolean {
    return this.circumstances.lateTimes.some(
      (late) => this.#at(late.from) <= until && this.#at(late.until) >= since,
    );
  }

  /** The beginning of the late times that are under way, one after the other. */
  #lateSince(now: number): number | undefined {
    let since: number | undefined;
    for (const { from, until } of this.circumstances.lateTimes.toSorted((a, b) => b.from - a.from))
      if (this.#at(from) <= (since ?? now) && (since ?? now) <= this.#at(until) + LAG_MS)
        since = this.#at(from);
    return since;
  }

  /** A time of the scenario as true time. */
  #at(seconds: number): number {
    return this.beganAt + seconds * 1000;
  }

  /** `witness`: of a plane that was started with the product's defaults when absent. */
  constructor(ledger: Ledger, circumstances: Circumstances, witness = new Witness(() => 0)) {
    this.ledger = ledger;
    this.witness = witness;
    this.beganAt = ledger.now;
    this.circumstances = circumstances;
  }

  /** The members that have a healthy copy of a workload. */
  healthyCopies(table: string, key: string, members: readonly string[]): readonly string[] {
    return members.filter((member) => isHealthyCopy(this.ledger.find(member, table, key)?.object));
  }

  /** The names of all members. */
  members(): readonly string[] {
    return this.ledger.servers().filter((server) => server !== "plane");
  }

  works(): readonly Work[] {
    return this.#table(WORKS) as readonly KubeObject[] as readonly Work[];
  }

  /** Of both scopes. */
  bindings(): readonly ResourceBinding[] {
    const found = [...this.#table(RESOURCE_BINDINGS), ...this.#table(CLUSTER_BINDINGS)];
    return found as readonly KubeObject[] as readonly ResourceBinding[];
  }

  clusters(): readonly Cluster[] {
    return this.#table(CLUSTERS) as readonly KubeObject[] as readonly Cluster[];
  }

  policies(): readonly PropagationPolicy[] {
    return this.#table(POLICIES) as readonly KubeObject[] as readonly PropagationPolicy[];
  }

  namespaces(): readonly AnyObject[] {
    return this.#table("/namespaces");
  }

  /** Objects of the plane of a kind of the built-in groups that scenarios use. */
  templates(kind: string): readonly AnyObject[] {
    const table = TABLE_OF_KIND.get(kind);
    return table === undefined ? [] : this.#table(table);
  }

  /** What a member holds under our mark. */
  managed(member: string): readonly Held[] {
    return this.ledger
      .all(member)
      .filter(({ object }) => object.metadata.labels?.[wellKnown.MANAGED] === "true")
      .filter(({ object }) => object.metadata.ownerReferences === undefined);
  }

  /** The same array until the table changes. */
  #table(table: string): readonly AnyObject[] {
    const held = this.ledger.objects("plane", table);
    const known = this.#tables.get(table);
    if (known?.held === held) return known.objects;
    const objects = held.map(({ object }) => object);
    this.#tables.set(table, { held, objects });
    return objects;
  }
}

const TABLE_OF_KIND: ReadonlyMap<string, string> = new Map([
  ["Deployment", "apps/deployments"],
  ["StatefulSet", "apps/statefulsets"],
  ["DaemonSet", "apps/daemonsets"],
  ["Job", "batch/jobs"],
  ["ConfigMap", "/configmaps"],
  ["Secret", "/secrets"],
  ["Service", "/services"],
  ["Namespace", "/namespaces"],
  ["ClusterRole", "rbac.authorization.k8s.io/clusterroles"],
]);

/** The table of a kind of the built-in groups that scenarios use; "" for others. */
export function tableOf(kind: string): string {
  return TABLE_OF_KIND.get(kind) ?? "";
}

/** The cluster whose execution namespace this is; undefined for another namespace. */
export function clusterOf(namespace: string | undefined): string | undefined {
  const prefix = wellKnown.EXECUTION_NAMESPACE_PREFIX;
  return namespace?.startsWith(prefix) === true ? namespace.slice(prefix.length) : undefined;
}

/** The id of the binding that a Work or binding carries. */
export function bindingId(object: KubeObject): string | undefined {
  const { labels } = object.metadata;
  return labels?.[wellKnown.BINDING_ID] ?? labels?.[wellKnown.CLUSTER_BINDING_ID];
}

/** All clusters that a binding accounts for: placed, needed there by others, or being left gracefully. */
export function clustersOf(binding: ResourceBinding): ReadonlySet<string> {
  const { clusters = [], requiredBy = [], gracefulEvictionTasks = [] } = binding.spec;
  return new Set([
    ...clusters.map(({ name }) => name),
    ...requiredBy.flatMap((other) => (other.clusters ?? []).map(({ name }) => name)),
    ...gracefulEvictionTasks.map(({ fromCluster }) => fromCluster),
  ]);
}

/** Whether a workload in a member has all its replicas ready, at least one, and is there to stay. */
export function isHealthyCopy(object: AnyObject | undefined): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return false;
  const { spec, status } = object as {
    readonly spec?: { readonly replicas?: number };
    readonly status?: { readonly readyReplicas?: number };
  };
  const ready = status?.readyReplicas ?? 0;
  return ready > 0 && ready >= (spec?.replicas ?? 1);
}

/** Whether everything that `wanted` says is so in `actual`: lists whole, objects field by field. */
export function says(actual: unknown, wanted: unknown): boolean {
  if (wanted === null || typeof wanted !== "object") return actual === wanted;
  if (Array.isArray(wanted))
    return (
      Array.isArray(actual) &&
      actual.length === wanted.length &&
      wanted.every((item, i) => says(actual[i], item))
    );
  if (typeof actual !== "object" || actual === null) return Object.keys(wanted).length === 0;
  return Object.entries(wanted).every(([key, value]) =>
    says((actual as Readonly<Record<string, unknown>>)[key], value),
  );
}
