/**
 * Oracles of group H: Works, and what comes of them in members.
 *
 * H7 (rest) is judged by the runner, who sees what is written while nothing happens.
 */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Held, parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import {
  isForced,
  bindingOf,
  clusterNamed,
  copyOf,
  evictionsOf,
  freeFor,
  groupsOf,
  hasTarget,
  identityOf,
  isLastCopy,
  isOfPerson,
  isStaying,
  isUnclaimed,
  manifestsOf,
  modeOf,
  nameOf,
  pairOf,
  readyOf,
  WORKLOADS,
  workOf,
} from "./reading.ts";
import {
  bindingId,
  clusterOf,
  CLUSTERS,
  clustersOf,
  says,
  tableOf,
  type Truth,
  WORKS,
} from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "works-live-in-their-namespace",
    promise: "H2: a Work is in the execution namespace of the one cluster it is for",
    on: "plane",
    tables: [WORKS],
    start:
      () =>
      ({ key, row }) => {
        if (row.type === "DELETED") return [];
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
    promise: "H2: of one binding at most one Work is in one cluster",
    on: "plane",
    tables: [WORKS],
    start:
      (truth) =>
      ({ key, row }) => {
        if (row.type !== "ADDED") return [];
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
    name: "one-template-generation",
    promise: "H3: a Work's content is that of the one generation of the template that it names",
    on: "plane",
    tables: [WORKS, ...WORKLOADS],
    start: () => {
      const specs = new Map<string, unknown>();
      return (change) => {
        const { now, before } = pairOf<AnyObject>(change);
        if (now === undefined) return [];
        const { uid, generation } = now.metadata;
        if (change.table !== WORKS) {
          specs.set(`${uid} ${generation}`, (now as { readonly spec?: unknown }).spec);
          return [];
        }
        if (generation === before?.metadata.generation || isOverridden(now)) return [];
        return manifestsOf(now).flatMap((manifest) => {
          const { annotations = {} } = manifest.metadata;
          const named = `${annotations[wellKnown.TEMPLATE_UID]} ${annotations[wellKnown.TEMPLATE_GENERATION]}`;
          const spec = specs.get(named);
          return spec === undefined || says(spec, withoutReplicas(manifest))
            ? []
            : [`Work ${change.key} is not generation ${named} of its template`];
        });
      };
    },
  },
  {
    name: "forced-removal-ends",
    promise: "H6: a cluster that is removed by force is gone soon, although it does not answer",
    on: "plane",
    tables: [CLUSTERS],
    start: (truth) => {
      const silentSince = new Map<string, number>();
      return (change) => {
        const { before, now } = pairOf<Cluster>(change);
        const isWaiting = now !== undefined && isForced(now) && readyOf(now) !== "True";
        if (isWaiting && !silentSince.has(change.key)) silentSince.set(change.key, change.at);
        if (isWaiting || before === undefined || !isForced(before)) return [];
        const since = silentSince.get(change.key) ?? change.at;
        silentSince.delete(change.key);
        const seconds = (change.at - since) / 1000;
        return seconds * 1000 > truth.circumstances.patienceMs
          ? [`cluster ${change.key} was removed by force, and waited for ${seconds} s`]
          : [];
      };
    },
  },
  {
    name: "gone-means-gone",
    promise:
      "H4: a Work ends only when the member has none of its objects any more, or lets go of them, or its cluster is removed by force",
    on: "plane",
    tables: [WORKS],
    start: (truth) => (change) => {
      const { before: work, now } = pairOf<AnyObject>(change);
      if (work === undefined || now !== undefined) return [];
      const { namespace, name } = work.metadata;
      const cluster = clusterOf(namespace) ?? "";
      const { annotations = {} } = clusterNamed(truth, cluster)?.metadata ?? {};
      if (annotations[wellKnown.FORCE_REMOVAL] === "true" || isPreserved(work)) return [];
      if (truth.circumstances.liars.has(cluster)) return [];
      return manifestsOf(work)
        .map(({ kind, metadata }) => ({
          kind,
          held: truth.ledger.find(
            cluster,
            tableOf(kind),
            `${metadata.namespace ?? ""}/${metadata.name}`,
          ),
        }))
        .filter(({ held }) => {
          if (held === undefined) return false;
          const marks = held.object.metadata;
          return (
            marks.labels?.[wellKnown.MANAGED] === "true" &&
            marks.annotations?.[wellKnown.WORK_NAME] === name &&
            marks.annotations[wellKnown.WORK_NAMESPACE] === namespace &&
            !isBackJustNow(truth, cluster, held)
          );
        })
        .map(({ kind, held }) => `Work ${change.key} is gone, and ${kind} ${held?.key} is not`);
    },
  },
];

