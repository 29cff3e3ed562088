/**
 * Where workloads are once the world rests: placed as their policies ask (H5), and nobody on a faulty cluster (C8).
 *
 * What a person placed by hand, and what failed where it was, is another matter.
 */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import { Eligibility } from "./decisions.ts";
import { moves } from "./fleet.ts";
import type { ConvergedOracle } from "./oracle.ts";
import {
  evictionsOf,
  faultyClusters,
  hasFailed,
  ignoresSpread,
  isClaimedBy,
  isDividing,
  isFederated,
  isFullWithout,
  isGoing,
  isOf,
  isOfPerson,
  isRequiredIn,
  isUnclaimed,
  modeOf,
  nameOf,
  nameOfCluster,
  type Placement,
  workOf,
} from "./reading.ts";
import { isStateReadable } from "./state.ts";
import type { Truth } from "./truth.ts";

/** Above this share nobody is moved (D6). */
const BRAKED_SHARE = 0.55;

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
          // Where a person placed it, where it failed, or where a copy is kept until a person lets it go, is another matter.
          const isElse = binding !== undefined && isOtherMatter(truth, binding);
          if (isElse) return [];
          const placed = (binding?.spec.clusters ?? []).map((target) => target.name).toSorted();
          const wrong = (why: string): string[] => [
            `${kind} ${name} is on [${placed.join()}]: ${why}`,
          ];
          const spread = ignoresSpread(placement) ? undefined : placement?.spreadConstraints?.[0];
          const { minGroups = 1, maxGroups = 0 } = spread ?? {};
          // Of several groups one must be enough; what cannot be carried out changes nothing (D8). One that is in use is not
          // left for one before it.
          const groups = groupsFrom(binding, placement) ?? [required];
          const isEnough = (group: readonly string[]): boolean =>
            group.filter((cluster) => required.includes(cluster)).length >= minGroups;
          if (!groups.some(isEnough)) return [];
          if (placed.some((cluster) => !allowed.has(cluster))) return wrong("more than allowed");
          const wanted = replicasOf(template);
          // Whether a division by weights ignores the constraints for what has nothing to divide is not promised.
          if (wanted === 0 && ignoresSpread(placement)) return placed.length > 0 ? [] : wrong("");
          if (wanted > 0 && isDividing(placement)) {
            const closed = placed.filter((cluster) => !free.has(cluster)).length;
            const mayGrow = maxGroups === 0 || closed < maxGroups;
            return dividedFault(template, binding, wanted, mayGrow);
          }
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
      "C8, O-state-10: with the gate on, workloads leave clusters with a NoExecute taint for others, also when a key of their state is missing (D12)",
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
        const others = clusters.filter(
          (cluster) =>
            (asked?.includes(cluster.metadata.name) ?? true) &&
            !isGoing(cluster) &&
            (cluster.spec.taints ?? []).length === 0,
        );
        // Only where it is said how many clusters are enough, those are certain to be (D8).
        const { minGroups = Infinity } = placement?.spreadConstraints?.[0] ?? {};
        if (others.length < minGroups) return [];
        // Which of several groups it would go to is for the scheduler to say.
        if (placement?.clusterAffinities !== undefined) return [];
        // Who bears the taint, was placed by a person, or whose state cannot be read, stays.
        if (placement?.clusterTolerations !== undefined || isOfPerson(truth, binding)) return [];
        const { statefulInjection } = truth.circumstances;
        return placed
          .filter(({ name }) => faulty.has(name))
          .filter(
            ({ name }) =>
              !statefulInjection || isStateReadable(binding, workOf(truth, binding, name)),
          )
          .filter(({ name }) => !mayStay(truth, binding, name))
          .filter(({ name }) => !isFullWithout(binding, name, others.map(nameOfCluster)))
          .map(({ name }) => `${nameOf(binding)} is still on ${name}`);
      });
    },
  },
];

/** Whether its words let it bear all taints of the cluster when they came, or later: an edit after that changes nothing (D7). */
function mayStay(truth: Truth, { metadata }: ResourceBinding, cluster: string): boolean {
  const eligibility = Eligibility.of(truth);
  const borne = [...(eligibility.fleet.clusters.get(cluster)?.borne.values() ?? [])];
  return borne
    .filter(({ taint }) => moves(taint))
    .every(({ taint, since }) =>
      eligibility.termsSince(metadata.uid, taint, since).includes(undefined),
    );
}

function isOtherMatter(truth: Truth, binding: ResourceBinding): boolean {
  const isKept = evictionsOf(binding).some(({ suppressDeletion }) => suppressDeletion === true);
  // One that could only go back to where it failed goes back rather than nowhere (D23).
  const hasLeft = hasFailed(binding) && (binding.spec.clusters ?? []).length > 0;
  // Where the replicas of a federated StatefulSet are is judged by their shares (D15).
  if (isFederated(binding)) return true;
  return isKept || isOfPerson(truth, binding) || hasLeft || isPurgeHeldUp(binding);
}

/** Whether it is placed anew only when its copy is gone (D10), which another workload needs where it is. */
function isPurgeHeldUp(binding: ResourceBinding): boolean {
  return evictionsOf(binding).some(
    (task) => modeOf(task) === "Directly" && isRequiredIn(binding, task.fromCluster),
  );
}

/** The clusters that the affinities of the placement name; undefined: all. */
function groupsOf(placement: Placement): readonly (readonly string[])[] | undefined {
  const { clusterAffinity, clusterAffinities } = placement ?? {};
  const groups = clusterAffinities ?? (clusterAffinity === undefined ? [] : [clusterAffinity]);
  return groups.length === 0 ? undefined : groups.map(({ clusterNames = [] }) => clusterNames);
}

/** The same, without those before the one that is in use. */
function groupsFrom(
  binding: ResourceBinding | undefined,
  placement: Placement,
): readonly (readonly string[])[] | undefined {
  const isSomewhere = (binding?.spec.clusters ?? []).length > 0;
  const inUse = (placement?.clusterAffinities ?? []).findIndex(
    ({ affinityName }) => affinityName === binding?.status?.schedulerObservingAffinityName,
  );
  return groupsOf(placement)?.slice(isSomewhere ? Math.max(0, inUse) : 0);
}

function askedBy(placement: Placement): ReadonlySet<string> | undefined {
  const groups = groupsOf(placement);
  return groups === undefined ? undefined : new Set(groups.flat());
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

/** `mayGrow`: one of its clusters, or another, takes more; if not, what is there stays (D14). */
function dividedFault(
  template: AnyObject,
  binding: ResourceBinding | undefined,
  wanted: number,
  mayGrow: boolean,
): readonly string[] {
  const placed = (binding?.spec.clusters ?? []).reduce((sum, t) => sum + (t.replicas ?? 0), 0);
  return placed === wanted || (placed < wanted && !mayGrow)
    ? []
    : [`${template.kind} ${template.metadata.name} has ${placed} of ${wanted} replicas placed`];
}
