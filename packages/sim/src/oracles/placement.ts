/**
 * Oracles of group G: where workloads are placed.
 *
 * G3 (a duplicated workload is not moved when there are fewer candidates than clusters failed) is judged with B7, at the
 * moment of the eviction (D8). What a person placed by hand is left out.
 */
import {
  type AnyObject,
  type Cluster,
  equalJson,
  findCondition,
  type Json,
  type ResourceBinding,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Committed } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import {
  BINDINGS,
  clusterNamed,
  editOf,
  faultyClusters,
  isClaimedBy,
  isGoing,
  isOf,
  isStaying,
  isUnclaimed,
  nameOf,
  nameOfCluster,
  pairOf,
  resultOf,
  resultWithout,
  tasksOf,
  tasksWithout,
  workOf,
} from "./reading.ts";
import { isStateReadable } from "./state.ts";
import { CLUSTERS, type Truth } from "./truth.ts";

/** Above this share nobody is moved (D6). */
const BRAKED_SHARE = 0.55;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "clusters-that-are-there-stay",
    promise:
      "G1: a cluster of the result stays in it, with its replicas, until it is evicted, it leaves, or a person asks for something else",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) => {
      const edit = editOf(change);
      if (edit === undefined || isOfPerson(truth, edit.now)) return [];
      const { before, now } = edit;
      if (isAskedAnew(before, now)) return [];
      const evicted = tasksOf(now);
      const lost = resultWithout(before, now)
        .filter((cluster) => !evicted.has(cluster) && isStaying(clusterNamed(truth, cluster)))
        .map((cluster) => `${nameOf(now)} lost ${cluster}`);
      if (!isDivided(now) || sumOf(before) > (now.spec.replicas ?? 0)) return lost;
      const shares = resultOf(now);
      const shrunk = [...resultOf(before)]
        .filter(([name, replicas]) => (shares.get(name) ?? replicas) < replicas)
        .map(([name]) => `${nameOf(now)} has fewer replicas in ${name} than before`);
      return [...lost, ...shrunk];
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
      const result = [...resultOf(binding).keys()];
      const allowed = allowedBy(binding);
      const stray = allowed === undefined ? [] : result.filter((name) => !allowed.includes(name));
      const says = stray.map((name) => `${nameOf(binding)} is on ${name}, which it must not`);
      if (isDivided(binding) || ignoresSpread(binding.spec.placement)) return says;
      const spread = binding.spec.placement?.spreadConstraints?.find(
        ({ spreadByField }) => spreadByField === "cluster",
      );
      const { minGroups = 1, maxGroups = 0 } = spread ?? {};
      const isFit =
        spread === undefined ||
        (result.length >= minGroups && (maxGroups === 0 || result.length <= maxGroups));
      return isFit
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
      return (change) => {
        if (change.table === CLUSTERS) {
          const { now } = pairOf<Cluster>(change);
          const name = change.key.slice(1);
          if (now !== undefined && !isGoing(now)) leaving.delete(name);
          else if (!leaving.has(name)) leaving.set(name, change.at);
          return [];
        }
        const edit = editOf(change);
        if (edit === undefined || isOfPerson(truth, edit.now)) return [];
        const { before, now } = edit;
        const { lagMs } = truth.circumstances;
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
      };
    },
  },
  {
    name: "no-way-there-and-back",
    promise:
      "G7: a result does not return to what it was before while clusters, policy, replicas and evictions are the same",
    on: "plane",
    tables: [CLUSTERS, ...BINDINGS],
    start: (truth) => {
      let seen = new Map<string, Set<string>>();
      return (change) => {
        if (change.table === CLUSTERS) {
          if (!isSameCluster(pairOf<Cluster>(change))) seen = new Map();
          return [];
        }
        const edit = editOf(change);
        if (edit === undefined || isOfPerson(truth, edit.now)) return [];
        const { before, now } = edit;
        const results = seen.get(change.key) ?? new Set<string>();
        seen.set(change.key, results);
        if (isAskedAnew(before, now) || !equalJson(tasksText(before), tasksText(now)))
          results.clear();
        const [was, is] = [resultText(before), resultText(now)];
        if (was === is) return [];
        const isBack = results.has(is);
        results.add(was);
        return isBack ? [`${nameOf(now)} went from ${is} to ${was} and back`] : [];
      };
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "placed-as-asked",
    promise: "H5: a workload is placed on all clusters that its policy names and that are there",
    judge: (truth) => {
      const clusters = truth.clusters().filter((cluster) => !isGoing(cluster));
      const free = new Set(
        clusters.filter(({ spec }) => (spec.taints ?? []).length === 0).map(nameOfCluster),
      );
      return truth.policies().flatMap((policy) => {
        const { placement, resourceSelectors } = policy.spec;
        const asked = askedBy(placement) ?? new Set(clusters.map(nameOfCluster));
        const allowed = new Set(clusters.map(nameOfCluster).filter((name) => asked.has(name)));
        const required = [...free].filter((name) => asked.has(name));
        if (required.length === 0) return [];
        return resourceSelectors.flatMap(({ kind, name = "" }) => {
          const { namespace } = policy.metadata;
          const template = truth
            .templates(kind)
            .find((o) => o.metadata.name === name && o.metadata.namespace === namespace);
          if (template === undefined || !isClaimedBy(template, policy.metadata.name)) return [];
          const binding = truth
            .bindings()
            .find(({ spec }) => isOf(spec.resource, kind, namespace, name));
          // Where a person placed it, or where it failed, is another matter.
          if (binding !== undefined && (isOfPerson(truth, binding) || hasFailed(binding)))
            return [];
          const placed = (binding?.spec.clusters ?? []).map((target) => target.name).toSorted();
          const wrong = (why: string): string[] => [
            `${kind} ${name} is on [${placed.join()}]: ${why}`,
          ];
          const spread = ignoresSpread(placement) ? undefined : placement?.spreadConstraints?.[0];
          const { minGroups = 1, maxGroups = 0 } = spread ?? {};
          // Of several groups one must be enough; what cannot be carried out changes nothing (D8).
          const groups = groupsOf(placement) ?? [required];
          const isEnough = (group: readonly string[]): boolean =>
            group.filter((cluster) => required.includes(cluster)).length >= minGroups;
          if (!groups.some(isEnough)) return [];
          if (placed.some((cluster) => !allowed.has(cluster))) return wrong("more than allowed");
          const wanted = replicasOf(template);
          if (wanted > 0 && isDividing(placement)) return dividedFault(template, binding, wanted);
          if (spread !== undefined) {
            const most = maxGroups === 0 ? Infinity : maxGroups;
            return placed.length >= minGroups && placed.length <= most
              ? []
              : wrong(`not on ${minGroups} to ${most} clusters`);
          }
          // Of several groups one is enough.
          if (placement?.clusterAffinities !== undefined) return placed.length > 0 ? [] : wrong("");
          const missing = required.filter((cluster) => !placed.includes(cluster));
          return missing.length === 0 ? [] : wrong(`${missing.join()} is missing`);
        });
      });
    },
  },
  {
    name: "nobody-stays-on-a-faulty-cluster",
    promise:
      "C8, F10: with the gate on, workloads leave clusters with a NoExecute taint for others, also when a key of their state is missing (D12)",
    judge: (truth) => {
      const clusters = truth.clusters();
      const faulty = faultyClusters(truth);
      const failed = clusters.filter(({ spec }) =>
        (spec.taints ?? []).some(({ effect }) => effect !== "NoSchedule"),
      );
      // Above this share nobody is moved (D6).
      if (!truth.circumstances.failover || failed.length / clusters.length > BRAKED_SHARE)
        return [];
      return truth.bindings().flatMap((binding) => {
        const { placement, clusters: placed = [] } = binding.spec;
        // Nor does one return to where it failed (D23).
        if (isUnclaimed(binding) || hasFailed(binding)) return [];
        const asked = placement?.clusterAffinity?.clusterNames;
        const hasOther = clusters.some(
          ({ metadata: { name }, spec }) =>
            (asked?.includes(name) ?? true) && (spec.taints ?? []).length === 0,
        );
        // Only where one copy is asked for it is certain that another cluster is enough (D8).
        if (placement?.spreadConstraints === undefined || !hasOther) return [];
        // Who bears the taint, was placed by a person, or whose state cannot be read, stays.
        if (placement.clusterTolerations !== undefined || isOfPerson(truth, binding)) return [];
        const { statefulInjection } = truth.circumstances;
        return placed
          .filter(({ name }) => faulty.has(name))
          .filter(
            ({ name }) =>
              !statefulInjection || isStateReadable(binding, workOf(truth, binding, name)),
          )
          .map(({ name }) => `${nameOf(binding)} is still on ${name}`);
      });
    },
  },
];

