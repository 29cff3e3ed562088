/**
 * Oracles of group G: where workloads are placed.
 *
 * G3 (a duplicated workload is not moved when there are fewer candidates than clusters failed) is judged with B7, at the
 * moment of the eviction (D8). What a person placed by hand is left out.
 */
import {
  type Cluster,
  equalJson,
  findCondition,
  type Json,
  type ResourceBinding,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Committed } from "../disk/ledger.ts";
import { decisionsOf, isTolerated } from "./decisions.ts";
import { type Borne, KnownFleet, isDrain } from "./fleet.ts";
import type { AlwaysOracle, Judge } from "./oracle.ts";
import {
  BINDINGS,
  clusterNamed,
  copyOf,
  type Edit,
  editOf,
  ignoresSpread,
  isDivided,
  isFederated,
  isGoing,
  isOfPerson,
  isStaying,
  nameOf,
  onEdit,
  pairOf,
  readyIn,
  resultOf,
  resultWithout,
  sumOf,
  tasksBegun,
  tasksOf,
  tasksWithout,
} from "./reading.ts";
import { CLUSTERS, type Truth } from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "clusters-that-are-there-stay",
    promise:
      "G1: a cluster of the result stays in it, with its replicas, until it is evicted, it leaves, or a person asks for something else",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => {
      const fleet = KnownFleet.of(truth);
      return onEdit((edit, { at }) => {
        const { before, now } = edit;
        if (isOfPerson(truth, now) || isAskedAnew(before, now)) return [];
        // A share that a person gave up goes; the others are judged by oracles of their own (D15).
        if (isFederated(now)) return [];
        if (isInLaterGroup(fleet, edit, at - truth.lagMs)) return [];
        // Fewer replicas than before may be too few for all clusters; and where none were, none has to stay.
        const had = sumOf(before);
        if (isDivided(now) && (had === 0 || had > (now.spec.replicas ?? 0))) return [];
        const evicted = tasksOf(now);
        const lost = resultWithout(before, now)
          .filter((cluster) => !evicted.has(cluster) && isStaying(clusterNamed(truth, cluster)))
          .filter((cluster) => !isOfAnotherGroup(edit, cluster))
          .map((cluster) => `${nameOf(now)} lost ${cluster}`);
        if (!isDivided(now)) return lost;
        const shares = resultOf(now);
        const shrunk = [...resultOf(before)]
          .filter(([name, replicas]) => (shares.get(name) ?? replicas) < replicas)
          .map(([name]) => `${nameOf(now)} has fewer replicas in ${name} than before`);
        return [...lost, ...shrunk];
      });
    },
  },
  {
    name: "results-fit-the-placement",
    promise: "G2: every result fits the cluster affinity and the spread constraints of its policy",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) => {
      const binding = placedNow(change);
      if (binding === undefined || isOfPerson(truth, binding)) return [];
      // A cluster that the policy no longer means keeps its share until a person gives it up (D15).
      if (isFederated(binding)) return [];
      const result = [...resultOf(binding).keys()];
      const allowed = allowedBy(binding);
      const stray = allowed === undefined ? [] : result.filter((name) => !allowed.includes(name));
      const says = stray.map((name) => `${nameOf(binding)} is on ${name}, which it must not`);
      if (isDivided(binding)) return says;
      const { least, most } = spreadOf(binding);
      return result.length >= least && result.length <= most
        ? says
        : [...says, `${nameOf(binding)} is on ${result.length} clusters: ${result.join()}`];
    },
  },
  {
    name: "divided-replicas-add-up",
    promise:
      "G4: divided replicas are as many as asked for, none is negative, and where nothing was before equal weights differ by one at most",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) => {
      const binding = placedNow(change);
      if (binding === undefined || isOfPerson(truth, binding) || !isDivided(binding)) return [];
      const { replicas = 0, placement } = binding.spec;
      if (replicas === 0) return [];
      const shares = [...resultOf(binding).values()];
      const placed = sumOf(binding);
      const text = `${nameOf(binding)} has the shares ${shares.join()}`;
      if (placed !== replicas || shares.some((share) => share <= 0))
        return [`${text} of ${replicas}`];
      const preference = placement?.replicaScheduling?.replicaDivisionPreference;
      const isFresh = pairOf(change).before?.status?.lastScheduledTime === undefined;
      const isEven = Math.max(...shares) - Math.min(...shares) <= 1;
      return !isFresh || preference === "Aggregated" || isEven ? [] : [text];
    },
  },
  {
    name: "seen-only-when-placed",
    promise:
      "G5: the generation that the scheduler says it has seen is never ahead, and is the present one only when the workload has a result",
    on: "plane",
    tables: BINDINGS,
    start: () => (change) => {
      const { before, now } = pairOf(change);
      if (now === undefined) return [];
      const { generation = 0 } = now.metadata;
      const { schedulerObservedGeneration: seen } = now.status ?? {};
      if (seen === undefined || seen === before?.status?.schedulerObservedGeneration) return [];
      if (seen > generation) return [`${nameOf(now)} was seen before it was written`];
      const isEmpty = resultOf(now).size === 0 && now.spec.replicas !== 0;
      // Of a federated StatefulSet a person may give up every share (D15).
      if (isFederated(now)) return [];
      return seen === generation && isEmpty ? [`${nameOf(now)} was seen without a result`] : [];
    },
  },
  {
    name: "never-onto-a-cluster-that-is-left",
    promise:
      "G6: nothing is placed on a cluster that is gone or leaves, nor back where an application failed, during the same episode (D23)",
    on: "plane",
    tables: [CLUSTERS, ...BINDINGS],
    start: (truth) => {
      const leaving = new Map<string, number>();
      const takeCluster: Judge = (change) => {
        const { now } = pairOf<Cluster>(change);
        const name = change.key.slice(1);
        if (now !== undefined && !isGoing(now)) leaving.delete(name);
        else if (!leaving.has(name)) leaving.set(name, change.at);
        return [];
      };
      const judgeEdit = onEdit(({ before, now }, change) => {
        if (isOfPerson(truth, now)) return [];
        const { lagMs } = truth;
        const returned = new Set(tasksWithout(before, now).map(({ fromCluster }) => fromCluster));
        const failed = failedIn(before);
        return resultWithout(now, before).flatMap((cluster) => {
          const since = leaving.get(cluster) ?? Infinity;
          if (since < change.at - lagMs)
            return [`${nameOf(now)} is placed on ${cluster}, which leaves`];
          return failed.has(cluster) && !returned.has(cluster)
            ? [`${nameOf(now)} is placed on ${cluster} again, where it failed`]
            : [];
        });
      });
      return (change) => (change.table === CLUSTERS ? takeCluster(change) : judgeEdit(change));
    },
  },
  {
    name: "no-way-there-and-back",
    promise:
      "G7: a result does not return to what it was before while clusters, policy, replicas and evictions are the same",
    on: "plane",
    tables: [CLUSTERS, ...BINDINGS],
    start: (truth) => {
      const fleet = KnownFleet.of(truth);
      let seen = new Map<string, Set<string>>();
      const takeCluster: Judge = (change) => {
        if (!isSameCluster(pairOf<Cluster>(change))) seen = new Map();
        return [];
      };
      const judgeEdit = onEdit((edit, change) => {
        const { before, now } = edit;
        if (isOfPerson(truth, now)) return [];
        const results = seen.get(change.key) ?? new Set<string>();
        seen.set(change.key, results);
        const isMoved = !equalJson(tasksText(before), tasksText(now));
        if (isAskedAnew(before, now) || isMoved || hasGotWell(truth, edit)) results.clear();
        const [was, is] = [resultText(before), resultText(now)];
        if (was === is) return [];
        // To leave is no way back, though it was without that cluster before. Where it goes then may be one.
        const isBack = results.has(is) && tasksBegun(edit).length === 0;
        if (!isEvictedThoughTolerated(fleet, change)) results.add(was);
        return isBack ? [`${nameOf(now)} went from ${is} to ${was} and back`] : [];
      });
      return (change) => (change.table === CLUSTERS ? takeCluster(change) : judgeEdit(change));
    },
  },
];

