/**
 * Oracles O-state: state that goes with a workload, as D12 rules it.
 *
 * What a rule finds is worked out here anew, from the status that the old copy's Work had on disk when the eviction was
 * decided, or a moment before: controllers may decide by what was true a moment ago. Whether a copy was ever healthy is taken
 * from all that its Work reported since it was made.
 *
 * O-state-10 (a missing key does not hold up an eviction for ever) is judged by `nobody-stays-on-a-faulty-cluster`.
 */
import {
  type AnyObject,
  compileJsonPath,
  type EvictionTask,
  type Json,
  labelKeyProblems,
  labelValueProblems,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import {
  BINDINGS,
  bindingOf,
  copyOf,
  type Edit,
  editOf,
  isGoing,
  manifestsOf,
  nameOf,
  onEdit,
  resultOf,
  tasksBegun,
  tasksWithout,
  templateOf,
  workKeyOf,
} from "./reading.ts";
import { clusterOf, type Truth, WORKS } from "./truth.ts";

type Labels = Readonly<Record<string, string>>;

/** An eviction with the write that decided it. */
interface Decision extends Edit {
  readonly task: EvictionTask;
}

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "state-is-written-with-the-eviction",
    promise:
      "O-state-1: where rules ask for state and the cluster held all replicas, the eviction is one write with the state and with the clusters before it",
    on: "plane",
    tables: [WORKS, ...BINDINGS],
    start: (truth) =>
      judgingDecisions(truth, ({ before, task }, statuses) => {
        const former = [...resultOf(before).keys()];
        const recorded = task.clustersBeforeFailover ?? [];
        if (recorded.length !== former.length || !former.every((name) => recorded.includes(name)))
          return [`it says that the workload was on [${recorded.join()}], not [${former.join()}]`];
        const rules = rulesOf(before, task);
        if (!truth.circumstances.statefulInjection || !heldAll(before, task)) return [];
        const found = statuses.map((status) => rules.flatMap((rule) => findingsOf(rule, status)));
        const isEmpty = Object.keys(task.preservedLabelState ?? {}).length === 0;
        return isEmpty && found.length > 0 && found.every((findings) => findings.length > 0)
          ? ["it carries no state"]
          : [];
      }),
  },
  {
    name: "state-is-what-the-source-reported",
    promise:
      "O-state-2: the state is what the rules find in the status that the source reported last; of a copy that was never healthy, it is what the copy was given (D12)",
    on: "plane",
    tables: [WORKS, ...BINDINGS],
    start: (truth) =>
      judgingDecisions(truth, ({ before, task }, statuses, ran) => {
        const given = givenTo(before, task.fromCluster);
        const kept = Object.entries(task.preservedLabelState ?? {});
        const isGiven = kept.every(([key, value]) => given[key] === value);
        if (isGiven && !ran.certainly) return [];
        const mustBeGiven = Object.keys(given).length > 0 && !ran.possibly;
        const rules = new Map(rulesOf(before, task).map((rule) => [rule.aliasLabelName, rule]));
        return kept.flatMap(([key, value]) => {
          if (mustBeGiven && Object.hasOwn(given, key) && given[key] !== value)
            return [`${key} is ${value} of a copy that was never healthy, not ${given[key]}`];
          const rule = rules.get(key);
          if (rule === undefined) return [`no rule asks for ${key}`];
          const isFound = statuses.some((status) => findingsOf(rule, status).includes(value));
          return isFound ? [] : [`${key} is ${value}, which the source did not report`];
        });
      }),
  },
  {
    name: "state-is-not-lost",
    promise:
      "O-state-3: from the eviction on the state is on disk with the binding, and stays until the next failover or a return replaces it",
    on: "plane",
    tables: BINDINGS,
    start: () =>
      onEdit((edit) => {
        const { before, now } = edit;
        const carried = stateOf(before)?.labels ?? {};
        const isReplaced =
          tasksBegun(edit).length > 0 ||
          tasksWithout(before, now).some(({ fromCluster }) => resultOf(now).has(fromCluster));
        if (isReplaced || hasAll(stateOf(now)?.labels ?? {}, carried)) return [];
        return [`${nameOf(now)} loses the state ${JSON.stringify(carried)}`];
      }),
  },
  {
    name: "state-goes-to-new-copies",
    promise:
      "O-state-4: the labels are in every new copy, in none in the cluster that was left, and stay there while the placement lives",
    on: "plane",
    tables: [WORKS],
    start: (truth) => (change) => {
      const { row, previous, key } = change;
      if (row.type === "DELETED") return [];
      const work = parseObject(row.bytes);
      if (isGoing(work) || isSameContent(work, previous?.object)) return [];
      const binding = bindingOf(truth, work);
      const state = binding === undefined ? undefined : stateOf(binding);
      if (binding === undefined || state === undefined) return [];
      const cluster = clusterOf(work.metadata.namespace) ?? "";
      const own = templateOf(truth, binding)?.metadata.labels ?? {};
      const labels = Object.entries(state.labels).filter(([name]) => own[name] === undefined);
      const [now, before] = [labelsIn(work), labelsIn(previous?.object)];
      if (cluster === state.from)
        return labels
          .filter(([name, value]) => now[name] === value && state.former[name] !== value)
          .filter(([name]) => before[name] === undefined)
          .map(([name]) => `Work ${key} gets ${name}, which was saved from there`);
      if (!resultOf(binding).has(cluster)) return [];
      return labels
        .filter(([name, value]) => now[name] !== value)
        .filter(([name, value]) => previous === undefined || before[name] === value)
        .map(([name]) => `Work ${key} lacks the state ${name}`);
    },
  },
  {
    name: "state-that-is-no-label-holds",
    promise:
      "O-state-5: a rule that finds several values, or no label, stops the eviction before anything is removed; what is kept are labels; a missing key skips its rule (D12)",
    on: "plane",
    tables: [WORKS, ...BINDINGS],
    start: (truth) =>
      judgingDecisions(truth, ({ before, task }, statuses, ran) => {
        const kept = Object.entries(task.preservedLabelState ?? {});
        const invalid = kept.filter(
          ([key, value]) => labelKeyProblems(key).length + labelValueProblems(value).length > 0,
        );
        if (invalid.length > 0) return [`${invalid.join("; ")} is no label`];
        if (!truth.circumstances.statefulInjection || !heldAll(before, task)) return [];
        const isHandedOn = Object.keys(givenTo(before, task.fromCluster)).length > 0;
        if (isHandedOn && !ran.certainly) return [];
        const rules = rulesOf(before, task);
        const wrong = statuses.map((status) =>
          rules.filter((rule) => problemOf(rule, status) !== undefined),
        );
        const [first = []] = wrong;
        return wrong.length > 0 && wrong.every((bad) => bad.length > 0)
          ? first.map(
              ({ aliasLabelName }) => `the rule for ${aliasLabelName} cannot be carried out`,
            )
          : [];
      }),
  },
  {
    name: "state-takes-no-label-of-others",
    promise:
      "O-state-6: state is never kept under a label of the template, of its selector or its pods, of the control plane or of Kubernetes",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) =>
      decisionsOf(change).flatMap(({ now, task }) => {
        const template = templateOf(truth, now);
        const taken = template === undefined ? new Set<string>() : labelsOfTemplate(template);
        return Object.keys(task.preservedLabelState ?? {})
          .filter((key) => taken.has(key) || isReserved(key))
          .map((key) => `${nameOf(now)} keeps its state under ${key}, which is taken`);
      }),
  },
  {
    name: "each-failover-carries-its-own-state",
    promise: "O-state-7: what is carried after an eviction is what the eviction kept, and no other",
    on: "plane",
    tables: BINDINGS,
    start: () => (change) => {
      const decisions = decisionsOf(change);
      const [decision] = decisions;
      if (decision === undefined || decisions.length > 1) return [];
      const { now, task } = decision;
      const carried = stateOf(now)?.labels ?? {};
      const kept = task.preservedLabelState ?? {};
      return hasAll(carried, kept) && hasAll(kept, carried)
        ? []
        : [`${nameOf(now)} kept ${JSON.stringify(kept)} and carries ${JSON.stringify(carried)}`];
    },
  },
  {
    name: "no-state-of-a-part",
    promise:
      "O-state-8: state is read only when the cluster held all replicas (D12); a part hands on what it was given",
    on: "plane",
    tables: BINDINGS,
    start: () => (change) =>
      decisionsOf(change)
        .filter(({ before, task }) => !heldAll(before, task))
        .filter(
          ({ before, task }) =>
            !hasAll(givenTo(before, task.fromCluster), task.preservedLabelState ?? {}),
        )
        .map(({ now, task }) => `${nameOf(now)} keeps state of a part in ${task.fromCluster}`),
  },
  {
    name: "no-state-while-the-gate-is-off",
    promise:
      "O-state-9: while the gate StatefulFailoverInjection is off nothing is kept or injected",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) =>
      truth.circumstances.statefulInjection
        ? []
        : decisionsOf(change)
            .filter(({ now, task }) => task.preservedLabelState ?? stateOf(now))
            .map(({ now }) => `${nameOf(now)} keeps state`),
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "state-arrives",
    promise: "O-state-4: every copy in a cluster that was not left bears the state in its member",
    judge: (truth) =>
      truth.bindings().flatMap((binding) => {
        const state = stateOf(binding);
        if (state === undefined) return [];
        const own = templateOf(truth, binding)?.metadata.labels ?? {};
        return [...resultOf(binding).keys()]
          .filter((cluster) => cluster !== state.from)
          .filter((cluster) => {
            const copy = copyOf(truth, binding, cluster);
            return !hasAll({ ...copy?.metadata.labels, ...own }, { ...state.labels, ...own });
          })
          .map((cluster) => `${nameOf(binding)} came to ${cluster} without its state`);
      }),
  },
];

