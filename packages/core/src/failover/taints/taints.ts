/**
 * Deciding the taints of one cluster by the taint policies (D2-D4).
 *
 * Each policy wants its taints (`match`), does not (`mismatch`), or, in the spelling without windows, leaves them (`keep`).
 * A wish must last for the taint's window before it counts. What must survive a restart is in the record on the Cluster.
 *
 * 1. A policy removes only taints it added; a taint that two policies added leaves when neither wants it any more. A
 *    taint that another writer set, or whose value was changed, is never touched.
 * 2. A window begins at the latest of: the first moment we know the wish holds, the policy's creation, its last edit. It
 *    is interrupted by any state in between that does not match the wish, and starts again when the conditions changed while
 *    no process watched. So no restart, missed event, edit or step of the clock ever shortens it.
 * 3. A policy that is deleted, or drops a taint, or (without windows) leaves the cluster out, gives its taints up at once;
 *    with windows, a cluster that is no longer selected counts as a mismatch.
 * 4. A taint of a policy that a person removed stays off until the conditions stop matching once.
 * 5. A taint that stays keeps its `timeAdded`: tolerations count from it.
 * 6. While failover is off only NoSchedule is added (D18); nothing is removed for that reason.
 */
import type { Cluster, ClusterTaintPolicy } from "@lifeboat/api";
import { formatTime, type Instant, type Moment } from "@lifeboat/base";
import { equalJson } from "@lifeboat/api";
import type { Plan, PlannedEvent } from "../../plan.ts";
import { matchesCluster } from "../../propagation/selectors/cluster-affinity.ts";
import { TAINT_POLICIES } from "../../well-known.ts";
import {
  fingerprint,
  hasWindows,
  type ObservedCondition,
  type Wish,
  wishOf,
} from "./conditions.ts";
import { eventsOf, holdersOf, removedByHandEvent } from "./events.ts";
import type { TaintReason } from "./reasons.ts";
import {
  formatTaintRecord,
  type HeldTaint,
  parseTaintRecord,
  type PolicyMemory,
  taintId,
} from "./record.ts";

export type Taint = NonNullable<Cluster["spec"]["taints"]>[number];

/** A state of a cluster's conditions, and when it was first seen. */
export interface PassedState {
  readonly at: Instant;
  readonly conditions: readonly ObservedCondition[];
}

export interface TaintView {
  readonly cluster: Cluster;
  /** Every policy; those that are being deleted count as deleted. */
  readonly policies: readonly ClusterTaintPolicy[];
  /**
   * The states that were seen since the last decision and before the present one, oldest first. Each state of the cluster
   * must be among them, unless `unwatched`.
   */
  readonly passed: readonly PassedState[];
  /** Whether states may have been missed since the record was written: after a start, or after a lost watch. */
  readonly unwatched: boolean;
  /** The gate: whether evicting taints may be added. */
  readonly failover: boolean;
}

/** The Cluster's taints and its record, to be written at once. */
export interface TaintCommand {
  readonly kind: "writeTaints";
  readonly taints: readonly Taint[];
  /** The value of the annotation; undefined: without it. */
  readonly record: string | undefined;
}

export type TaintPlan = Plan<TaintCommand, TaintReason>;

interface WantedTaint extends HeldTaint {
  readonly addAfterMs: number;
  readonly removeAfterMs: number;
}

/** What one policy has come to. */
interface Verdict {
  readonly uid: string;
  readonly memory: PolicyMemory;
  /** The taints it wants on the cluster now. */
  readonly holds: readonly HeldTaint[];
  /** What only time is missing for. */
  readonly pending: readonly PendingTaint[];
  readonly events: readonly PlannedEvent[];
}

/** A taint that a policy will add or remove when its window has passed, if the conditions stay as they are. */
export interface PendingTaint {
  readonly policy: string;
  readonly key: string;
  readonly effect: string;
  readonly adds: boolean;
  readonly due: Instant;
}

/** What the cluster's taints must be, what is to be remembered, and when time alone changes the answer. */
export function decideTaints(view: TaintView, moment: Moment): TaintPlan {
  const oldText = view.cluster.metadata.annotations?.[TAINT_POLICIES];
  const { old, standing, verdicts } = judgeAll(view, moment);
  const { present, ours } = standing;
  const taints = mergeTaints(present, ours, verdicts, moment.now);
  const record = new Map(verdicts.map(({ uid, memory }) => [uid, memory]));
  const text = formatTaintRecord(record);
  const changed = !equalJson(taints, present);
  const times = verdicts.flatMap(({ pending }) => pending.map(({ due }) => due));
  const checkAgain = times.length === 0 ? undefined : (Math.min(...times) as Instant);
  return {
    commands: changed || text !== oldText ? [{ kind: "writeTaints", taints, record: text }] : [],
    conditions: [],
    events: [
      ...verdicts.flatMap(({ events }) => events),
      ...eventsOf(
        { taints: present, holders: holdersOf(old.entries(), view.policies) },
        { taints, holders: holdersOf(record.entries(), view.policies) },
      ),
    ],
    ...(checkAgain === undefined ? {} : { checkAgainAt: checkAgain }),
    reason: changed
      ? "TaintsChanged"
      : text !== oldText
        ? "Remembered"
        : checkAgain === undefined
          ? "Settled"
          : "Waiting",
  };
}