/**
 * Whether a backup, or a write that arrived again, brought a copy back after the member had said that there is none, while the
 * word that lets its Work go was on its way.
 */
function isBackJustNow(truth: Truth, member: string, { since }: Held): boolean {
  const { repeated, restored } = truth.circumstances;
  if (!restored.has(member) && !repeated.has(member)) return false;
  return truth.ledger.now - since <= truth.roundTripMs;
}

/** Whether an object of somebody else has the place of a copy that does not overwrite. */
function isTaken({ ledger }: Truth, where: string, { kind, metadata }: AnyObject): boolean {
  if (metadata.annotations?.[wellKnown.CONFLICT_RESOLUTION] === "overwrite") return false;
  const [cluster = ""] = where.split(" ");
  const key = `${metadata.namespace ?? ""}/${metadata.name}`;
  const found = ledger.find(cluster, tableOf(kind), key)?.object;
  return found !== undefined && found.metadata.labels?.[wellKnown.MANAGED] !== "true";
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
        // Where a person named a cluster that takes nothing, the last copy stays where it was (D9).
        const isByHand = isOfPerson(truth, binding);
        const isKept =
          isLastCopy(truth, cluster, binding) ||
          isSpared(truth, cluster, binding) ||
          isNeededByKept(truth, cluster, binding);
        return isByHand || clustersOf(binding).has(cluster) || isKept
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
      return truth.bindings().flatMap((binding) =>
        clustersThere(truth, binding)
          .filter((cluster) => !there.has(`${bindingId(binding)} ${cluster}`))
          .map((cluster) => `binding ${nameOf(binding)} has no Work in ${cluster}`),
      );
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
        members
          .filter(
            (member) => clusterNamed(truth, member) !== undefined || !isGivenUp(truth, member),
          )
          .flatMap((member) =>
            truth
              .managed(member)
              .map(({ object }) => [`${member} ${identityOf(object)}`, object] as const),
          ),
      );
      const missing = [...wanted].flatMap(([where, manifest]) => {
        const object = held.get(where);
        if (object === undefined)
          return isTaken(truth, where, manifest) ? [] : [`${where} is missing`];
        const { spec, data } = manifest as { readonly spec?: unknown; readonly data?: unknown };
        return says(object, {
          ...(spec !== undefined && { spec }),
          ...(data !== undefined && { data }),
        })
          ? []
          : [`${where} is not as its Work says`];
      });
      const { liars } = truth.circumstances;
      const surplus = [...held]
        .filter(([where]) => !wanted.has(where))
        .filter(([where, object]) => {
          const member = where.slice(0, where.indexOf(" "));
          // What a liar denied to have was left to it.
          return !liars.has(member) && !isLeftAlone(truth, member, object);
        })
        .map(([where]) => `${where} has no Work`);
      return [...missing, ...surplus];
    },
  },
  {
    name: "status-comes-back",
    promise: "H5: a binding shows what every one of its clusters reports",
    judge: (truth) =>
      truth.bindings().flatMap((binding) => {
        if (isOfPerson(truth, binding)) return [];
        const shown = (binding.status?.aggregatedStatus ?? [])
          .map((item) => item.clusterName)
          .filter((cluster) => !isLeaving(truth, cluster) && !isSpared(truth, cluster, binding))
          .filter((cluster) => !isNeededByKept(truth, cluster, binding));
        const expected = clustersThere(truth, binding).toSorted();
        return says(shown.toSorted(), expected)
          ? []
          : [`binding ${nameOf(binding)} shows [${shown.join()}] of [${expected.join()}]`];
      }),
  },
  {
    name: "removed-clusters-leave-nothing",
    promise: "H6: of a cluster that is gone nothing is left: no namespace, no result, no eviction",
    judge: (truth) => {
      const clusters = new Set(truth.clusters().map(({ metadata }) => metadata.name));
      const isGone = (name: string): boolean => !clusters.has(name);
      const namespaces = truth
        .namespaces()
        .flatMap(({ metadata }) => clusterOf(metadata.name) ?? []);
      return [
        ...namespaces.filter(isGone).map((name) => `the namespace of ${name} is still there`),
        ...truth.bindings().flatMap((binding) =>
          clustersThere(truth, binding)
            .filter(isGone)
            .map((name) => `${nameOf(binding)} still names ${name}`),
        ),
      ];
    },
  },
  {
    name: "nothing-is-left-going",
    promise: "H6: nothing stays in deletion, clusters neither",
    judge: (truth, members) =>
      ["plane", ...members].flatMap((server) =>
        truth.ledger
          .all(server)
          .filter(({ object }) => object.metadata.deletionTimestamp !== undefined)
          .filter(({ table, object }) => !(table === CLUSTERS && isWaitedFor(truth, object)))
          .map(({ table, key }) => `${server} ${table} ${key} is still going`),
      ),
  },
];

