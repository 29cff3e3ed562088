/**
 * The promises, as functions that judge the truth. Each is named after its promise and says it in a sentence.
 *
 *   always     judged at every change of any disk, by that change alone
 *   converged  judged once faults are over and time to converge has passed, and again after the quiet time
 *
 * An oracle answers what is wrong, in words; nothing when the promise holds.
 */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, type Held, parseObject } from "../disk/ledger.ts";
import {
  bindingId,
  clusterOf,
  CLUSTERS,
  clustersOf,
  isHealthyCopy,
  says,
  type Truth,
  WORKS,
} from "./truth.ts";

export interface Violation {
  readonly oracle: string;
  readonly promise: string;
  readonly says: string;
}

export interface ConvergedOracle {
  readonly name: string;
  readonly promise: string;
  readonly judge: (truth: Truth, members: readonly string[]) => readonly string[];
}

export interface AlwaysOracle {
  readonly name: string;
  readonly promise: string;
  readonly judge: (change: Committed, truth: Truth) => readonly string[];
}

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "works-live-in-their-namespace",
    promise: "H2: a Work is in the execution namespace of the one cluster it is for",
    judge: ({ server, table, key, row }) => {
      if (server !== "plane" || table !== WORKS || row.type === "DELETED") return [];
      const work = parseObject(row.bytes);
      const { namespace } = work.metadata;
      if (clusterOf(namespace) === undefined) return [`Work ${key} is in no execution namespace`];
      return manifestsOf(work).flatMap(({ metadata }) => {
        const meant = metadata.annotations?.[wellKnown.WORK_NAMESPACE];
        return meant === undefined || meant === namespace
          ? []
          : [`Work ${key} holds an object meant for ${meant}`];
      });
    },
  },
  {
    name: "one-work-per-binding-and-cluster",
    promise: "H3: of one binding at most one Work is in one cluster",
    judge: ({ server, table, key, row }, truth) => {
      if (server !== "plane" || table !== WORKS || row.type !== "ADDED") return [];
      const work = parseObject(row.bytes);
      const id = bindingId(work);
      if (id === undefined) return [];
      const twins = truth
        .works()
        .filter((o) => bindingId(o) === id && o.metadata.namespace === work.metadata.namespace);
      return twins.length <= 1 ? [] : [`Work ${key} is one of ${twins.length} of its binding`];
    },
  },
  {
    name: "deletion-is-final",
    promise: "K4: what bears finalizers is marked before it goes, and the mark stays",
    judge: ({ server, table, key, row, previous }) => {
      if (previous === undefined) return [];
      const { finalizers = [], deletionTimestamp } = previous.object.metadata;
      if (row.type === "DELETED")
        return finalizers.length === 0 || deletionTimestamp !== undefined
          ? []
          : [`${server} ${table} ${key} vanished with ${finalizers.join(", ")}`];
      const now = deletionTimestamp === undefined ? undefined : parseObject(row.bytes).metadata;
      return now === undefined || now.deletionTimestamp !== undefined
        ? []
        : [`${server} ${table} ${key} lost its deletionTimestamp`];
    },
  },
  {
    name: "last-copy-stays",
    promise:
      "D9: no removal of ours takes the healthy copies of a workload from one or more to none",
    judge: ({ server, table, key, row, previous }, truth) => {
      if (!truth.circumstances.membersAreSteady || server === "plane") return [];
      if (!WORKLOADS.has(table) || previous === undefined || !isGoingNow(row, previous)) return [];
      if (!isHealthyCopy(previous.object)) return [];
      const template = truth.ledger.find("plane", table, key)?.object;
      if (template === undefined || isGoing(template)) return [];
      const { kind, metadata } = template;
      const binding = truth
        .bindings()
        .find(({ spec }) => isOf(spec.resource, kind, metadata.namespace, metadata.name));
      if (binding === undefined || isGoing(binding) || clustersOf(binding).size === 0) return [];
      if (isDirectly(truth, metadata.name)) return [];
      const others = truth.members().filter((member) => member !== server);
      return truth.healthyCopies(table, key, others).length > 0
        ? []
        : [`the last healthy copy of ${table} ${key} went, in ${server}`];
    },
  },
  {
    name: "one-cluster-at-a-time",
    promise: "D10: in mode Directly pods of a workload are in one cluster at any time",
    judge: ({ server, table, row }, truth) => {
      if (table !== "/pods" || server === "plane" || row.type !== "ADDED") return [];
      const app = parseObject(row.bytes).metadata.labels?.["app"] ?? "";
      if (!isDirectly(truth, app)) return [];
      const members = truth.membersWithPods(app, truth.members());
      return members.length <= 1 ? [] : [`pods of ${app} are in ${members.join(" and ")}`];
    },
  },
  {
    name: "evictions-keep-the-rate",
    promise: "D6: workloads are evicted for taints at most at the rate of the fleet",
    judge: (change, truth) => {
      if (change.server !== "plane" || !change.table.endsWith("resourcebindings")) return [];
      if (change.row.type !== "MODIFIED" || change.previous === undefined) return [];
      const now = parseObject(change.row.bytes) as unknown as ResourceBinding;
      const before = tasksOf(change.previous.object as unknown as ResourceBinding);
      const added = [...tasksOf(now)].filter((cluster) => !before.has(cluster));
      if (added.length === 0 || (now.spec.replicas ?? 0) === 0) return [];
      const last = truth.evictions.at(-1);
      truth.evictions.push(change.at);
      const waitedMs = last === undefined ? Infinity : change.at - last;
      return waitedMs >= EVICTION_INTERVAL_MS
        ? []
        : [`${change.key} was evicted ${waitedMs} ms after another`];
    },
  },
  {
    name: "one-task-per-cluster",
    promise: "C7: a binding has at most one eviction task per cluster",
    judge: ({ server, table, key, row }) => {
      if (server !== "plane" || !table.endsWith("resourcebindings") || row.type === "DELETED")
        return [];
      const { spec } = parseObject(row.bytes) as unknown as ResourceBinding;
      const { gracefulEvictionTasks = [] } = spec;
      return new Set(gracefulEvictionTasks.map((task) => task.fromCluster)).size ===
        gracefulEvictionTasks.length
        ? []
        : [`${key} has two tasks for one cluster`];
    },
  },
];

