/**
 * Oracles of group E: mode Directly, where the old copy is gone before the new one comes.
 *
 * A purge begins with the write that evicts in mode Directly. It is over when nothing of the workload is left in the old
 * cluster, when the eviction is taken back, when the cluster is gone, or when a person said that it is off (D10).
 *
 * E4 (lease) and E8 (epoch) are not yet: self-fencing comes with pull mode.
 */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle, Judge, RequestOracle } from "./oracle.ts";
import {
  BINDINGS,
  bindingOf,
  clusterNamed,
  copyOf,
  evictionsOf,
  isDivided,
  isGoing,
  isOfPerson,
  isRequiredIn,
  isTakenBack,
  modeOf,
  nameOf,
  onEdit,
  pairOf,
  readyOf,
  resultOf,
  resultWithout,
  sumOf,
  tasksOf,
  tasksBegun,
  tasksWithout,
  workOf,
} from "./reading.ts";
import { clusterOf, CLUSTERS, tableOf, type Truth, WORKS } from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "one-cluster-at-a-time",
    promise:
      "E1: of a workload that left a cluster in mode Directly no pod starts elsewhere while one of its pods is there, nor there again, once it is gone, while one is elsewhere",
    on: "both",
    tables: [...BINDINGS, "/pods"],
    start: (truth) => {
      const purges = new Purges(truth);
      return (change) => {
        if (change.server === "plane") return purges.take(change);
        if (change.row.type !== "ADDED") return [];
        const pod = parseObject(change.row.bytes);
        if (isOfOthers(truth, change.server, pod)) return [];
        const { labels, namespace } = pod.metadata;
        const app = labels?.["app"] ?? "";
        const runsIn = (member: string): boolean => hasPods(truth, member, namespace, app);
        return purges
          .all()
          .filter((purge) => purge.name === app && purge.namespace === namespace)
          .filter(({ cluster }) => !truth.circumstances.liars.has(cluster))
          .flatMap((purge) => rivalsOf(truth, purge, change.server))
          .filter(runsIn)
          .map((other) => `a pod of ${app} starts in ${change.server} while one is in ${other}`);
      };
    },
  },
  onNewCopies(
    "gone-before-the-new-copy",
    "E2: in mode Directly a Work elsewhere is made only when the old copy and its pods are gone, or a person said that the cluster is off",
    (truth, purge, binding) =>
      isAnythingLeft(truth, purge, binding) ? `while it is in ${purge.cluster}` : undefined,
  ),
  onNewCopies(
    "no-new-copy-without-proof",
    "E3: while a cluster that is left in mode Directly has not said that the copy is gone, and no person said that it is off, no Work is made elsewhere",
    (truth, purge, binding) =>
      workOf(truth, binding, purge.cluster) === undefined
        ? undefined
        : `before its Work in ${purge.cluster} is gone`,
  ),
  {
    name: "placed-after-the-purge",
    promise: "E2: in mode Directly replicas are placed anew only when the purge is over (D10)",
    on: "plane",
    tables: BINDINGS,
    start: (truth) =>
      onEdit((edit) => {
        const { before, now } = edit;
        if (isOfPerson(truth, now)) return [];
        const purging = evictionsOf(now).filter(
          (task) => modeOf(task) === "Directly" && tasksOf(before).has(task.fromCluster),
        );
        if (purging.length === 0) return [];
        const from = purging.map(({ fromCluster }) => fromCluster).join();
        // What a recovery puts back has never left (D13).
        const back = tasksWithout(before, now).filter(
          (task) => modeOf(task) === "Gracefully" && isTakenBack(task, edit),
        );
        const added = resultWithout(now, before).filter(
          (name) => !back.some(({ fromCluster }) => fromCluster === name),
        );
        if (!isDivided(now))
          return added.length === 0
            ? []
            : [`${nameOf(now)} is placed on ${added.join()} while it is purged from ${from}`];
        const placed = sumOf(now);
        const most = (now.spec.replicas ?? 0) - replicasOf(purging);
        return placed <= Math.max(most, sumOf(before) + replicasOf(back))
          ? []
          : [`${nameOf(now)} has ${placed} replicas placed while ${from} is purged, not ${most}`];
      }),
  },
  {
    name: "returning-cluster-gets-nothing-new",
    promise:
      "E6: a cluster that returns gets no new work before the copies are gone that it should not have; its Ready condition does not wait for that (D11)",
    on: "plane",
    tables: [CLUSTERS, ...BINDINGS],
    start: (truth) => {
      const stale = new StaleCopies(truth);
      const judgeEdit = onEdit(({ before, now }) => {
        if (isOfPerson(truth, now)) return [];
        const returned = new Set(tasksWithout(before, now).map(({ fromCluster }) => fromCluster));
        return resultWithout(now, before)
          .filter((cluster) => !returned.has(cluster))
          .flatMap((cluster) =>
            stale
              .in(cluster)
              .map((copy) => `${nameOf(now)} is placed on ${cluster}, which still has ${copy}`),
          );
      });
      return (change) => (change.table === CLUSTERS ? stale.take(change) : judgeEdit(change));
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "directly-completes",
    promise: "E5: once a cluster answers, leaving it in mode Directly comes to its end",
    judge: (truth) =>
      truth.bindings().flatMap((binding) =>
        evictionsOf(binding)
          .filter((task) => modeOf(task) === "Directly" && task.suppressDeletion !== true)
          // What another workload needs there stays as long as that does.
          .filter(({ fromCluster }) => !isRequiredIn(binding, fromCluster))
          .map(({ fromCluster }) => `${nameOf(binding)} is still purged from ${fromCluster}`),
      ),
  },
];