interface Rule {
  readonly aliasLabelName: string;
  readonly jsonPath: string;
}

function rulesOf({ spec }: ResourceBinding, { reason }: EvictionTask): readonly Rule[] {
  const { failover } = spec;
  const of = reason === "ApplicationFailure" ? failover?.application : failover?.cluster;
  return of?.statePreservation?.rules ?? [];
}

/** Whether the state of a workload can be kept, as far as its Work in a cluster says; also when it has no rules. */
export function isStateReadable(binding: ResourceBinding, work: Work | undefined): boolean {
  const rules = binding.spec.failover?.cluster?.statePreservation?.rules ?? [];
  const status = reportIn(work);
  return rules.every(
    (rule) => !isReserved(rule.aliasLabelName) && problemOf(rule, status) === undefined,
  );
}

function decisionsOf(change: Committed): readonly Decision[] {
  const edit = editOf(change);
  if (edit === undefined) return [];
  return tasksBegun(edit).map((task) => ({ ...edit, task }));
}

/** Whether a copy was healthy at any time since its Work was made, as a controller may know it. */
interface Ran {
  readonly possibly: boolean;
  /** Since longer than a controller may be behind. */
  readonly certainly: boolean;
}

/** Judges decisions with the statuses that the source had reported then, the newest last. */
function judgingDecisions(
  truth: Truth,
  judge: (decision: Decision, statuses: readonly Json[], ran: Ran) => readonly string[],
) {
  const reports = new Reports(truth);
  return (change: Committed): readonly string[] => {
    if (change.table === WORKS) return reports.take(change);
    return decisionsOf(change).flatMap((decision) => {
      const { now, task } = decision;
      const work = workKeyOf(now, task.fromCluster);
      const statuses = reports.of(work, change.at);
      const ran = reports.ran(work, change.at);
      const where = `the eviction of ${nameOf(now)} from ${task.fromCluster}: `;
      return judge(decision, statuses, ran).map((text) => where + text);
    });
  };
}

