/**
 * The clusters of a plane over time, as its disk tells: which taints they bear since when, since when the conditions of each
 * ClusterTaintPolicy match or do not, and how much of the fleet has failed.
 *
 * It reads seeds and Decisions by itself and shares no rule with the product: a rule that is wrong there is not wrong here.
 *
 * 1. All times are true time, in milliseconds since the simulation began; what was there at first is so since ever.
 * 2. It has heard of a change before an oracle judges it.
 */
import type { Cluster, ClusterTaintPolicy, KubeObject } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import { isGoing } from "./reading.ts";
import { CLUSTERS, type Truth } from "./truth.ts";

export const TAINT_POLICIES = "policy.karmada.io/clustertaintpolicies";

export type Taint = NonNullable<Cluster["spec"]["taints"]>[number];
type PolicySpec = ClusterTaintPolicy["spec"];

export interface Borne {
  readonly taint: Taint;
  readonly since: number;
  /** It came with a note in the record of the taint policies. */
  readonly isByPolicy: boolean;
}

export interface Lost extends Borne {
  readonly until: number;
}

/** Since when a policy's conditions match, or do not, without a gap. */
export interface Wish {
  readonly matches: boolean;
  readonly since: number;
}

export interface KnownPolicy {
  readonly policy: ClusterTaintPolicy;
  readonly madeAt: number;
  /** When it was made or last edited. */
  readonly editedAt: number;
  /** When it was deleted. */
  readonly goneAt?: number;
}

export interface KnownCluster {
  readonly cluster: Cluster;
  readonly borne: ReadonlyMap<string, Borne>;
  /** What was taken off it, newest last. */
  readonly lost: readonly Lost[];
  /** By the uid of the policy. */
  readonly wishes: ReadonlyMap<string, Wish>;
  /** When it last bore a taint that moves workloads away; Infinity: it does. */
  readonly faultyUntil: number;
  readonly joinedAt: number;
  /** When it was ordered to leave; Infinity: it stays. */
  readonly leftAt: number;
}

const EVER = Number.NEGATIVE_INFINITY;

/** Key and effect. */
export function idOf({ key, effect }: Pick<Taint, "key" | "effect">): string {
  return `${key}:${effect}`;
}

export function moves({ effect }: Pick<Taint, "effect">): boolean {
  return effect === "NoExecute" || effect === "PreferNoExecute";
}

export function isDrain({ key }: Pick<Taint, "key">): boolean {
  return key === wellKnown.DRAIN_TAINT;
}

/** Conditions are ANDed; none always match; an absent one matches neither operator, and no other operator matches (D4). */
export function matches({ matchConditions = [] }: PolicySpec, { status }: Cluster): boolean {
  return matchConditions.every(({ conditionType, operator, statusValues }) => {
    const found = (status?.conditions ?? []).find(({ type }) => type === conditionType);
    if (found === undefined) return false;
    const isIn = (statusValues as readonly string[]).includes(found.status);
    return operator === "In" ? isIn : operator === "NotIn" && !isIn;
  });
}

/** Whether a policy is written with windows and for all clusters: others are not judged. */
function isJudged({ targetCluster, targetClusters, taints }: PolicySpec): boolean {
  return targetCluster === undefined && targetClusters === undefined && taints === undefined;
}

const fleets = new WeakMap<Truth, KnownFleet>();

export class KnownFleet {
  readonly #clusters = new Map<string, KnownCluster>();
  /** The last of each name that is not there any more. */
  readonly #gone = new Map<string, KnownCluster>();
  readonly #policies = new Map<string, KnownPolicy>();
  /** What the fleet was like before its last changes, newest first; see `rates`. */
  readonly #past: { readonly until: number; readonly counts: Counts }[] = [];

  private constructor({ ledger }: Truth) {
    for (const { object } of ledger.objects("plane", TAINT_POLICIES))
      this.#putPolicy(object as KubeObject as ClusterTaintPolicy, EVER);
    for (const { object } of ledger.objects("plane", CLUSTERS))
      this.#putCluster(object as KubeObject as Cluster, EVER);
    ledger.onChange((change) => this.#hear(change));
  }

  /** The fleet of a run: one for all oracles. */
  static of(truth: Truth): KnownFleet {
    const known = fleets.get(truth) ?? new KnownFleet(truth);
    fleets.set(truth, known);
    return known;
  }

  get clusters(): ReadonlyMap<string, KnownCluster> {
    return this.#clusters;
  }

  /** Those that are gone, also where another of the name is there again. */
  get gone(): ReadonlyMap<string, KnownCluster> {
    return this.#gone;
  }

  /** Every policy that is judged, deleted ones too. */
  get policies(): ReadonlyMap<string, KnownPolicy> {
    return this.#policies;
  }

  /** What was true at some moment since `from`, the present last. */
  countsSince(from: number): readonly Counts[] {
    const past = this.#past.filter(({ until }) => until >= from).map(({ counts }) => counts);
    return [...past.toReversed(), this.#counts()];
  }

  #counts(): Counts {
    const counted = [...this.#clusters.values()]
      .map(({ borne }) => [...borne.values()].map(({ taint }) => taint))
      .filter((taints) => !taints.some(isDrain));
    return {
      failed: counted.filter((taints) => taints.some(moves)).length,
      counted: counted.length,
    };
  }

  #hear({ server, table, row, at, previous }: Committed): void {
    if (server !== "plane" || (table !== CLUSTERS && table !== TAINT_POLICIES)) return;
    const object = parseObject(row.bytes) as KubeObject;
    if (table === TAINT_POLICIES) {
      if (row.type === "DELETED") this.#dropPolicy(object.metadata.uid, at);
      else this.#putPolicy(object as ClusterTaintPolicy, at);
      return;
    }
    const before = this.#counts();
    if (row.type === "DELETED") this.#dropCluster(object.metadata.name, at);
    else this.#putCluster(object as Cluster, at, previous?.object as Cluster | undefined);
    const now = this.#counts();
    if (before.failed === now.failed && before.counted === now.counted) return;
    this.#past.unshift({ until: at, counts: before });
    this.#past.length = Math.min(this.#past.length, MOST_PAST);
  }

  #putPolicy(policy: ClusterTaintPolicy, at: number): void {
    if (!isJudged(policy.spec)) return;
    const { uid, generation } = policy.metadata;
    const known = this.#policies.get(uid);
    const isEdit = known?.policy.metadata.generation !== generation;
    const { madeAt = at } = known ?? {};
    this.#policies.set(uid, { policy, madeAt, editedAt: isEdit ? at : (known?.editedAt ?? at) });
    if (!isEdit) return;
    for (const [name, known] of this.#clusters) {
      const wish = { matches: matches(policy.spec, known.cluster), since: at };
      this.#clusters.set(name, { ...known, wishes: new Map([...known.wishes, [uid, wish]]) });
    }
  }