/**
 * All clusters that a binding accounts for, but one that leaves, which takes nothing new, and one that a person named, which
 * is not there, where nobody places it anew.
 */
function clustersThere(truth: Truth, binding: ResourceBinding): readonly string[] {
  const all = [...clustersOf(binding)].filter((cluster) => !isLeaving(truth, cluster));
  if (!isOfPerson(truth, binding) || !isUnclaimed(binding)) return all;
  return all.filter((cluster) => clusterNamed(truth, cluster) !== undefined);
}

function isLeaving(truth: Truth, cluster: string): boolean {
  const found = clusterNamed(truth, cluster);
  return found !== undefined && !isStaying(found);
}

/**
 * Whether nobody takes away what a backup, or a write that arrived again, brought back: a namespace, in which anything may be;
 * what belongs to no binding, because another control plane may have made it; a copy that is preserved; one that may be the last
 * that serves, because not all that are asked for are there (D9); a kind that the cluster has nothing else of, because nobody
 * looks for it.
 */
function isLeftAlone(truth: Truth, member: string, object: AnyObject): boolean {
  const { repeated, restored } = truth.circumstances;
  if (!restored.has(member) && !repeated.has(member)) return false;
  const binding = bindingOf(truth, object);
  if (object.kind === "Namespace" || binding === undefined) return true;
  if (binding.spec.preserveResourcesOnDeletion === true) return true;
  const asked = [...clustersOf(binding)];
  const isServed = asked.every((cluster) => copyOf(truth, binding, cluster) !== undefined);
  if (asked.length === 0 || !isServed) return true;
  return !truth
    .works()
    .filter((work) => clusterOf(work.metadata.namespace) === member)
    .some((work) => manifestsOf(work).some(({ kind }) => kind === object.kind));
}

/** Whether a cluster cannot leave before a person decides: what is on it has nowhere to go, nobody places it, or it
 * is kept (D22). */