export const requestOracles: readonly RequestOracle[] = [
  {
    name: "deletes-name-what-they-mean",
    promise:
      "E7: what is deleted in a member bears our mark, and the request names its uid, so that an object of somebody else is never touched",
    judge: ({ to, verb, table, key, uid }, truth) => {
      if (to === "plane" || !verb.startsWith("delete")) return [];
      const what = `${to} ${table} ${key}`;
      if (uid === undefined) return [`the deletion of ${what} names no uid`];
      const object = truth.ledger.find(to, table, key)?.object;
      if (object === undefined || object.metadata.uid !== uid) return [];
      return object.metadata.labels?.[wellKnown.MANAGED] === "true"
        ? []
        : [`${what} is deleted, which is not ours`];
    },
  },
];

/** The replicas that tasks took out of the result. */
function replicasOf(tasks: ReturnType<typeof evictionsOf>): number {
  return tasks.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
}

/** An oracle that judges every Work that is made elsewhere while a purge is not over: when it must not be, or undefined. */
function onNewCopies(
  name: string,
  promise: string,
  judge: (truth: Truth, purge: Purge, binding: ResourceBinding) => string | undefined,
): AlwaysOracle {
  const start = (truth: Truth): Judge => {
    const purges = new Purges(truth);
    return (change) => {
      if (change.table !== WORKS) return purges.take(change);
      purges.takeWork(change);
      return newCopies(truth, purges, change).flatMap(({ purge, binding }) => {
        const wrong = judge(truth, purge, binding);
        return wrong === undefined ? [] : [`${nameOf(binding)} is made in ${change.key} ${wrong}`];
      });
    };
  };
  return { name, promise, on: "plane", tables: [...BINDINGS, WORKS], start };
}

/** A cluster that a workload leaves in mode Directly. */
interface Purge {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly cluster: string;
  /** Whether a copy there would be a new one. */
  readonly isNew: (cluster: string) => boolean;
  /** Whether it has no Work in a cluster: what was there was let go. */
  readonly isLetGo: (cluster: string) => boolean;
  /** Whether a copy of ours is there all the same. */
  readonly isBack: () => boolean;
}

/**
 * Whether a backup, or a write that nobody waited for, brought back what is in a cluster: nobody ordered it, and who left it
 * waited for the end of another one.
 */
function isBroughtBack(truth: Truth, { isLetGo }: Purge, cluster: string): boolean {
  const { restored, repeated } = truth.circumstances;
  return (restored.has(cluster) || repeated.has(cluster)) && isLetGo(cluster);
}

