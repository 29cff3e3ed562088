/**
 * What placement knows of a cluster, read from its Cluster object once and then asked for many workloads.
 *
 * Amounts are numbers, cpu in thousandths: precise enough for room, and fast.
 */
import { type Cluster, parseQuantity, quantityMilliValue, quantityValue } from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import { agentSupport } from "../clusters/agents/agents.ts";
import { compareText, countAt, fieldsAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import { type ClusterTraits, clusterTraits } from "../propagation/selectors/cluster-affinity.ts";

export const PODS = "pods";

/** How much of each resource. */
export type Amounts = ReadonlyMap<string, number>;

export interface Candidate extends ClusterTraits {
  readonly isDeleting: boolean;
  /** Its condition Ready is True. */
  readonly isReady: boolean;
  /** Copies of a former time may still run there. */
  readonly hasStaleCopies: boolean;
  /** Its agent gets no new Works. */
  readonly hasUnsupportedAgent: boolean;
  readonly taints: readonly CandidateTaint[];
  /** `apps/v1 Deployment` of everything it serves. */
  readonly apis: ReadonlySet<string>;
  /** undefined: not reported yet. */
  readonly room: ClusterRoom | undefined;
}

export interface CandidateTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
  readonly timeAdded: Instant | undefined;
  /** As messages show it: `{key=value:effect}`. */
  readonly text: string;
}

export interface ClusterRoom {
  /** What is free, never negative. */
  readonly free: Amounts;
  /** Pods that run there or wait for a node. */
  readonly pods: number;
  /** How many pods a node takes, on average; the nodes' own limit. */
  readonly podsPerNode: number;
  /** Empty: nodes are not counted by grade. */
  readonly grades: readonly NodeGrade[];
}

export interface NodeGrade {
  readonly count: number;
  readonly min: Amounts;
  readonly max: Amounts;
}

/** The clusters by which placements are decided, and what holds for all of them. */
export interface CandidateFleet {
  /** By name. */
  readonly candidates: readonly Candidate[];
  readonly byName: ReadonlyMap<string, Candidate>;
  readonly someTainted: boolean;
  readonly someDeleting: boolean;
  readonly someStale: boolean;
  readonly someUnsupported: boolean;
  /** The names of the clusters that do not serve an API (as `Candidate.apis` has it). */
  lacking(api: string): ReadonlySet<string>;
}

export function fleetOf(given: Iterable<Candidate>): CandidateFleet {
  const candidates = [...given].sort((a, b) => compareText(a.name, b.name));
  // Answers are remembered: a fleet is asked about the same few kinds for thousands of workloads.
  const lacking = new Map<string, ReadonlySet<string>>();
  return {
    candidates,
    byName: new Map(candidates.map((one) => [one.name, one])),
    someTainted: candidates.some(({ taints }) => taints.length > 0),
    someDeleting: candidates.some(({ isDeleting }) => isDeleting),
    someStale: candidates.some(({ hasStaleCopies }) => hasStaleCopies),
    someUnsupported: candidates.some(({ hasUnsupportedAgent }) => hasUnsupportedAgent),
    lacking: (api) => {
      const known = lacking.get(api);
      if (known !== undefined) return known;
      const without = candidates.filter(({ apis }) => !apis.has(api)).map(({ name }) => name);
      const found = new Set(without);
      if (lacking.size >= MOST_REMEMBERED) lacking.clear();
      lacking.set(api, found);
      return found;
    },
  };
}

const MOST_REMEMBERED = 1000;

export function candidateOf(cluster: Cluster): Candidate {
  return {
    ...clusterTraits(cluster),
    isDeleting: textAt(cluster, "metadata", "deletionTimestamp") !== "",
    isReady: listAt(cluster, "status", "conditions").some(isReady),
    hasStaleCopies: listAt(cluster, "status", "conditions").some(isStaleCopies),
    hasUnsupportedAgent: agentSupport(cluster) === "unsupported",
    taints: listAt(cluster, "spec", "taints").map(readTaint),
    apis: readApis(cluster),
    room: readRoom(cluster),
  };
}

/** The API of a kind, as `Candidate.apis` has it. */
export function apiName(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** The amount of a resource; 0 when the text is no quantity. */
export function amountOf(resource: string, quantity: unknown): number {
  const parsed = parseQuantity(String(quantity));
  if (parsed === undefined) return 0;
  return Number(resource === "cpu" ? quantityMilliValue(parsed) : quantityValue(parsed));
}

export function readAmounts(list: unknown): Map<string, number> {
  const amounts = new Map<string, number>();
  if (isFields(list))
    for (const [name, quantity] of Object.entries(list))
      amounts.set(name, amountOf(name, quantity));
  return amounts;
}

function isReady(condition: unknown): boolean {
  return textAt(condition, "type") === "Ready" && textAt(condition, "status") === "True";
}

function isStaleCopies(condition: unknown): boolean {
  return (
    textAt(condition, "type") === "StaleCopiesRemoved" && textAt(condition, "status") === "False"
  );
}

function readTaint(taint: unknown): CandidateTaint {
  const key = textAt(taint, "key");
  const value = textAt(taint, "value");
  const effect = textAt(taint, "effect");
  const text = value === "" ? `{${key}:${effect}}` : `{${key}=${value}:${effect}}`;
  return { key, value, effect, timeAdded: parseTime(textAt(taint, "timeAdded")), text };
}

function readApis(cluster: Cluster): ReadonlySet<string> {
  const apis = new Set<string>();
  for (const group of listAt(cluster, "status", "apiEnablements"))
    for (const resource of listAt(group, "resources"))
      apis.add(apiName(textAt(group, "groupVersion"), textAt(resource, "kind")));
  return apis;
}

function readRoom(cluster: Cluster): ClusterRoom | undefined {
  const summary = valueAt(cluster, "status", "resourceSummary");
  if (!isFields(summary)) return undefined;
  const free = readAmounts(fieldsAt(summary, "allocatable"));
  const nodes = countAt(cluster, "status", "nodeSummary", "totalNum");
  const podsPerNode = nodes === 0 ? Infinity : Math.ceil((free.get(PODS) ?? 0) / nodes);
  let pods = 0;
  for (const part of ["allocated", "allocating"])
    for (const [name, amount] of readAmounts(fieldsAt(summary, part))) {
      free.set(name, (free.get(name) ?? 0) - amount);
      if (name === PODS) pods += amount;
    }
  for (const [name, amount] of free) if (amount < 0) free.set(name, 0);
  return { free, pods, podsPerNode, grades: readGrades(cluster, summary) };
}

function readGrades(cluster: Cluster, summary: unknown): readonly NodeGrade[] {
  const counts = new Map<unknown, number>();
  for (const one of listAt(summary, "allocatableModelings"))
    counts.set(valueAt(one, "grade"), Math.max(0, Number(valueAt(one, "count")) || 0));
  if (counts.size === 0) return [];
  return listAt(cluster, "spec", "resourceModels").map((model) => {
    const ranges = listAt(model, "ranges");
    const bound = (which: "min" | "max"): Amounts =>
      new Map(
        ranges.map((range) => {
          const name = textAt(range, "name");
          return [name, amountOf(name, valueAt(range, which))];
        }),
      );
    const count = counts.get(valueAt(model, "grade")) ?? 0;
    return { count, min: bound("min"), max: bound("max") };
  });
}
