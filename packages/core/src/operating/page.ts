/**
 * The state of the whole fleet as a page that a person acts on: one sentence about the impact, what waits for a person, what is
 * short and why, and the clusters.
 *
 *   Unknown    no controllers run: what is known is of the past; or the user may not see all of it, and what is seen is well
 *   Degraded   a workload is short, or a cluster is down, silent or failed
 *   Waits      everything runs, and a decision waits for a person
 *   Empty      neither clusters nor workloads
 *   Well       otherwise
 */
import { humanDuration, type ResourceBinding } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { workloadOf } from "../clusters/stuck.ts";
import { type ClusterRow, clusterRows, type ClusterRowsView } from "./cluster-row.ts";
import { type Shortfall, shortfallsOf, strengthOf } from "./strength.ts";
import { type Wait, waitsOf, type WaitsView } from "./waits.ts";

export type Verdict = "Unknown" | "Degraded" | "Waits" | "Empty" | "Well";

/** Whether the controllers run, as far as is known. */
export type ControllersState =
  | { readonly state: "Running" }
  /** The user may not see it. */
  | { readonly state: "Hidden" }
  | { readonly state: "Never" }
  /** No replica holds the Lease. */
  | { readonly state: "Away"; readonly since: Instant | undefined };

/** What a user may not see. Without clusters the others cannot be judged either. */
export type Hidden = "clusters" | "workloads" | "decisions";

export interface StatusPageView extends WaitsView, ClusterRowsView {
  readonly controllers: ControllersState;
  /** Clusters that count as Ready and did not answer the last probe; undefined: not known. */
  readonly notAnswering?: ReadonlySet<string> | undefined;
  /** Absent: the user sees everything. */
  readonly hidden?: ReadonlySet<Hidden>;
}

export interface ShortWorkload {
  /** Such as `Deployment shop/cart`. */
  readonly workload: string;
  readonly why: readonly Shortfall[];
}

export interface StatusPage {
  readonly verdict: Verdict;
  readonly sentence: string;
  /** 0: well. 3: degraded or unknown. 4: a decision waits for a person. */
  readonly exitCode: 0 | 3 | 4;
  /** Workloads with replicas; absent: the user may not see them. */
  readonly workloads?: number;
  readonly short: readonly ShortWorkload[];
  readonly waits: readonly Wait[];
  readonly clusters: readonly ClusterRow[];
  /** What the user may not see; absent: nothing is hidden. */
  readonly hidden?: readonly Hidden[];
}

const ALL_HIDDEN: readonly Hidden[] = ["clusters", "workloads", "decisions"];

export function statusPage(view: StatusPageView, now: Instant): StatusPage {
  const hidden = view.hidden?.has("clusters") ? new Set(ALL_HIDDEN) : (view.hidden ?? new Set());
  const byName = new Map(view.clusters.map((one) => [one.metadata.name, one]));
  const clusterOf = (name: string) => byName.get(name);
  const counted = view.bindings.filter(
    (one) => strengthOf(one, clusterOf, view.trust) !== undefined,
  );
  const judged = hidden.has("clusters") ? [] : counted;
  const short = judged.flatMap((binding: ResourceBinding): readonly ShortWorkload[] => {
    const why = shortfallsOf(binding, clusterOf);
    return why.length === 0 ? [] : [{ workload: workloadOf(binding), why }];
  });
  const clusters = clusterRows(view, now);
  const waits = hidden.has("clusters") ? [] : waitsOf(view);
  const facts: Facts = {
    workloads: counted.length,
    short: short.length,
    waits: waits.length,
    clusters,
    notAnswering: view.notAnswering,
    hidden,
  };
  const verdict = verdictOf(facts, view.controllers);
  const isWell = verdict === "Well" || verdict === "Empty";
  return {
    verdict,
    sentence: sentenceOf(verdict, facts, view.controllers, now),
    exitCode: waits.length > 0 ? 4 : isWell ? 0 : 3,
    ...(hidden.has("workloads") ? {} : { workloads: counted.length }),
    short: short.toSorted((a, b) => (a.workload < b.workload ? -1 : 1)),
    waits,
    clusters,
    ...(hidden.size === 0 ? {} : { hidden: [...hidden] }),
  };
}