/** Where no pod may be when one starts in this member. */
function rivalsOf(truth: Truth, purge: Purge, member: string): readonly string[] {
  const { cluster, isNew } = purge;
  if ([cluster, member].some((one) => isBroughtBack(truth, purge, one))) return [];
  if (isNew(member)) return [cluster];
  return member === cluster && purge.isBack() ? truth.members().filter(isNew) : [];
}

/** The purges that are under way. */
class Purges {
  readonly #truth: Truth;
  /** By key of the binding and cluster. */
  readonly #under = new Map<string, Map<string, Purge>>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  take(change: Committed): readonly [] {
    const { before, now } = pairOf(change);
    if (now === undefined) {
      this.#under.delete(change.key);
      return [];
    }
    const begun = before === undefined ? evictionsOf(now) : tasksBegun({ before, now });
    for (const task of begun)
      if (modeOf(task) === "Directly") this.#begin(change.key, now, task.fromCluster);
    if (before !== undefined)
      for (const { fromCluster } of tasksWithout(before, now))
        if (this.#isCalledOff(now, fromCluster)) this.#under.get(change.key)?.delete(fromCluster);
    for (const cluster of resultOf(now).keys()) this.#under.get(change.key)?.delete(cluster);
    return [];
  }

  of(binding: ResourceBinding): readonly Purge[] {
    return [...(this.#under.get(nameOf(binding))?.values() ?? [])];
  }

  /** What another workload needs in the cluster that was left, and was made anew there, is no old copy. */
  takeWork({ row, key }: Committed): void {
    if (row.type !== "ADDED") return;
    const binding = bindingOf(this.#truth, parseObject(row.bytes));
    const cluster = clusterOf(key.split("/", 1)[0]) ?? "";
    if (binding !== undefined && isRequiredIn(binding, cluster))
      this.#under.get(nameOf(binding))?.delete(cluster);
  }

  all(): readonly Purge[] {
    return [...this.#under.values()].flatMap((purges) => [...purges.values()]);
  }

  #begin(key: string, binding: ResourceBinding, cluster: string): void {
    const { namespace, name } = binding.spec.resource;
    const others = this.#truth
      .members()
      .filter((member) => copyOf(this.#truth, binding, member) !== undefined);
    // Where it stays it was asked for before, though its copy may still be on its way.
    const stays = resultOf(binding);
    const isNew = (member: string): boolean =>
      member !== cluster && !others.includes(member) && !stays.has(member);
    const purges = this.#under.get(key) ?? new Map<string, Purge>();
    const isLetGo = (one: string): boolean => workOf(this.#truth, binding, one) === undefined;
    const isBack = (): boolean =>
      isLetGo(cluster) && copyOf(this.#truth, binding, cluster) !== undefined;
    const purge: Purge = { namespace, name, cluster, isNew, isLetGo, isBack };
    this.#under.set(key, purges.set(cluster, purge));
  }

  #isCalledOff(binding: ResourceBinding, cluster: string): boolean {
    const found = clusterNamed(this.#truth, cluster);
    return found === undefined || isFenced(found) || resultOf(binding).has(cluster);
  }
}

/** Whether a person said that the cluster is off. */
function isFenced({ metadata }: Cluster): boolean {
  return metadata.annotations?.[wellKnown.FENCED] !== undefined;
}

/** The purges that a new Work would have had to wait for. */
function newCopies(
  truth: Truth,
  purges: Purges,
  { key, row }: Committed,
): readonly { readonly purge: Purge; readonly binding: ResourceBinding }[] {
  if (row.type !== "ADDED") return [];
  const binding = bindingOf(truth, parseObject(row.bytes));
  if (binding === undefined) return [];
  const cluster = clusterOf(key.split("/", 1)[0]) ?? "";
  // What another workload needs where it is purged waits for nothing where that one needs it, too.
  const isFollower = (purge: Purge): boolean =>
    isRequiredIn(binding, purge.cluster) && isRequiredIn(binding, cluster);
  return purges
    .of(binding)
    .filter((purge) => purge.isNew(cluster) && clusterNamed(truth, purge.cluster) !== undefined)
    .filter((purge) => !isFollower(purge))
    .map((purge) => ({ purge, binding }));
}

function isAnythingLeft(truth: Truth, purge: Purge, binding: ResourceBinding): boolean {
  const { cluster, namespace, name } = purge;
  if (truth.circumstances.liars.has(cluster) || isBroughtBack(truth, purge, cluster)) return false;
  if (copyOf(truth, binding, cluster) !== undefined) return true;
  const hasReplicas = (binding.spec.replicas ?? 0) > 0;
  return hasReplicas && hasPods(truth, cluster, namespace, name);
}

function hasPods(truth: Truth, member: string, namespace: string | undefined, app: string) {
  return truth.ledger
    .objects(member, "/pods")
    .map(({ object }) => object)
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.["app"] === app)
    .some((pod) => !isOfOthers(truth, member, pod));
}

/** Whether what a pod belongs to is not ours, or was not: somebody in the member may have a workload of the same name. */
function isOfOthers(truth: Truth, member: string, { metadata }: AnyObject): boolean {
  const [owner] = metadata.ownerReferences ?? [];
  if (owner === undefined) return false;
  const { kind, name, uid } = owner;
  const isBetween = kind === "ReplicaSet";
  const table = isBetween ? "apps/replicasets" : tableOf(kind);
  const found = lastOf(truth, member, table, `${metadata.namespace ?? ""}/${name}`, uid);
  if (found === undefined) return false;
  if (isBetween) return isOfOthers(truth, member, found);
  return found.metadata.labels?.[wellKnown.MANAGED] !== "true";
}

/** The object of this uid as it is or, when it is gone, as it was last: its pods stop after it. */
function lastOf(
  { ledger }: Truth,
  member: string,
  table: string,
  key: string,
  uid: string,
): AnyObject | undefined {
  const found = ledger.find(member, table, key)?.object;
  if (found?.metadata.uid === uid) return found;
  const isEnd = ({ server, previous, ...row }: Committed): boolean =>
    server === member &&
    row.key === key &&
    row.table === table &&
    previous?.object.metadata.uid === uid;
  return ledger.rows.findLast(isEnd)?.previous?.object;
}

/** Copies that were ordered to go while their cluster did not answer. */
class StaleCopies {
  readonly #truth: Truth;
  /** By cluster, from the moment it is ready again. */
  readonly #stale = new Map<string, readonly { readonly at: string; readonly uid: string }[]>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  take(change: Committed): readonly [] {
    const { before, now } = pairOf<Cluster>(change);
    const name = now?.metadata.name ?? before?.metadata.name ?? "";
    if (now === undefined) this.#stale.delete(name);
    const isBack = readyOf(now) === "True" && readyOf(before) !== "True";
    if (isBack && before !== undefined) this.#stale.set(name, this.#copiesIn(name));
    return [];
  }

  /** Those that are still there. */
  in(cluster: string): readonly string[] {
    if (this.#truth.circumstances.liars.has(cluster)) return [];
    return (this.#stale.get(cluster) ?? [])
      .filter(({ at, uid }) => this.#isOurs(cluster, at, uid))
      .map(({ at }) => at);
  }

  #copiesIn(cluster: string) {
    return this.#truth
      .works()
      .filter((work) => clusterOf(work.metadata.namespace) === cluster && isGoing(work))
      .flatMap((work) => {
        const binding = bindingOf(this.#truth, work as unknown as AnyObject);
        const copy = binding === undefined ? undefined : copyOf(this.#truth, binding, cluster);
        if (binding === undefined || copy === undefined || isGoing(copy)) return [];
        const { kind, namespace, name } = binding.spec.resource;
        return [{ at: `${kind} ${namespace ?? ""}/${name}`, uid: copy.metadata.uid ?? "" }];
      });
  }

  /** What is preserved is let go of, and stays as somebody else's. */
  #isOurs(cluster: string, at: string, uid: string): boolean {
    const [kind = "", key = ""] = at.split(" ");
    const { metadata } = this.#truth.ledger.find(cluster, tableOf(kind), key)?.object ?? {};
    return metadata?.uid === uid && metadata.labels?.[wellKnown.MANAGED] === "true";
  }
}
