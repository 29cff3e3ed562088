/**
 * Oracles O-graceful: leaving a cluster gracefully.
 *
 * O-graceful-2, O-graceful-4 and O-graceful-10 are one question: why did this eviction task end? It must have ended for one of the
 * reasons that D9 knows; time is none of them, but for the grace period of a failing application.
 */
import type { AnyObject, EvictionTask, ResourceBinding, Work } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import { isLastServed } from "./balancers.ts";
import type { AlwaysOracle, ConvergedOracle, Judge } from "./oracle.ts";
import {
  bindingOf,
  BINDINGS,
  clusterNamed,
  copyOf,
  type Edit,
  editOf,
  evictionsOf,
  faultyClusters,
  hasTarget,
  isFederated,
  isForced,
  isGoing,
  isGoingNow,
  isLiedAbout,
  isOfPerson,
  isReportedHealthy,
  isServing,
  isStaying,
  isTakenBack,
  isUnclaimed,
  modeOf,
  nameOf,
  onEdit,
  pairOf,
  resultOf,
  tasksBegun,
  tasksWithout,
  templateOf,
  workKeyOf,
  WORKLOADS,
  workOf,
} from "./reading.ts";
import { clusterOf, clustersOf, tableOf, type Truth, WORKS } from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "leaving-copies-stay",
    promise:
      "O-graceful-1: while a workload leaves a cluster gracefully, its Work and its copy there stay",
    on: "both",
    tables: [WORKS, ...WORKLOADS],
    start: (truth) => (change) => {
      const { server, table, key, row, previous } = change;
      if (previous === undefined || !isGoingNow(row, previous)) return [];
      const isWork = table === WORKS;
      if (isWork !== (server === "plane")) return [];
      const { membersAreSteady, liars } = truth.circumstances;
      if (!isWork && (!membersAreSteady || liars.has(server))) return [];
      const cluster = isWork ? (clusterOf(key.split("/", 1)[0]) ?? "") : server;
      const binding = bindingOf(truth, previous.object);
      if (binding === undefined || isGoing(binding)) return [];
      if (!isStaying(clusterNamed(truth, cluster))) return [];
      const task = evictionsOf(binding).find(({ fromCluster }) => fromCluster === cluster);
      return task === undefined || modeOf(task) === "Directly"
        ? []
        : [`${server} ${table} ${key} goes while ${nameOf(binding)} leaves ${cluster} gracefully`];
    },
  },
  {
    name: "tasks-end-for-a-reason",
    promise:
      "O-graceful-2, O-graceful-4: a graceful eviction ends when the new result is not empty, was seen by the scheduler and is healthy in a report about its present version, and never by time alone, except for a failing application's grace period (D9)",
    on: "plane",
    tables: [WORKS, ...BINDINGS],
    start: (truth) => {
      const health = new HealthMemory(truth);
      const ages = new TaskAges();
      const judgeEdit = onEdit((edit, change) => {
        ages.take(change, edit);
        return gracefulEnds(edit)
          .filter((task) => !isEndedOtherwise(truth, edit, task, { ages, health }))
          .filter(({ fromCluster }) => !resultOf(edit.now).has(fromCluster))
          .flatMap(({ fromCluster }) => {
            const why = whyTooEarly(edit.before, health, change.at);
            return why === undefined
              ? []
              : [`${nameOf(edit.now)} was let go from ${fromCluster}, but ${why}`];
          });
      });
      return (change) => (change.table === WORKS ? health.take(change) : judgeEdit(change));
    },
  },
  {
    name: "only-enabled-plugins-end-tasks",
    promise:
      "O-graceful-10: a graceful eviction ends by an enabled plugin; with none enabled it does not",
    on: "plane",
    tables: [WORKS, ...BINDINGS],
    start: (truth) => {
      const { plugins } = truth.circumstances;
      if (plugins === undefined) return () => [];
      const health = new HealthMemory(truth);
      const ages = new TaskAges();
      const judgeEdit = onEdit((edit, change) => {
        ages.take(change, edit);
        const { now } = edit;
        return gracefulEnds(edit)
          .filter((task) => !isEndedOtherwise(truth, edit, task, { ages, health }))
          .flatMap(({ fromCluster }) => {
            const isBack = resultOf(now).has(fromCluster);
            // Any one that passes suffices: the copies of the result may be healthy where it is back, too.
            const needed = ["ResourceHealth", ...(isBack ? ["InScheduleResult"] : [])];
            return needed.some((name) => plugins.includes(name))
              ? []
              : [`${nameOf(now)} was let go from ${fromCluster} without ${needed.join(" or ")}`];
          });
      });
      return (change) => (change.table === WORKS ? health.take(change) : judgeEdit(change));
    },
  },
  {
    name: "last-copy-stays",
    promise:
      "O-graceful-3: no removal of ours takes the copies of a workload that serve, with one ready replica at least, from one or more to none; mode Directly is exempt, and the unhealthy old copy of a failing application after its grace period (D9)",
    on: "both",
    tables: [WORKS, ...WORKLOADS, ...BINDINGS],
    start: (truth) => {
      const service = new ServiceMemory(truth);
      return (change) => service.judge(change);
    },
  },
  {
    name: "back-in-result-keeps-the-copy",
    promise:
      "O-graceful-5: who leaves a cluster and is placed there again keeps the copy that is there",
    on: "plane",
    tables: BINDINGS,
    start: (truth) =>
      onEdit(({ before, now }) => {
        return tasksWithout(before, now)
          .filter(({ fromCluster }) => resultOf(before).has(fromCluster))
          .filter(({ fromCluster }) => resultOf(now).has(fromCluster))
          .flatMap(({ fromCluster }) => {
            const work = workOf(truth, now, fromCluster);
            const isLost = work !== undefined && isGoing(work);
            return isLost && isStaying(clusterNamed(truth, fromCluster))
              ? [`${nameOf(now)} is back in ${fromCluster}, and its Work there is going`]
              : [];
          });
      }),
  },
  {
    name: "no-cluster-is-left-and-kept",
    promise: "O-graceful-5: no cluster is both in a result and in a task for long",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => {
      // Without the plugin that ends such a task at once it ends when the copies are healthy.
      if (truth.circumstances.plugins?.includes("InScheduleResult") === false) return () => [];
      const since = new Map<string, number>();
      return (change) => {
        const { before, now } = pairOf(change);
        const [was, is] = [before, now].map((one) => new Set(one && leftAndKept(one)));
        for (const cluster of is ?? [])
          if (was?.has(cluster) !== true) since.set(`${change.key} ${cluster}`, change.at);
        return [...(was ?? [])].flatMap((cluster) => {
          const seconds = (change.at - (since.get(`${change.key} ${cluster}`) ?? 0)) / 1000;
          return seconds * 1000 > truth.circumstances.patienceMs
            ? [`${change.key} has been leaving ${cluster} and placed there for ${seconds} s`]
            : [];
        });
      };
    },
  },
  {
    name: "taken-back-to-the-former-result",
    promise:
      "O-graceful-6: an eviction that is taken back restores the former result, with its replicas, and changes nothing else of it (D13)",
    on: "plane",
    tables: BINDINGS,
    start: () =>
      onEdit((edit) => {
        const { before, now } = edit;
        const restored = tasksWithout(before, now).filter((task) => isTakenBack(task, edit));
        if (restored.length === 0) return [];
        const expected = new Map(resultOf(before));
        for (const { fromCluster, replicas = 0 } of restored) expected.set(fromCluster, replicas);
        return isSameResult(expected, resultOf(now))
          ? []
          : [`${nameOf(now)} was taken back to ${said(resultOf(now))}, not to ${said(expected)}`];
      }),
  },
  {
    name: "never-turned-round-half-way",
    promise:
      "O-graceful-7: what was placed anew is not taken back when the old cluster recovers (D13)",
    on: "plane",
    tables: BINDINGS,
    start: () =>
      onEdit((edit) => {
        const { before, now } = edit;
        return tasksWithout(before, now)
          .filter((task) => modeOf(task) !== "Directly" && isTakenBack(task, edit))
          .filter((task) => isPlacedAnew(before, task))
          .map(
            ({ fromCluster }) =>
              `${nameOf(now)} was taken back to ${fromCluster} after it was placed on ${said(resultOf(before))}`,
          );
      }),
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "no-eviction-is-left",
    promise:
      "O-graceful-8: when everything is healthy, no graceful eviction of a workload is left half done",
    judge: (truth) => leftBehind(truth, (binding) => hasHealth(binding)),
  },
  {
    name: "what-has-no-health-leaves-too",
    promise:
      "O-graceful-9: kinds without a notion of health finish leaving a cluster: applied is healthy",
    judge: (truth) => leftBehind(truth, (binding) => !hasHealth(binding)),
  },
];

