/**
 * Evictions for taints, and on which terms they may happen, as the disk tells: what bindings said since a taint came, and what
 * was written down of it in slices (D5, D7). It shares no rule with the product.
 */
import type {
  EvacuationSlice,
  EvictionTask,
  KubeObject,
  ResourceBinding,
  Toleration,
} from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import {
  type Borne,
  KnownFleet,
  isDrain,
  type KnownCluster,
  type Lost,
  type Taint,
} from "./fleet.ts";
import type { AlwaysOracle, Judge } from "./oracle.ts";
import {
  BINDINGS,
  ignoresSpread,
  isDividing,
  isFullWithout,
  isGoing,
  isUnclaimed,
  resultWithout,
  tasksBegun,
} from "./reading.ts";
import type { Truth } from "./truth.ts";

export const SLICES = "lifeboat.dev/evacuationslices";

/** The producer of tasks for taints. */
const FOR_TAINTS = "TaintManager";

/** One write that takes a cluster out of a binding's result and makes a task for it, because of a taint. */
export interface Decision {
  readonly at: number;
  readonly key: string;
  readonly before: ResourceBinding;
  readonly binding: ResourceBinding;
  readonly cluster: string;
  readonly task: EvictionTask;
  /** The taint that it says it is for; see `taintId`. */
  readonly taintId: string;
}

export type Entry = EvacuationSlice["spec"]["entries"][number];

/** The decisions in a change of a binding. */
export function decisionsOf({ row, at, key, previous }: Committed): readonly Decision[] {
  if (row.type !== "MODIFIED" || previous === undefined) return [];
  const binding = parseObject(row.bytes) as KubeObject as ResourceBinding;
  if ((binding.spec.gracefulEvictionTasks ?? []).length === 0) return [];
  const before = previous.object as KubeObject as ResourceBinding;
  const left = resultWithout(before, binding);
  return tasksBegun({ before, now: binding })
    .filter(({ fromCluster, producer }) => left.includes(fromCluster) && producer === FOR_TAINTS)
    .map((task) => {
      const cluster = task.fromCluster;
      return { at, key, before, binding, cluster, task, taintId: markedTaint(binding, cluster) };
    });
}

/** Which taint, for ever. */
export function taintId({
  key,
  effect,
  timeAdded = "",
}: {
  readonly key: string;
  readonly effect: string;
  readonly timeAdded?: string;
}): string {
  return `${key}:${effect}@${timeAdded}`;
}

/** The mark of an eviction is `evacuation taint`, by cluster. */
export function markedTaint({ metadata }: ResourceBinding, cluster: string): string {
  const text = metadata.annotations?.[wellKnown.EVICTED_FOR] ?? "{}";
  const marks = JSON.parse(text) as Readonly<Record<string, string>>;
  return marks[cluster]?.split(" ").slice(1).join(" ") ?? "";
}

/** On which terms a taint moves a binding; undefined: not at all. */
export interface Terms {
  readonly seconds: number;
  readonly purgeMode: string;
}

interface Recorded {
  readonly entry: Entry;
  readonly at: number;
  readonly taint: string;
}

/** A binding that is to leave a cluster and is still there. */
export interface Waiting {
  readonly entry: Entry;
  readonly binding: ResourceBinding;
  readonly taint: string;
  readonly recordedAt: number;
  /** When it may go, in true time. */
  readonly dueAt: number;
  /** When a person or the scheduler last changed what decides whether it has somewhere to go. */
  readonly askedAt: number;
}

/** What a binding says about leaving. */
interface Said {
  readonly at: number;
  readonly text: string;
  readonly spec: ResourceBinding["spec"];
}

const known = new WeakMap<Truth, Eligibility>();

/** What bindings said over time, and what slices wrote down of it. */
export class Eligibility {
  readonly fleet: KnownFleet;
  readonly #truth: Truth;
  /** By the uid of the binding. */
  readonly #said = new Map<string, Said[]>();
  /** What bindings ask of a target, and since when; by their uid. */
  readonly #asked = new Map<string, { readonly at: number; readonly text: string }>();
  /** By cluster, then by the uid of the binding and the taint. */
  readonly #entries = new Map<string, Map<string, Recorded>>();