/** Whether a person asked for another placement, or for another look, that was not carried out before. */
function isAskedAnew(before: ResourceBinding, now: ResourceBinding): boolean {
  const applied = before.metadata.annotations?.[wellKnown.APPLIED_PLACEMENT];
  return (
    applied !== JSON.stringify(before.spec.placement ?? null) ||
    !equalJson(before.spec.placement, now.spec.placement) ||
    before.spec.replicas !== now.spec.replicas ||
    before.spec.rescheduleTriggeredAt !== now.spec.rescheduleTriggeredAt
  );
}

type Groups = readonly (readonly string[])[];

function groupsOf({ spec }: ResourceBinding): Groups {
  const { clusterAffinities = [] } = spec.placement ?? {};
  return clusterAffinities.map(({ clusterNames = [] }) => clusterNames);
}

/** The first group that the whole result lies in; -1: none. */
function groupOf(binding: ResourceBinding, groups: Groups): number {
  const result = [...resultOf(binding).keys()];
  return groups.findIndex((names) => result.every((name) => names.includes(name)));
}

/**
 * Whether a result that lay in two groups is in one again, and the cluster is not of that one: an eviction was taken back (D13)
 * when what was asked for in addition had been placed in another group.
 */
function isOfAnotherGroup({ before, now }: Edit, cluster: string): boolean {
  const groups = groupsOf(now);
  const latter = groups[groupOf(now, groups)];
  return groupOf(before, groups) < 0 && latter?.includes(cluster) === false;
}

/**
 * Whether it went on to a later group of clusters because its former one took nothing new, as somebody may know who knows what
 * was true then: too few clusters there are left for its spread constraint that are neither gone, going nor tainted, have no
 * copies of former times to remove (D11), and are not where it failed (D23). A result is always of one group.
 */