/** A purge in mode Directly has to come to its end before the copy can be made anew. */
function leftAndKept(binding: ResourceBinding): readonly string[] {
  return evictionsOf(binding)
    .filter((task) => modeOf(task) !== "Directly" && resultOf(binding).has(task.fromCluster))
    .map(({ fromCluster }) => fromCluster);
}

/** The tasks that ended gracefully, and not because the eviction was taken back. */
function gracefulEnds(edit: Edit): readonly EvictionTask[] {
  return tasksWithout(edit.before, edit.now).filter(
    (task) => modeOf(task) !== "Directly" && !isTakenBack(task, edit),
  );
}

/** Whether a task ended for a reason that is no plugin's: its cluster is gone, a person says so, or a grace period is over. */
function isEndedOtherwise(
  truth: Truth,
  { before, now }: Edit,
  task: EvictionTask,
  { ages, health }: { readonly ages: TaskAges; readonly health: HealthMemory },
): boolean {
  if (task.suppressDeletion === false) return true;
  const work = workOf(truth, now, task.fromCluster);
  if (work === undefined && !isStaying(clusterNamed(truth, task.fromCluster))) return true;
  const { gracePeriodSeconds, reason } = task;
  if (reason !== "ApplicationFailure" || gracePeriodSeconds === undefined) return false;
  if (resultOf(before).size === 0) return false;
  if (work !== undefined && health.isKnownHealthy(workKeyOf(now, task.fromCluster))) return false;
  const age = ages.of(now, task);
  const slackMs = truth.clockSlackMs(truth.ledger.now - age) + WHOLE_SECONDS_MS;
  return age >= gracePeriodSeconds * 1000 - slackMs;
}