type Placement = ResourceBinding["spec"]["placement"];

/** The clusters that the affinities of the placement name; undefined: all. */
function groupsOf(placement: Placement): readonly (readonly string[])[] | undefined {
  const { clusterAffinity, clusterAffinities } = placement ?? {};
  const groups = clusterAffinities ?? (clusterAffinity === undefined ? [] : [clusterAffinity]);
  return groups.length === 0 ? undefined : groups.map(({ clusterNames = [] }) => clusterNames);
}

function askedBy(placement: Placement): ReadonlySet<string> | undefined {
  const groups = groupsOf(placement);
  return groups === undefined ? undefined : new Set(groups.flat());
}

function isDividing(placement: Placement): boolean {
  return placement?.replicaScheduling?.replicaSchedulingType === "Divided";
}

/** Constraints do not apply to a division by fixed weights. */
function ignoresSpread(placement: Placement): boolean {
  return (
    isDividing(placement) && placement?.replicaScheduling?.replicaDivisionPreference === "Weighted"
  );
}

/** How many replicas a template asks for; 0: of none that could be divided. */
function replicasOf({ kind, spec }: AnyObject & { readonly spec?: unknown }): number {
  const { replicas = 1, parallelism = 1 } = (spec ?? {}) as {
    readonly replicas?: number;
    readonly parallelism?: number;
  };
  if (kind === "Job") return parallelism;
  return kind === "Deployment" || kind === "StatefulSet" ? replicas : 0;
}

function dividedFault(
  template: AnyObject,
  binding: ResourceBinding | undefined,
  wanted: number,
): readonly string[] {
  const placed = (binding?.spec.clusters ?? []).reduce((sum, t) => sum + (t.replicas ?? 0), 0);
  return placed === wanted
    ? []
    : [`${template.kind} ${template.metadata.name} has ${placed} of ${wanted} replicas placed`];
}

function isOfPerson(truth: Truth, { spec }: ResourceBinding): boolean {
  return truth.circumstances.placedByHand.has(spec.resource.name);
}

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

/** Whether it ever left a cluster because it failed there. It returns when clusters change. */
function hasFailed({ metadata, spec }: ResourceBinding): boolean {
  return (
    spec.failover?.application !== undefined &&
    metadata.annotations?.[wellKnown.FORMER_RESULT] !== undefined
  );
}

function isDivided({ spec }: ResourceBinding): boolean {
  return (
    spec.replicas !== undefined &&
    spec.placement?.replicaScheduling?.replicaSchedulingType === "Divided"
  );
}

function sumOf(binding: ResourceBinding): number {
  return [...resultOf(binding).values()].reduce((sum, replicas) => sum + replicas, 0);
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