  private constructor(truth: Truth) {
    this.#truth = truth;
    this.fleet = KnownFleet.of(truth);
    const { ledger } = truth;
    for (const table of BINDINGS)
      for (const { object } of ledger.objects("plane", table))
        this.#hearBinding(object as KubeObject as ResourceBinding, Number.NEGATIVE_INFINITY);
    for (const { object } of ledger.objects("plane", SLICES))
      this.#hearSlice(object as KubeObject as EvacuationSlice, Number.NEGATIVE_INFINITY);
    ledger.onChange(({ server, table, row, at }) => {
      if (server !== "plane" || row.type === "DELETED") return;
      if (table === SLICES)
        this.#hearSlice(parseObject(row.bytes) as KubeObject as EvacuationSlice, at);
      else if (BINDINGS.includes(table))
        this.#hearBinding(parseObject(row.bytes) as KubeObject as ResourceBinding, at);
    });
  }

  static of(truth: Truth): Eligibility {
    const found = known.get(truth) ?? new Eligibility(truth);
    known.set(truth, found);
    return found;
  }

  /** What was written down of a binding for a taint of a cluster. */
  entryOf(uid: string, cluster: string, taint: string): Entry | undefined {
    return this.#entries.get(cluster)?.get(`${uid} ${taint}`)?.entry;
  }

  /** Everything that was written down of a cluster and still waits there, for taints that it bears. */
  waitingOn(cluster: string): readonly Waiting[] {
    const { ledger } = this.#truth;
    const borne = [...(this.fleet.clusters.get(cluster)?.borne.values() ?? [])];
    return [...(this.#entries.get(cluster)?.values() ?? [])].flatMap(({ entry, at, taint }) => {
      const cause = borne.find((one) => taintId(one.taint) === taint);
      if (cause === undefined || entry.exempt !== undefined) return [];
      const { namespace = "", name, uid } = entry.binding;
      const table = BINDINGS[namespace === "" ? 1 : 0] ?? "";
      const held = ledger.find("plane", table, `${namespace}/${name}`)?.object;
      if (held === undefined || held.metadata.uid !== uid || isGoing(held)) return [];
      const binding = held as KubeObject as ResourceBinding;
      const isThere = (binding.spec.clusters ?? []).some((target) => target.name === cluster);
      if (!isThere || markedTaint(binding, cluster) === taint) return [];
      const until = parseTime(entry.toleratedUntil ?? "");
      const added = parseTime(cause.taint.timeAdded ?? "");
      const waitsMs = until === undefined || added === undefined ? 0 : until - added;
      const { at: askedAt } = this.#asked.get(uid) ?? { at: Number.NEGATIVE_INFINITY };
      return [{ entry, binding, taint, recordedAt: at, dueAt: cause.since + waitsMs, askedAt }];
    });
  }

  /**
   * All terms that a binding's words gave for a taint at some moment since then, or that the plane may still have known then;
   * undefined among them: it stays.
   */
  termsSince(uid: string, taint: Taint, since: number): readonly (Terms | undefined)[] {
    const said = this.#said.get(uid) ?? [];
    const { noExecutePurgeMode } = this.#truth.witness.controllers;
    const knownAt = since - this.#truth.lagMsAt(since);
    const from = said.findLastIndex(({ at }) => at <= knownAt);
    return said
      .slice(Math.max(0, from))
      .map(({ spec }) => termsOf(spec, taint, noExecutePurgeMode));
  }

  #hearBinding(binding: ResourceBinding, at: number): void {
    const { metadata, spec } = binding;
    const { placement, failover } = spec;
    const names = (spec.clusters ?? []).map(({ name }) => name);
    const asked = JSON.stringify([placement, names, spec.replicas, isUnclaimed(binding)]);
    if (this.#asked.get(metadata.uid)?.text !== asked)
      this.#asked.set(metadata.uid, { at, text: asked });
    const text = JSON.stringify([placement?.clusterTolerations, failover?.cluster]);
    const said = this.#said.get(metadata.uid) ?? [];
    if (said.at(-1)?.text === text) return;
    said.push({ at, text, spec });
    this.#said.set(metadata.uid, said);
  }