/** What Works report, and reported a moment ago. */
class Reports {
  readonly #truth: Truth;
  readonly #reports = new Map<string, { readonly status: Json; until: number }[]>();
  /** By Work: since when it is known that its copy was healthy. */
  readonly #healthy = new Map<string, number>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  take({ key, at, row }: Committed): readonly [] {
    const known = this.#reports.get(key) ?? [];
    const last = known.at(-1);
    if (last !== undefined && last.until === Infinity) last.until = at;
    const work = parseObject(row.bytes) as unknown as Work;
    if (row.type === "DELETED") this.#healthy.delete(key);
    else if (isHealthy(work) && !this.#healthy.has(key)) this.#healthy.set(key, at);
    const status = reportIn(work);
    const recent = known.filter(({ until }) => until >= at - this.#truth.lagMs);
    this.#reports.set(key, [...recent, { status, until: Infinity }]);
    return [];
  }

  of(key: string, at: number): readonly Json[] {
    return (this.#reports.get(key) ?? [])
      .filter(({ until }) => until >= at - this.#truth.lagMs)
      .map(({ status }) => status);
  }

  ran(key: string, at: number): Ran {
    const since = this.#healthy.get(key);
    return { possibly: since !== undefined, certainly: (since ?? at) < at - this.#truth.lagMs };
  }
}

function isHealthy({ status }: Work): boolean {
  const [first] = status?.manifestStatuses ?? [];
  return first?.health === "Healthy";
}

/** The state that the copy in a cluster was given when it came there. */
function givenTo({ metadata }: ResourceBinding, cluster: string): Labels {
  const text = metadata.annotations?.[wellKnown.PRESERVED_STATE];
  if (text === undefined) return {};
  const state = JSON.parse(text) as {
    readonly from: string;
    readonly labels: Labels;
    readonly former?: { readonly labels: Labels };
  };
  return (state.from === cluster ? state.former?.labels : state.labels) ?? {};
}

function reportIn(work: Work | undefined): Json {
  return (work?.status?.manifestStatuses?.[0]?.status ?? null) as Json;
}

/** Whether every replica that the workload asks for was in the cluster that is left. */
function heldAll({ spec }: ResourceBinding, { fromCluster }: EvictionTask): boolean {
  const [only, ...others] = spec.clusters ?? [];
  if (only?.name !== fromCluster || others.length > 0) return false;
  return only.replicas === undefined || only.replicas >= (spec.replicas ?? 0);
}

/** What a rule finds, as text; what is not one value is the empty list. */
function findingsOf({ jsonPath }: Rule, status: Json): readonly string[] {
  return valuesOf(jsonPath, status).flatMap((value) =>
    typeof value === "object" ? [] : [String(value)],
  );
}

/** Why a rule cannot be carried out; a key that is missing is no reason. */
function problemOf({ jsonPath }: Rule, status: Json): string | undefined {
  const values = valuesOf(jsonPath, status);
  if (values.length > 1) return "several values";
  return values.every(
    (value) => typeof value !== "object" && labelValueProblems(String(value)).length === 0,
  )
    ? undefined
    : "no label";
}

function valuesOf(jsonPath: string, status: Json): readonly Exclude<Json, null>[] {
  return compileJsonPath(jsonPath, { allowMissingKeys: true })
    .evaluate(status)
    .flat()
    .filter((value): value is Exclude<Json, null> => value !== null);
}

/** What a binding carries. */
function stateOf({ metadata }: ResourceBinding) {
  const text = metadata.annotations?.[wellKnown.PRESERVED_STATE];
  if (text === undefined) return undefined;
  const { from, labels, former } = JSON.parse(text) as {
    readonly from: string;
    readonly labels: Labels;
    readonly former?: { readonly labels: Labels };
  };
  if (Object.keys(labels).length === 0) return undefined;
  return { from, labels, former: former?.labels ?? {} };
}

function labelsIn(work: AnyObject | undefined): Labels {
  const [manifest] = work === undefined ? [] : manifestsOf(work);
  return manifest?.metadata.labels ?? {};
}

function isSameContent(work: AnyObject, previous: AnyObject | undefined): boolean {
  return previous !== undefined && previous.metadata.generation === work.metadata.generation;
}

function hasAll(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

function labelsOfTemplate(template: AnyObject): ReadonlySet<string> {
  const { spec } = template as {
    readonly spec?: {
      readonly selector?: { readonly matchLabels?: Labels };
      readonly template?: { readonly metadata?: { readonly labels?: Labels } };
    };
  };
  const places = [
    template.metadata.labels,
    spec?.selector?.matchLabels,
    spec?.template?.metadata?.labels,
  ];
  return new Set(places.flatMap((labels) => Object.keys(labels ?? {})));
}

function isReserved(key: string): boolean {
  const [prefix = ""] = key.includes("/") ? key.split("/", 1) : [];
  if (/(^|\.)(kubernetes|k8s)\.io$/.test(prefix)) return true;
  return OURS.has(key);
}

const OURS: ReadonlySet<string> = new Set([
  wellKnown.MANAGED,
  wellKnown.BINDING_ID,
  wellKnown.WORK_ID,
  wellKnown.POLICY_ID,
]);