const WORKLOADS = new Set(["apps/deployments", "apps/statefulsets"]);
/** 0.5 per second. */
const EVICTION_INTERVAL_MS = 2000;

function isGoing({ metadata }: { readonly metadata: AnyObject["metadata"] }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether this change is the first that takes the object away. */
function isGoingNow({ type, bytes }: Committed["row"], previous: Held): boolean {
  if (isGoing(previous.object)) return false;
  return type === "DELETED" || isGoing(parseObject(bytes));
}

/** Whether the policy of a workload of this name asks for mode Directly. */
function isDirectly(truth: Truth, name: string): boolean {
  return truth
    .policies()
    .filter(({ spec }) => spec.resourceSelectors.some((selector) => selector.name === name))
    .some(({ spec }) => spec.failover?.cluster?.purgeMode === "Directly");
}

const BRAKED_SHARE = 0.55;

function faultyClusters(truth: Truth): ReadonlySet<string> {
  const faulty = truth
    .clusters()
    .filter(({ spec }) => (spec.taints ?? []).some(({ effect }) => effect === "NoExecute"));
  return new Set(faulty.map(nameOfCluster));
}

function tasksOf({ spec }: ResourceBinding): ReadonlySet<string> {
  return new Set((spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster));
}

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "no-orphan-work",
    promise: "H1: every Work belongs to a binding that names its cluster, or to a namespace",
    judge: (truth) => {
      const byId = new Map(truth.bindings().map((binding) => [bindingId(binding), binding]));
      const namespaces = new Set(truth.namespaces().map(({ metadata }) => metadata.name));
      const clusters = new Set(truth.clusters().map(({ metadata }) => metadata.name));
      return truth.works().flatMap((work) => {
        const { namespace, name } = work.metadata;
        const cluster = clusterOf(namespace) ?? "";
        const says = (what: string): string[] => [`Work ${namespace}/${name} ${what}`];
        if (!clusters.has(cluster)) return says("is for a cluster that is not there");
        const id = bindingId(work);
        if (id === undefined) {
          const [manifest] = manifestsOf(work);
          return namespaces.has(manifest?.metadata.name ?? "") ? [] : says("has no namespace");
        }
        const binding = byId.get(id);
        if (binding === undefined) return says("has no binding");
        return clustersOf(binding).has(cluster) || isLastCopy(truth, cluster, binding)
          ? []
          : says("is not in its binding's result");
      });
    },
  },
  {
    name: "every-target-has-its-work",
    promise: "H5: for every cluster that a binding names there is a Work",
    judge: (truth) => {
      const works = truth.works();
      const there = new Set(works.map((w) => `${bindingId(w)} ${clusterOf(w.metadata.namespace)}`));
      return truth
        .bindings()
        .flatMap((binding) =>
          [...clustersOf(binding)]
            .filter((cluster) => !there.has(`${bindingId(binding)} ${cluster}`))
            .map((cluster) => `binding ${nameOf(binding)} has no Work in ${cluster}`),
        );
    },
  },
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
        const asked = new Set(
          placement?.clusterAffinity?.clusterNames ?? clusters.map(nameOfCluster),
        );
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
          const placed = (binding?.spec.clusters ?? []).map((target) => target.name).toSorted();
          const wrong = (why: string): string[] => [
            `${kind} ${name} is on [${placed.join()}]: ${why}`,
          ];
          if (placed.some((cluster) => !allowed.has(cluster))) return wrong("more than allowed");
          const isDivided = placement?.replicaScheduling?.replicaSchedulingType === "Divided";
          if (isDivided && kind !== "ConfigMap") return dividedFault(template, binding);
          // Constraints do not apply to a division by fixed weights.
          if (placement?.spreadConstraints !== undefined && !isDivided)
            return placed.length === 1 ? [] : wrong("not one cluster");
          const missing = required.filter((cluster) => !placed.includes(cluster));
          return missing.length === 0 ? [] : wrong(`${missing.join()} is missing`);
        });
      });
    },
  },
  {
    name: "nobody-stays-on-a-faulty-cluster",
    promise: "D7: with the gate on, workloads leave clusters with a NoExecute taint for others",
    judge: (truth) => {
      const clusters = truth.clusters();
      const faulty = faultyClusters(truth);
      // Above this share nobody is moved (D6).
      if (!truth.circumstances.failover || faulty.size / clusters.length > BRAKED_SHARE) return [];
      return truth.bindings().flatMap((binding) => {
        const { placement, clusters: placed = [] } = binding.spec;
        const asked = placement?.clusterAffinity?.clusterNames;
        const hasOther = clusters.some(
          ({ metadata: { name }, spec }) =>
            (asked?.includes(name) ?? true) && (spec.taints ?? []).length === 0,
        );
        // Only where one copy is asked for it is certain that another cluster is enough (D8).
        if (placement?.spreadConstraints === undefined || !hasOther) return [];
        return placed
          .filter(({ name }) => faulty.has(name))
          .map(({ name }) => `${nameOf(binding)} is still on ${name}`);
      });
    },
  },
  {
    name: "members-hold-what-works-say",
    promise: "H5: every member holds exactly the objects of its Works, as they say",
    judge: (truth, members) => {
      const wanted = new Map(
        truth.works().flatMap((work) =>
          manifestsOf(work).map((manifest) => {
            const cluster = clusterOf(work.metadata.namespace) ?? "";
            return [`${cluster} ${identityOf(manifest)}`, manifest] as const;
          }),
        ),
      );
      const held = new Map(
        members.flatMap((member) =>
          truth
            .managed(member)
            .map(({ object }) => [`${member} ${identityOf(object)}`, object] as const),
        ),
      );
      const missing = [...wanted].flatMap(([where, manifest]) => {
        const object = held.get(where);
        if (object === undefined) return [`${where} is missing`];
        const { spec, data } = manifest as { readonly spec?: unknown; readonly data?: unknown };
        return says(object, {
          ...(spec !== undefined && { spec }),
          ...(data !== undefined && { data }),
        })
          ? []
          : [`${where} is not as its Work says`];
      });
      const surplus = [...held.keys()].filter((where) => !wanted.has(where));
      return [...missing, ...surplus.map((where) => `${where} has no Work`)];
    },
  },
  {
    name: "status-comes-back",
    promise: "H5: a binding shows what every one of its clusters reports",
    judge: (truth) =>
      truth.bindings().flatMap((binding) => {
        const shown = (binding.status?.aggregatedStatus ?? [])
          .map((item) => item.clusterName)
          .filter((cluster) => !isLastCopy(truth, cluster, binding));
        const expected = [...clustersOf(binding)].toSorted();
        return says(shown.toSorted(), expected)
          ? []
          : [`binding ${nameOf(binding)} shows [${shown.join()}] of [${expected.join()}]`];
      }),
  },
  {
    name: "no-eviction-is-left",
    promise: "D8: when everything is healthy, no eviction is left half done",
    judge: (truth) =>
      truth
        .bindings()
        .filter((binding) => tasksOf(binding).size > 0)
        // Without a result it waits for a cluster that fits.
        .filter(({ spec }) => faultyClusters(truth).size === 0 || (spec.clusters ?? []).length > 0)
        .map((binding) => `${nameOf(binding)} is still leaving ${[...tasksOf(binding)].join()}`),
  },
  {
    name: "nothing-is-left-going",
    promise: "H4: nothing stays in deletion",
    judge: (truth, members) =>
      ["plane", ...members].flatMap((server) =>
        truth.ledger
          .all(server)
          .filter(({ object }) => object.metadata.deletionTimestamp !== undefined)
          .filter(({ table, object }) => !(table === CLUSTERS && holdsLastCopy(truth, object)))
          .map(({ table, key }) => `${server} ${table} ${key} is still going`),
      ),
  },
];