interface Facts {
  readonly workloads: number;
  readonly short: number;
  readonly waits: number;
  readonly clusters: readonly ClusterRow[];
  readonly notAnswering: ReadonlySet<string> | undefined;
  readonly hidden: ReadonlySet<Hidden>;
}

const DOWN: readonly ClusterRow["health"][] = ["NotReady", "Silent"];

function verdictOf(facts: Facts, { state }: ControllersState): Verdict {
  if (isStopped(state)) return "Unknown";
  const isDown = facts.clusters.some(({ health, isFailed }) => isFailed || DOWN.includes(health));
  if (facts.short > 0 || isDown) return "Degraded";
  if (facts.waits > 0) return "Waits";
  if (facts.hidden.size > 0 || state === "Hidden") return "Unknown";
  return facts.clusters.length === 0 ? "Empty" : "Well";
}

function isStopped(state: ControllersState["state"]): boolean {
  return state === "Never" || state === "Away";
}

const WORDS: Readonly<Record<Verdict, string>> = {
  Unknown: "UNKNOWN",
  Degraded: "DEGRADED",
  Waits: "WAITING",
  Empty: "EMPTY",
  Well: "WELL",
};

function sentenceOf(
  verdict: Verdict,
  facts: Facts,
  controllers: ControllersState,
  now: Instant,
): string {
  const parts = isStopped(controllers.state)
    ? [controllersText(controllers, now), ...waitsPart(facts.waits)]
    : [
        ...workloadsPart(facts, verdict),
        ...waitsPart(facts.waits),
        ...clusterParts(facts),
        ...probesPart(facts, verdict),
        ...hiddenPart(facts, controllers),
      ];
  return `${WORDS[verdict]}: ${parts.join(", ")}`;
}

function controllersText(controllers: ControllersState, now: Instant): string {
  if (controllers.state !== "Away") return "no controllers have run on this control plane";
  const { since } = controllers;
  const age = since === undefined ? "an unknown time" : humanDuration(now - since);
  return `no controllers have run for ${age}; what follows is as old as that`;
}

/** What the user may not see could be anything. */
function hiddenPart({ hidden }: Facts, { state }: ControllersState): readonly string[] {
  const what = [...hidden, ...(state === "Hidden" ? ["whether controllers run"] : [])];
  return what.length === 0 ? [] : [`you may not see ${what.join(" and ")}`];
}

function workloadsPart(
  { workloads, short, clusters, hidden }: Facts,
  verdict: Verdict,
): readonly string[] {
  if (hidden.has("workloads")) return [];
  if (short > 0) return [`${short} of ${counted(workloads, "workload")} short`];
  const whole = workloads === 0 ? "no workloads" : `${counted(workloads, "workload")} whole`;
  if (clusters.length === 0) return [];
  return [verdict === "Degraded" ? whole : `${whole} on ${counted(clusters.length, "cluster")}`];
}

function waitsPart(waits: number): readonly string[] {
  if (waits === 0) return [];
  return [waits === 1 ? "1 decision waits for you" : `${waits} decisions wait for you`];
}

function clusterParts({ clusters, notAnswering, hidden }: Facts): readonly string[] {
  if (hidden.has("clusters")) return [];
  if (clusters.length === 0) return ["no cluster is joined"];
  const part = (word: string, is: (row: ClusterRow) => boolean): readonly string[] => {
    const count = clusters.filter(is).length;
    return count === 0 ? [] : [`${count} of ${counted(clusters.length, "cluster")} ${word}`];
  };
  return [
    ...part("down", ({ health }) => health === "NotReady"),
    ...part("silent", ({ health }) => health === "Silent"),
    ...part("failed", ({ health, isFailed }) => isFailed && !DOWN.includes(health)),
    ...part(
      "not answering",
      ({ name, health }) => health === "Ready" && notAnswering?.has(name) === true,
    ),
    ...part("not probed yet", ({ health }) => health === "Unprobed"),
  ];
}

/** What is well by the last reports may have stopped answering since. */
function probesPart(
  { clusters, notAnswering, hidden }: Facts,
  verdict: Verdict,
): readonly string[] {
  if (verdict === "Degraded" || notAnswering !== undefined || hidden.has("clusters")) return [];
  return clusters.some(({ health }) => health === "Ready") ? ["probes not known here"] : [];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