  #hearSlice({ spec }: EvacuationSlice, at: number): void {
    const cluster = clusterOfEvacuation(spec.evacuation);
    const taint = taintId(spec.taint);
    const entries = this.#entries.get(cluster) ?? new Map<string, Recorded>();
    this.#entries.set(cluster, entries);
    for (const entry of spec.entries)
      entries.set(`${entry.binding.uid} ${taint}`, { entry, at, taint });
  }
}

/** Evacuations are called `<cluster>-<n>`. */
export function clusterOfEvacuation(name: string): string {
  return name.slice(0, name.lastIndexOf("-"));
}

function termsOf(spec: ResourceBinding["spec"], taint: Taint, flag: string): Terms | undefined {
  const { placement, failover } = spec;
  const purgeMode = todaysName(failover?.cluster?.purgeMode) ?? flag;
  if (isDrain(taint)) return { seconds: 0, purgeMode };
  if (taint.effect === "PreferNoExecute") {
    if (failover?.cluster === undefined) return undefined;
    return { seconds: failover.cluster.tolerationSeconds ?? 300, purgeMode };
  }
  if (taint.effect !== "NoExecute") return undefined;
  const tolerations = (placement?.clusterTolerations ?? []).filter((one) =>
    isTolerated(one, taint),
  );
  if (tolerations.length === 0) return { seconds: 0, purgeMode };
  const limits = tolerations.flatMap(({ tolerationSeconds = [] }) => tolerationSeconds);
  return limits.length === 0 ? undefined : { seconds: Math.max(0, Math.min(...limits)), purgeMode };
}

function todaysName(mode: string | undefined): string | undefined {
  if (mode === "Immediately") return "Directly";
  return mode === "Graciously" ? "Gracefully" : mode;
}

/** Whether a toleration covers a taint; PreferNoExecute is never tolerated (D5). */
export function isTolerated(toleration: Toleration, taint: Taint): boolean {
  if (taint.effect === "PreferNoExecute") return false;
  const { key = "", operator = "Equal", value = "", effect = "" } = toleration;
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (key !== "" && value === (taint.value ?? ""));
}

/** The taint of a cluster that a decision says it is for: borne now, or taken off by the cluster's last changes. */
export function taintOf(
  { taintId: id }: Decision,
  cluster: KnownCluster | undefined,
): (Borne & Partial<Pick<Lost, "until">>) | undefined {
  const candidates: readonly (Borne & Partial<Pick<Lost, "until">>)[] = [
    ...(cluster?.borne.values() ?? []),
    ...(cluster?.lost ?? []),
  ];
  return candidates.find(({ taint }) => taintId(taint) === id);
}

/**
 * Why a workload has nowhere to go from a cluster; undefined: it has (D8).
 *
 *   with minGroups   that many clusters fit besides
 *   Duplicated       else: a new one does
 *   Divided          else: any other does
 *
 * Which clusters fit is asked in one of two ways:
 *
 *   possibleAt    what came since then may not be known everywhere: neither a taint counts, nor that a cluster leaves
 *   certainSince  only what has certainly been a target since then is one. So nobody bears a taint for a time, nor a drain,
 *                 and a copy in a tainted cluster is none; and what has no replicas asks for everything, because a division
 *                 means nothing to it; and which of several groups it would go to is for the scheduler to say
 */