function isWaitedFor(truth: Truth, cluster: AnyObject): boolean {
  const { name } = cluster.metadata;
  const works = truth.works().filter((work) => clusterOf(work.metadata.namespace) === name);
  const held = new Set(works.map((work) => bindingId(work)));
  return truth.bindings().some((binding) => {
    // One that was placed there at the very moment has no Work, and waits for another place all the same.
    if (!held.has(bindingId(binding)) && !clustersOf(binding).has(name)) return false;
    const task = evictionsOf(binding).find(({ fromCluster }) => fromCluster === name);
    if (task !== undefined && modeOf(task) === "Never") return true;
    return isUnclaimed(binding) || isLastCopy(truth, name, binding) || !hasTarget(truth, binding);
  });
}

/**
 * Whether a copy stays as the last one (D9) while it cannot be placed: one that was there for another workload alone, in a
 * cluster that the placement of its own asks for, or while some cluster fits, but fewer than are asked for; or one beside which
 * an eviction waits for a target, whatever the placement asks for.
 */
function isSpared(truth: Truth, cluster: string, binding: ResourceBinding): boolean {
  const work = workOf(truth, binding, cluster);
  if (work === undefined || work.metadata.annotations?.[wellKnown.PURGE_MODE] !== undefined)
    return false;
  const { clusters = [], requiredBy = [], gracefulEvictionTasks = [] } = binding.spec;
  const isWanted = clusters.length > 0 || requiredBy.some((one) => (one.clusters ?? []).length > 0);
  if (isWanted || hasTarget(truth, binding)) return false;
  const isAsked = groupsOf(binding).some(({ clusterNames }) => clusterNames?.includes(cluster));
  return isAsked || freeFor(truth, binding) > 0 || gracefulEvictionTasks.length > 0;
}

/**
 * Whether a workload that needs it has a last copy there, which its own schedule does not name (0006): what a copy needs stays
 * for as long as the copy.
 */
function isNeededByKept(truth: Truth, cluster: string, binding: ResourceBinding): boolean {
  if (clustersOf(binding).has(cluster)) return false;
  const workloads = (binding.spec.requiredBy ?? []).flatMap(({ namespace = "", name }) =>
    truth.bindings().filter((one) => nameOf(one) === `${namespace}/${name}`),
  );
  return workloads.some((workload) => {
    if (workOf(truth, workload, cluster) === undefined) return false;
    return isLastCopy(truth, cluster, workload) || isSpared(truth, cluster, workload);
  });
}

function isOverridden({ metadata: { annotations = {} } }: AnyObject): boolean {
  return (
    annotations[wellKnown.APPLIED_OVERRIDES] !== undefined ||
    annotations[wellKnown.APPLIED_CLUSTER_OVERRIDES] !== undefined
  );
}

/** How many replicas a cluster gets is the schedule's. */
interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
}

const FEDERATED_LABELS: ReadonlySet<string> = new Set([
  wellKnown.FEDERATED_SET,
  wellKnown.FEDERATED_CLUSTER,
  wellKnown.FEDERATED_ID_BASE,
  wellKnown.FEDERATED_STATE,
]);

function withoutReplicas(manifest: AnyObject): unknown {
  const { replicas: _replicas, ...spec } =
    (manifest as { readonly spec?: { replicas?: number; template?: Template } }).spec ?? {};
  const { template } = spec;
  const labels = template?.metadata?.labels;
  if (labels?.[wellKnown.FEDERATED_SET] === undefined) return spec;
  // What tells the pods of a federated StatefulSet apart is added in the copy (D15).
  const own = Object.entries(labels).filter(([key]) => !FEDERATED_LABELS.has(key));
  const metadata = { ...template?.metadata, labels: Object.fromEntries(own) };
  return { ...spec, template: { ...template, metadata } };
}

function isPreserved(work: AnyObject): boolean {
  const { spec } = work as { readonly spec?: { readonly preserveResourcesOnDeletion?: boolean } };
  return spec?.preserveResourcesOnDeletion === true;
}

/** Whether a person removed the cluster by force: what is in the member stays there then. */
function isGivenUp(truth: Truth, member: string): boolean {
  return truth.circumstances.steps.some(
    (step) => step.do === "unjoin" && step.member === member && step.force === true,
  );
}