  #dropPolicy(uid: string, at: number): void {
    const known = this.#policies.get(uid);
    if (known !== undefined) this.#policies.set(uid, { ...known, goneAt: at });
  }

  #putCluster(cluster: Cluster, at: number, previous?: Cluster): void {
    const { name, uid } = cluster.metadata;
    const known = this.#clusters.get(name);
    const former = known?.cluster.metadata.uid === uid ? known : undefined;
    const isNoted = recordOf(cluster) !== recordOf(previous);
    const borne = new Map<string, Borne>();
    for (const taint of cluster.spec.taints ?? []) {
      const had = former?.borne.get(idOf(taint));
      const stays = had !== undefined && had.taint.timeAdded === taint.timeAdded;
      borne.set(idOf(taint), stays ? { ...had, taint } : { taint, since: at, isByPolicy: isNoted });
    }
    const isFaulty = [...borne.values()].some(({ taint }) => moves(taint));
    const wasFaulty = former?.faultyUntil === Infinity;
    this.#clusters.set(name, {
      cluster,
      borne,
      lost: [...(former?.lost ?? []), ...takenOff(former, borne, at)],
      wishes: this.#wishesOf(cluster, former, at),
      faultyUntil: isFaulty ? Infinity : wasFaulty ? at : (former?.faultyUntil ?? EVER),
      joinedAt: former?.joinedAt ?? at,
      leftAt: isGoing(cluster) ? Math.min(former?.leftAt ?? Infinity, at) : Infinity,
    });
  }

  #dropCluster(name: string, at: number): void {
    const known = this.#clusters.get(name);
    if (known === undefined) return;
    this.#gone.set(name, { ...known, leftAt: Math.min(known.leftAt, at) });
    this.#clusters.delete(name);
  }

  #wishesOf(
    cluster: Cluster,
    former: KnownCluster | undefined,
    at: number,
  ): ReadonlyMap<string, Wish> {
    const wishes = new Map<string, Wish>();
    for (const [uid, { policy }] of this.#policies) {
      const now = matches(policy.spec, cluster);
      const before = former?.wishes.get(uid);
      wishes.set(uid, before?.matches === now ? before : { matches: now, since: at });
    }
    return wishes;
  }
}

/** How many clusters count, and how many of them have failed (D6). */
export interface Counts {
  readonly failed: number;
  readonly counted: number;
}

/** Older states of the fleet than this many changes are of no use. */
const MOST_PAST = 100;

/** What the cluster bore and does not bear any more. */
function takenOff(
  former: KnownCluster | undefined,
  borne: ReadonlyMap<string, Borne>,
  until: number,
): readonly Lost[] {
  const gone = [...(former?.borne ?? [])].filter(
    ([id, { taint }]) => !borne.has(id) || borne.get(id)?.taint.timeAdded !== taint.timeAdded,
  );
  return gone.map(([, one]) => ({ ...one, until }));
}

function recordOf(cluster: Cluster | undefined): string | undefined {
  return cluster?.metadata.annotations?.[wellKnown.TAINT_POLICIES];
}

/** The policies that ask for a taint of this key and effect, deleted ones too. */
export function policiesFor({ policies }: KnownFleet, { taint }: Borne): readonly KnownPolicy[] {
  return [...policies.values()].filter(({ policy }) =>
    (policy.spec.taintsToAdd ?? []).some((one) => idOf(one) === idOf(taint)),
  );
}

/** How long a policy waits before it adds and removes a taint. */
export function windowsOf(
  { policy }: Pick<KnownPolicy, "policy">,
  { taint }: Borne,
): { readonly addMs: number; readonly removeMs: number } {
  const found = (policy.spec.taintsToAdd ?? []).find((one) => idOf(one) === idOf(taint));
  return {
    addMs: (found?.addOnMatchSeconds ?? 300) * 1000,
    removeMs: (found?.removeOnMismatchSeconds ?? 180) * 1000,
  };
}