/** What the policies will add to a cluster and remove from it by the passing of time alone, the first first. */
export function pendingTaints(view: TaintView, moment: Moment): readonly PendingTaint[] {
  const { verdicts } = judgeAll(view, moment);
  return verdicts.flatMap(({ pending }) => pending).toSorted((a, b) => a.due - b.due);
}

function judgeAll(view: TaintView, moment: Moment) {
  const { cluster } = view;
  const old = parseTaintRecord(cluster.metadata.annotations?.[TAINT_POLICIES]);
  const present = cluster.spec.taints ?? [];
  const standing: Standing = { present, ours: takenByUs(old.values(), present) };
  const verdicts = view.policies
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort(byAge)
    .flatMap((policy) => {
      const verdict = judge(view, policy, old.get(policy.metadata.uid), standing, moment);
      return verdict === undefined ? [] : [verdict];
    });
  return { old, standing, verdicts };
}

interface Standing {
  readonly present: readonly Taint[];
  /** The ids of the taints on the cluster that are as policies added them. */
  readonly ours: ReadonlySet<string>;
}

function judge(
  view: TaintView,
  policy: ClusterTaintPolicy,
  old: PolicyMemory | undefined,
  standing: Standing,
  { now, due: dueTime }: Moment,
): Verdict | undefined {
  const { metadata, spec } = policy;
  const wanted = wantedTaints(spec);
  const meant = matchesCluster(view.cluster, spec.targetCluster ?? spec.targetClusters);
  // A policy that never had to do with this cluster leaves no trace on it.
  if (!meant && old === undefined) return undefined;
  const seen = fingerprint(spec, conditionsOf(view.cluster));
  const generation = metadata.generation ?? 0;
  const state = meant ? wishOver(view, spec, old, now) : leavingWish(spec, old, now);
  const begun = isNew(view, old, { generation, seen }) ? now : state.since;
  const matches = state.wish === "keep" ? (old?.matches ?? false) : state.wish === "match";
  if (!meant && !hasWindows(spec)) return undefined;
  const hand = removalsByHand(old, standing, wanted, state.interrupted || !matches);
  const holds: HeldTaint[] = [];
  const pending: PendingTaint[] = [];
  for (const taint of wanted) {
    const id = taintId(taint);
    const held = hand.added.find((one) => taintId(one) === id);
    const windowMs = matches ? taint.addAfterMs : taint.removeAfterMs;
    const due = dueTime(begun, windowMs);
    if (matches === (held !== undefined)) {
      if (held !== undefined) holds.push({ ...held, value: taint.value });
      continue;
    }
    if (matches && !mayAdd(view, taint, hand.removed, standing)) continue;
    // seed: before-due
    if (now < due) {
      const { key, effect } = taint;
      pending.push({ policy: metadata.name, key, effect, adds: matches, due });
      if (held !== undefined) holds.push(held);
      continue;
    }
    if (matches) holds.push({ key: taint.key, effect: taint.effect, value: taint.value });
  }
  const memory: PolicyMemory = {
    generation,
    matches,
    since: begun,
    seen,
    added: holds,
    removedByHand: hand.removed,
  };
  if (!meant && holds.length === 0) return undefined;
  return {
    uid: metadata.uid,
    memory,
    holds,
    pending,
    events: hand.events.map((taint) => removedByHandEvent(metadata.name, taint)),
  };
}

interface WishState {
  readonly wish: Wish;
  readonly since: Instant;
  /** Whether the conditions stopped matching at some moment since the last decision. */
  readonly interrupted: boolean;
}

/** Follows the wish through every state that was seen; `keep` changes nothing. */
function wishOver(
  view: TaintView,
  spec: ClusterTaintPolicy["spec"],
  old: PolicyMemory | undefined,
  now: Instant,
): WishState {
  const states = [...view.passed, { at: now, conditions: conditionsOf(view.cluster) }];
  let wish: Wish = old === undefined ? "keep" : old.matches ? "match" : "mismatch";
  let since = old?.since ?? now;
  let interrupted = false;
  for (const { at, conditions } of states) {
    const next = wishOf(spec, conditions);
    if (next === "mismatch") interrupted = true;
    if (next === "keep" || next === wish) continue;
    wish = next;
    // seed: window-begins
    since = at;
  }
  return { wish, since, interrupted };
}