/** Judges everything that must hold once the world has converged. */
export function judgeConverged(truth: Truth, members: readonly string[]): readonly Violation[] {
  return convergedOracles.flatMap(({ name, promise, judge }) =>
    judge(truth, members).map((text) => ({ oracle: name, promise, says: text })),
  );
}

/**
 * A workload that is nowhere else and can go nowhere else stays on a cluster that leaves, until a person decides (D9, D22):
 * the cluster waits, and the binding names it no more.
 */
function isLastCopy(truth: Truth, cluster: string, binding: ResourceBinding): boolean {
  const leaving = truth
    .clusters()
    .some(({ metadata }) => metadata.name === cluster && metadata.deletionTimestamp !== undefined);
  return leaving && clustersOf(binding).size === 0;
}

function holdsLastCopy(truth: Truth, cluster: AnyObject): boolean {
  const { name } = cluster.metadata;
  const byId = new Map(truth.bindings().map((binding) => [bindingId(binding), binding]));
  return truth.works().some((work) => {
    const binding = byId.get(bindingId(work));
    const isHere = clusterOf(work.metadata.namespace) === name;
    return isHere && binding !== undefined && isLastCopy(truth, name, binding);
  });
}

function manifestsOf(work: AnyObject | { readonly spec?: unknown }): readonly AnyObject[] {
  const { spec } = work as {
    readonly spec?: { readonly workload?: { readonly manifests?: readonly AnyObject[] } };
  };
  return spec?.workload?.manifests ?? [];
}

function identityOf({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

function nameOfCluster({ metadata }: Cluster): string {
  return metadata.name;
}

function nameOf({ metadata }: ResourceBinding): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function isClaimedBy({ metadata }: AnyObject, policy: string): boolean {
  return metadata.annotations?.[wellKnown.POLICY_NAME] === policy;
}

function isOf(
  resource: ResourceBinding["spec"]["resource"],
  kind: string,
  namespace: string | undefined,
  name: string,
): boolean {
  return resource.kind === kind && resource.namespace === namespace && resource.name === name;
}

function dividedFault(
  template: AnyObject,
  binding: ResourceBinding | undefined,
): readonly string[] {
  const { spec } = template as { readonly spec?: { readonly replicas?: number } };
  const wanted = spec?.replicas ?? 1;
  const placed = (binding?.spec.clusters ?? []).reduce((sum, t) => sum + (t.replicas ?? 0), 0);
  return placed === wanted
    ? []
    : [`${template.kind} ${template.metadata.name} has ${placed} of ${wanted} replicas placed`];
}