function isInLaterGroup({ clusters }: KnownFleet, { before, now }: Edit, knownAt: number): boolean {
  const groups = groupsOf(now);
  const [former, latter] = [groupOf(before, groups), groupOf(now, groups)];
  const failed = failedIn(before);
  const isClosed = (name: string): boolean => {
    const known = clusters.get(name);
    if (known === undefined || known.leftAt < Infinity || failed.has(name)) return true;
    const { cluster, borne, lost, joinedAt } = known;
    return (
      borne.size > 0 ||
      joinedAt > knownAt ||
      lost.some(({ until }) => until > knownAt) ||
      findCondition(cluster.status?.conditions, "StaleCopiesRemoved")?.status === "False"
    );
  };
  const open = groups[former]?.filter((name) => !isClosed(name)) ?? [];
  const isShort = open.length < Math.max(1, spreadOf(now).least);
  return former >= 0 && former < latter && isShort;
}

/**
 * Whether it is evicted for a taint that its policy tolerates by now: who is affected was fixed before that was asked for (D7),
 * and the cluster is a candidate like others (D23), so that it may return at once.
 */
function isEvictedThoughTolerated({ clusters }: KnownFleet, change: Committed): boolean {
  return decisionsOf(change).some(({ at, binding, cluster }) => {
    const { clusterTolerations = [] } = binding.spec.placement ?? {};
    const isTolerable = ({ taint, since }: Borne): boolean =>
      clusterTolerations.some(
        (one) =>
          isTolerated(one, taint) &&
          since + (one.tolerationSeconds ?? Infinity) * 1000 > at + WHOLE_SECONDS_MS,
      );
    const taints = [...(clusters.get(cluster)?.borne.values() ?? [])];
    return taints.every((one) => !isDrain(one.taint) && isTolerable(one));
  });
}

/** Times of taints are whole seconds. */
const WHOLE_SECONDS_MS = 1000;

/** The binding, if this change says that it was placed. */
function placedNow(change: Committed): ResourceBinding | undefined {
  const edit = editOf(change);
  if (edit === undefined) return undefined;
  const { before, now } = edit;
  const { generation } = now.metadata;
  const isPlaced =
    now.status?.schedulerObservedGeneration === generation &&
    before.status?.schedulerObservedGeneration !== generation &&
    findCondition(now.status?.conditions, "Scheduled")?.status === "True";
  return isPlaced ? now : undefined;
}

/** How many clusters the placement asks for. */
function spreadOf({ spec: { placement } }: ResourceBinding): {
  readonly least: number;
  readonly most: number;
} {
  const spread = placement?.spreadConstraints?.find(
    ({ spreadByField }) => spreadByField === "cluster",
  );
  if (spread === undefined || ignoresSpread(placement)) return { least: 0, most: Infinity };
  const { minGroups = 1, maxGroups = 0 } = spread;
  return { least: minGroups, most: maxGroups === 0 ? Infinity : maxGroups };
}

/** The clusters that the affinity in use names; undefined: all. */
function allowedBy({ spec, status }: ResourceBinding): readonly string[] | undefined {
  const { clusterAffinity, clusterAffinities } = spec.placement ?? {};
  const inUse = clusterAffinities?.find(
    ({ affinityName }) => affinityName === status?.schedulerObservingAffinityName,
  );
  return (inUse ?? clusterAffinity)?.clusterNames;
}

/** Where an application failed in the episode that goes on. */
function failedIn({ metadata }: ResourceBinding): ReadonlySet<string> {
  const text = metadata.annotations?.[wellKnown.EVICTED_FROM] ?? "[]";
  return new Set(JSON.parse(text) as readonly string[]);
}

/** Whether the episode of a failing application ends here, and rightly: what its result says is ready everywhere. */
function hasGotWell(truth: Truth, { before, now }: Edit): boolean {
  if (failedIn(now).size >= failedIn(before).size) return false;
  return [...resultOf(now)].every(
    ([cluster, replicas]) => readyIn(copyOf(truth, now, cluster)) >= replicas,
  );
}

/** Whether a cluster says the same to the scheduler, but for its room. */
function isSameCluster({
  before,
  now,
}: {
  readonly before: Cluster | undefined;
  readonly now: Cluster | undefined;
}): boolean {
  if (before === undefined || now === undefined) return false;
  const concerns = ({ metadata, spec, status }: Cluster): unknown => [
    metadata.deletionTimestamp ?? "",
    spec,
    (status?.conditions ?? []).map(({ type, status: value }) => `${type} ${value}`),
    status?.apiEnablements ?? [],
  ];
  return equalJson(concerns(before), concerns(now));
}

function tasksText(binding: ResourceBinding): Json {
  return [...tasksOf(binding)].toSorted();
}

function resultText(binding: ResourceBinding): string {
  const shares = [...resultOf(binding)].map(([name, replicas]) => `${name}:${replicas}`);
  return `[${shares.toSorted().join()}]`;
}