/** Times of tasks are whole seconds. */
const WHOLE_SECONDS_MS = 1000;

/** How long tasks have been there. */
class TaskAges {
  readonly #since = new Map<string, number>();
  #now = 0;

  take({ at }: Committed, edit: Edit): void {
    this.#now = at;
    for (const task of tasksBegun(edit)) this.#since.set(this.#key(edit.now, task), at);
  }

  of(binding: ResourceBinding, task: EvictionTask): number {
    return this.#now - (this.#since.get(this.#key(binding, task)) ?? 0);
  }

  #key(binding: ResourceBinding, { fromCluster }: EvictionTask): string {
    return `${nameOf(binding)} ${fromCluster}`;
  }
}

function whyTooEarly(before: ResourceBinding, health: HealthMemory, at: number) {
  const result = [...resultOf(before).keys()];
  if (result.length === 0) return "its result is empty";
  // Nobody sees what no policy asks for any more.
  if (!isSeen(before) && !isUnclaimed(before)) return "the scheduler had not seen it";
  const ill = result.filter((cluster) => !health.wasHealthy(workKeyOf(before, cluster), at));
  return ill.length === 0 ? undefined : `it is not reported healthy in ${ill.join()}`;
}

/** When Works were reported healthy: controllers may decide by what was true a moment ago. */
class HealthMemory {
  readonly #truth: Truth;
  /** By key: since when without a gap. */
  readonly #since = new Map<string, number>();
  /** By key: until when; Infinity: still. */
  readonly #until = new Map<string, number>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  take(change: Committed): readonly [] {
    const { now } = pairOf<Work>(change);
    if (now !== undefined && isReportedHealthy(now)) {
      if (!this.#since.has(change.key)) this.#since.set(change.key, change.at);
      this.#until.set(change.key, Infinity);
      return [];
    }
    this.#since.delete(change.key);
    if (this.#until.get(change.key) === Infinity) this.#until.set(change.key, change.at);
    return [];
  }

  /** Whether it has been healthy for long enough that everybody has heard. */
  isKnownHealthy(work: string): boolean {
    const since = this.#since.get(work) ?? Infinity;
    return since < this.#truth.ledger.now - this.#truth.lagMs;
  }

  wasHealthy(work: string, at: number): boolean {
    return (this.#until.get(work) ?? -Infinity) >= at - this.#truth.lagMs;
  }
}

/** How many former results are looked through. */
const REMEMBERED = 20;

/** What was true when a Work was ordered to go. */
interface Order {
  readonly at: number;
  /** Whether it is to go in mode Directly. */
  readonly isDirect: boolean;
  /** How old what the plane knew then may have been. */
  readonly knownAt: number;
  /** The other clusters in which a copy served that was to stay. */
  readonly others: readonly string[];
}

/** Since when copies serve, and what was true when they were ordered to go. */
class ServiceMemory {
  readonly #truth: Truth;
  readonly #servingSince = new Map<string, number>();
  readonly #servedUntil = new Map<string, number>();
  /** By key of the Work. */
  readonly #orders = new Map<string, Order>();
  readonly #graces: GracePeriods;
  /** By uid of the binding: its former results with a cluster whose reports are forged, and until when each held. */
  readonly #reliedOn = new Map<
    string,
    readonly { readonly result: readonly string[]; readonly until: number }[]
  >();

  constructor(truth: Truth) {
    this.#truth = truth;
    this.#graces = new GracePeriods(truth);
  }

  readonly judge: Judge = (change) => {
    const { server, table, key, at, row, previous } = change;
    if (server === "plane") {
      if (BINDINGS.includes(table)) {
        this.#graces.take(change);
        this.#takeResult(change);
      }
      if (table === WORKS && previous !== undefined && isGoingNow(row, previous)) {
        const knownAt = at - this.#truth.lagMs;
        const others = this.#othersOf(previous.object, knownAt);
        this.#orders.set(key, { at, isDirect: isPurged(parseObject(row.bytes)), knownAt, others });
      }
      return [];
    }
    if (table === WORKS) return [];
    const { before, now } = pairOf<AnyObject>(change);
    const copy = `${server} ${table} ${key}`;
    const since = this.#servingSince.get(copy) ?? 0;
    if (isServing(before) && !isServing(now)) this.#servedUntil.set(copy, at);
    if (!isServing(now)) this.#servingSince.delete(copy);
    else if (!this.#servingSince.has(copy)) this.#servingSince.set(copy, at);
    if (before === undefined || !isServing(before) || isServing(now)) return [];
    if (previous === undefined || !isGoingNow(row, previous)) return [];
    return this.#judgeRemoval(server, before, since, at);
  };

  /**
   * Where a workload is placed, a report of health is relied on, also a forged one: for that, copies that are placed nowhere may go. A
   * report of a cluster in which it is not placed is relied on for nothing but that cluster's own copy (T2).
   */
  #takeResult(change: Committed): void {
    const { before, now } = pairOf(change);
    const { forgers } = this.#truth.circumstances;
    if (forgers.size === 0 || before === undefined || now === undefined) return;
    const result = [...resultOf(before).keys()];
    if (!result.some((name) => forgers.has(name))) return;
    const uid = now.metadata.uid ?? "";
    const former = this.#reliedOn.get(uid) ?? [];
    this.#reliedOn.set(uid, [...former.slice(-REMEMBERED), { result, until: change.at }]);
  }

  /** Whether a forged report may have been relied on for removing the copy of a member, by what was known since then. */
  #isForgeryReliedOn(binding: ResourceBinding, member: string, since: number): boolean {
    const { forgers } = this.#truth.circumstances;
    const present = { result: [...resultOf(binding).keys()], until: Infinity };
    const results = [...(this.#reliedOn.get(binding.metadata.uid ?? "") ?? []), present];
    return results.some(
      ({ result, until }) =>
        until >= since && !result.includes(member) && result.some((name) => forgers.has(name)),
    );
  }

  #judgeRemoval(member: string, copy: AnyObject, since: number, at: number): readonly string[] {
    const { circumstances } = this.#truth;
    if (!circumstances.membersAreSteady) return [];
    const binding = bindingOf(this.#truth, copy);
    if (binding === undefined || isGoing(binding) || clustersOf(binding).size === 0) return [];
    if (circumstances.liars.has(member) || isLiedAbout(this.#truth, binding)) return [];
    const template = templateOf(this.#truth, binding);
    if (template === undefined || isGoing(template) || wantsNone(template)) return [];
    // A share goes by a person's order alone, and so does what is on a cluster that is removed by force (D15, D22).
    if (isFederated(binding) || isForced(clusterNamed(this.#truth, member))) return [];
    const task = evictionsOf(binding).find(({ fromCluster }) => fromCluster === member);
    if (task !== undefined && modeOf(task) === "Directly") return [];
    // A purge that was ordered is carried out, also when the eviction is taken back a moment later.
    const work = workOf(this.#truth, binding, member);
    if (work !== undefined && isGoing(work) && isPurged(work)) return [];
    // The field's contract is "regardless" (D9).
    if (!isWhole(copy) && this.#graces.isOver(binding, member, at)) return [];
    // What the plane cannot have known when it gave the order is not its fault.
    const order = this.#orders.get(workKeyOf(binding, member));
    const knownAt = order?.knownAt ?? at - this.#truth.lagMs;
    if (since > knownAt) return [];
    if (this.#isForgeryReliedOn(binding, member, knownAt)) return [];
    // Nor that a person changed the copies since then that it relied on, as when they are all started anew.
    if (order?.others.some((name) => this.#isToStay(binding, name)) === true) return [];
    // Nor that its policy had them removed since then before there is a new copy (D9).
    const isPurgedSince = (name: string): boolean => {
      const other = this.#orders.get(workKeyOf(binding, name));
      return other?.isDirect === true && other.at > (order?.at ?? Infinity);
    };
    if (order?.others.some(isPurgedSince) === true) return [];
    const others = this.#truth.members().filter((name) => name !== member);
    return others.some((name) => isServing(copyOf(this.#truth, binding, name)))
      ? []
      : [`the last copy of ${nameOf(binding)} that served went, in ${member}`];
  }

  /** The other clusters than that of a Work in which a copy served at some moment since then, and is to stay. */
  #othersOf(work: AnyObject, since: number): readonly string[] {
    const binding = bindingOf(this.#truth, work);
    if (binding === undefined) return [];
    const { kind, namespace = "", name } = binding.spec.resource;
    const cluster = clusterOf(work.metadata.namespace);
    return this.#truth
      .members()
      .filter((member) => member !== cluster && this.#isToStay(binding, member))
      .filter((member) => {
        const until = this.#servedUntil.get(`${member} ${tableOf(kind)} ${namespace}/${name}`);
        return (until ?? -Infinity) >= since || isServing(copyOf(this.#truth, binding, member));
      });
  }

  #isToStay(binding: ResourceBinding, cluster: string): boolean {
    const work = workOf(this.#truth, binding, cluster);
    return work !== undefined && !isGoing(work);
  }
}

/** When the grace periods of failing applications end, by workload and the cluster that it leaves. */
class GracePeriods {
  readonly #truth: Truth;
  readonly #periods = new Map<string, { readonly began: number; readonly end: number }>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  take(change: Committed): void {
    const edit = editOf(change);
    if (edit === undefined) return;
    for (const { fromCluster, reason, gracePeriodSeconds } of tasksBegun(edit)) {
      const key = `${nameOf(edit.now)} ${fromCluster}`;
      const hasOne = reason === "ApplicationFailure" && gracePeriodSeconds !== undefined;
      const began = change.at;
      if (hasOne) this.#periods.set(key, { began, end: began + gracePeriodSeconds * 1000 });
      else this.#periods.delete(key);
    }
  }

  isOver(binding: ResourceBinding, cluster: string, at: number): boolean {
    const period = this.#periods.get(`${nameOf(binding)} ${cluster}`);
    if (period === undefined) return false;
    return at >= period.end - this.#truth.clockSlackMs(period.began) - WHOLE_SECONDS_MS;
  }
}

/** Whether every replica of a copy is ready. */
function isWhole(copy: AnyObject): boolean {
  const { spec, status } = copy as {
    readonly spec?: { readonly replicas?: number };
    readonly status?: { readonly readyReplicas?: number };
  };
  return (status?.readyReplicas ?? 0) >= (spec?.replicas ?? 1);
}

/** Whether a Work goes, or went, in mode Directly. */
function isPurged({ metadata }: Work | AnyObject): boolean {
  return metadata.annotations?.[wellKnown.PURGE_MODE] === "Directly";
}

function wantsNone(template: AnyObject): boolean {
  return (template as { readonly spec?: { readonly replicas?: number } }).spec?.replicas === 0;
}

/** Whether the scheduler had placed what the task took out of the result. */
function isPlacedAnew(before: ResourceBinding, task: EvictionTask): boolean {
  const result = [...resultOf(before).keys()];
  if (result.some((name) => !(task.clustersBeforeFailover ?? []).includes(name))) return true;
  return result.length > 0 && isSeen(before);
}

function leftBehind(truth: Truth, concerns: (binding: ResourceBinding) => boolean) {
  const { plugins } = truth.circumstances;
  if (plugins !== undefined && !plugins.includes("ResourceHealth")) return [];
  const isFaulty = faultyClusters(truth).size > 0;
  return (
    truth
      .bindings()
      .filter((binding) => concerns(binding) && !isOfPerson(truth, binding))
      // Without a result it waits for a cluster that fits.
      .filter(({ spec }) => !isFaulty || (spec.clusters ?? []).length > 0)
      // Nor does it leave before a policy that was edited since can be carried out (O-graceful-2).
      .filter((binding) => isSeen(binding) || hasTarget(truth, binding))
      .flatMap((binding) =>
        evictionsOf(binding)
          .filter((task) => modeOf(task) === "Gracefully" && task.suppressDeletion !== true)
          .filter(({ fromCluster }) => !isLastServed(truth, binding, fromCluster))
          .map(({ fromCluster }) => `${nameOf(binding)} is still leaving ${fromCluster}`),
      )
  );
}

/** Whether the scheduler has placed it as it is asked for now. */
function isSeen({ metadata, status }: ResourceBinding): boolean {
  return status?.schedulerObservedGeneration === metadata.generation;
}

function hasHealth({ spec }: ResourceBinding): boolean {
  return ["Deployment", "StatefulSet", "Job", "Service"].includes(spec.resource.kind);
}

function isSameResult(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([name, replicas]) => b.get(name) === replicas);
}

function said(result: ReadonlyMap<string, number>): string {
  return `[${[...result].map(([name, replicas]) => `${name}:${replicas}`).join()}]`;
}