export function noTarget(
  binding: ResourceBinding,
  cluster: string,
  fleet: KnownFleet,
  when: { readonly possibleAt: number } | { readonly certainSince: number },
): string | undefined {
  const { placement, clusters: result = [], replicas = 0 } = binding.spec;
  const isCertain = "certainSince" in when;
  if (isCertain && placement?.clusterAffinities !== undefined) return "it has groups of clusters";
  const present = new Set(result.map(({ name }) => name));
  const names =
    placement?.clusterAffinities?.flatMap(({ clusterNames = [] }) => clusterNames) ??
    placement?.clusterAffinity?.clusterNames;
  const lasting = (placement?.clusterTolerations ?? []).filter(
    ({ tolerationSeconds }) => !isCertain || tolerationSeconds === undefined,
  );
  const there = isCertain
    ? certainlyThere(fleet, when.certainSince)
    : perhapsThere(fleet, when.possibleAt);
  const fitting = [...there]
    .filter(([name]) => name !== cluster && (names?.includes(name) ?? true))
    .filter(([name, taints]) => {
      if (!isCertain && present.has(name)) return true;
      const repels = (taint: Taint): boolean =>
        !lasting.some((one) => isTolerated(one, taint)) || (isCertain && isDrain(taint));
      return !taints.some(repels);
    })
    .map(([name]) => name);
  if (isCertain && isFullWithout(binding, cluster, fitting)) return "it may take no other cluster";
  const hasNew = fitting.some((name) => !present.has(name));
  const { minGroups } =
    placement?.spreadConstraints?.find((one) => one.spreadByField === "cluster") ?? {};
  const isEnough = minGroups !== undefined && fitting.length >= minGroups;
  if (isCertain && replicas === 0 && isDividing(placement))
    return hasNew && (isEnough || minGroups === undefined) ? undefined : "it has no replicas";
  if (minGroups !== undefined && !ignoresSpread(placement))
    return isEnough ? undefined : `${fitting.length} clusters fit`;
  if (isDividing(placement)) return fitting.length > 0 ? undefined : "no other cluster fits";
  return hasNew ? undefined : "no new cluster fits";
}

/** Clusters by name, each with the taints that it bears. */
type Tainted = ReadonlyMap<string, readonly Taint[]>;

/** The clusters that somebody may still take for there who knows what was true then, with the taints that all know of. */
function perhapsThere({ clusters, gone }: KnownFleet, possibleAt: number): Tainted {
  const there = [...gone, ...clusters].filter(([, { leftAt }]) => leftAt > possibleAt);
  return new Map(
    there.map(([name, { borne }]) => [
      name,
      [...borne.values()].filter(({ since }) => since <= possibleAt).map(({ taint }) => taint),
    ]),
  );
}

/** The clusters that stay and were there then, with all taints that they bore since then. */
function certainlyThere({ clusters }: KnownFleet, certainSince: number): Tainted {
  const there = [...clusters].filter(
    ([, { joinedAt, leftAt }]) => joinedAt <= certainSince && leftAt === Infinity,
  );
  return new Map(
    there.map(([name, { borne, lost }]) => [
      name,
      [...borne.values(), ...lost.filter(({ until }) => until > certainSince)].map(
        ({ taint }) => taint,
      ),
    ]),
  );
}

/** Judges every eviction for a taint, in the order of writing. */
type JudgeDecision = (decision: Decision) => string | undefined;

/** An oracle that judges evictions for taints; the judge says what is wrong with one. */
export function onDecisions(
  name: string,
  promise: string,
  start: (truth: Truth, eligibility: Eligibility) => JudgeDecision,
): AlwaysOracle {
  const begin = (truth: Truth): Judge => {
    const judge = start(truth, Eligibility.of(truth));
    return (change: Committed) =>
      decisionsOf(change).flatMap((decision) => {
        const wrong = judge(decision);
        return wrong === undefined ? [] : [`${decision.key} left ${decision.cluster}: ${wrong}`];
      });
  };
  return { name, promise, on: "plane", tables: BINDINGS, start: begin };
}

/** Bindings without replicas or health have a lane of their own. */
const PASSIVE_KINDS: ReadonlySet<string> = new Set(["ConfigMap", "Secret", "Role", "ClusterRole"]);

/** Whether a binding is of the second lane (D6). */
export function isPassive({ spec }: ResourceBinding): boolean {
  return PASSIVE_KINDS.has(spec.resource.kind);
}