/** A cluster that is no longer meant: a mismatch from the moment we see it. */
function leavingWish(
  spec: ClusterTaintPolicy["spec"],
  old: PolicyMemory | undefined,
  now: Instant,
): WishState {
  const since = old !== undefined && !old.matches && hasWindows(spec) ? old.since : now;
  return { wish: "mismatch", since, interrupted: true };
}

/** Whether the memory does not show since when the wish holds. */
function isNew(
  view: TaintView,
  old: PolicyMemory | undefined,
  current: { readonly generation: number; readonly seen: string },
): boolean {
  if (old === undefined || old.generation !== current.generation) return true;
  return view.unwatched && old.seen !== current.seen;
}

/** What became of the taints that the policy had added: those still there, those that were removed or changed. */
function removalsByHand(
  old: PolicyMemory | undefined,
  { present, ours }: Standing,
  wanted: readonly WantedTaint[],
  forget: boolean,
): {
  readonly added: readonly HeldTaint[];
  readonly removed: readonly HeldTaint[];
  readonly events: readonly HeldTaint[];
} {
  const isWanted = (one: HeldTaint): boolean =>
    wanted.some((taint) => taintId(taint) === taintId(one));
  const had = (old?.added ?? []).filter(isWanted);
  const added = had.filter((one) => ours.has(taintId(one)));
  const gone = had.filter((one) => !present.some((taint) => taintId(taint) === taintId(one)));
  const before = (old?.removedByHand ?? []).filter(isWanted);
  return { added, removed: forget ? [] : [...before, ...gone], events: gone };
}

function mayAdd(
  view: TaintView,
  taint: HeldTaint,
  removed: readonly HeldTaint[],
  { present, ours }: Standing,
): boolean {
  const id = taintId(taint);
  if (!view.failover && taint.effect !== "NoSchedule") return false;
  if (removed.some((one) => taintId(one) === id)) return false;
  // A taint of another writer with the same key and effect has the wanted effect, and stays theirs.
  return ours.has(id) || !present.some((one) => taintId(one) === id);
}

/** The ids of present taints that are as a policy added them: same value. */
function takenByUs(
  memories: Iterable<PolicyMemory>,
  present: readonly Taint[],
): ReadonlySet<string> {
  const values = new Map(present.map((taint) => [taintId(taint), taint.value ?? ""]));
  const ours = new Set<string>();
  for (const { added } of memories)
    for (const one of added) {
      const id = taintId(one);
      if (values.get(id) === one.value) ours.add(id);
    }
  return ours;
}

/** Present taints in their order without those that no policy wants any more, then new ones; the oldest policy's value wins. */
function mergeTaints(
  present: readonly Taint[],
  ours: ReadonlySet<string>,
  verdicts: readonly Verdict[],
  now: Instant,
): readonly Taint[] {
  const held = new Map<string, HeldTaint>();
  for (const { holds } of verdicts)
    for (const one of holds) if (!held.has(taintId(one))) held.set(taintId(one), one);
  const kept = present.flatMap((taint): readonly Taint[] => {
    const one = held.get(taintId(taint));
    // seed: foreign
    if (!ours.has(taintId(taint))) return [taint];
    // seed: still-held
    return one === undefined ? [] : [withValue(taint, one.value)];
  });
  const has = new Set(present.map(taintId));
  const added = [...held].flatMap(([id, { key, effect, value }]): readonly Taint[] =>
    has.has(id)
      ? []
      : [
          {
            key,
            effect: effect as Taint["effect"],
            ...(value === "" ? {} : { value }),
            timeAdded: formatTime(now),
          },
        ],
  );
  return [...kept, ...added];
}

/** The taint with the value that its policy has now; its time stays. */
function withValue(taint: Taint, value: string): Taint {
  if ((taint.value ?? "") === value) return taint;
  const { value: _old, ...rest } = taint;
  return value === "" ? rest : { ...rest, value };
}

function wantedTaints(spec: ClusterTaintPolicy["spec"]): readonly WantedTaint[] {
  if (!hasWindows(spec))
    return (spec.taints ?? []).map(({ key, effect, value = "" }) => ({
      key,
      effect,
      value,
      addAfterMs: 0,
      removeAfterMs: 0,
    }));
  return (spec.taintsToAdd ?? []).map((taint) => ({
    key: taint.key,
    effect: taint.effect,
    value: taint.value ?? "",
    addAfterMs: Math.max(0, taint.addOnMatchSeconds ?? 300) * 1000,
    removeAfterMs: Math.max(0, taint.removeOnMismatchSeconds ?? 180) * 1000,
  }));
}

function conditionsOf(cluster: Cluster): readonly ObservedCondition[] {
  return cluster.status?.conditions ?? [];
}

function byAge(a: ClusterTaintPolicy, b: ClusterTaintPolicy): number {
  const [x, y] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  if (x !== y) return x < y ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
