/**
 * The state of the whole fleet as a page that a person acts on: one sentence about the impact, what waits for a person, what is
 * short and why, and the clusters.
 *
 *   Unknown    no controllers run: what is known is of the past
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
  | { readonly state: "Never" }
  /** No replica holds the Lease. */
  | { readonly state: "Away"; readonly since: Instant | undefined };

export interface StatusPageView extends WaitsView, ClusterRowsView {
  readonly controllers: ControllersState;
  /** Clusters that count as Ready and did not answer the last probe; undefined: not known. */
  readonly notAnswering?: ReadonlySet<string> | undefined;
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
  /** Workloads with replicas. */
  readonly workloads: number;
  readonly short: readonly ShortWorkload[];
  readonly waits: readonly Wait[];
  readonly clusters: readonly ClusterRow[];
}

export function statusPage(view: StatusPageView, now: Instant): StatusPage {
  const byName = new Map(view.clusters.map((one) => [one.metadata.name, one]));
  const clusterOf = (name: string) => byName.get(name);
  const counted = view.bindings.filter(
    (one) => strengthOf(one, clusterOf, view.trust) !== undefined,
  );
  const short = counted.flatMap((binding: ResourceBinding): readonly ShortWorkload[] => {
    const why = shortfallsOf(binding, clusterOf);
    return why.length === 0 ? [] : [{ workload: workloadOf(binding), why }];
  });
  const clusters = clusterRows(view, now);
  const waits = waitsOf(view);
  const facts: Facts = {
    workloads: counted.length,
    short: short.length,
    waits: waits.length,
    clusters,
    notAnswering: view.notAnswering ?? new Set(),
  };
  const verdict = verdictOf(facts, view.controllers);
  const isWell = verdict === "Well" || verdict === "Empty";
  return {
    verdict,
    sentence: sentenceOf(verdict, facts, view.controllers, now),
    exitCode: waits.length > 0 ? 4 : isWell ? 0 : 3,
    workloads: counted.length,
    short: short.toSorted((a, b) => (a.workload < b.workload ? -1 : 1)),
    waits,
    clusters,
  };
}

interface Facts {
  readonly workloads: number;
  readonly short: number;
  readonly waits: number;
  readonly clusters: readonly ClusterRow[];
  readonly notAnswering: ReadonlySet<string>;
}

const DOWN: readonly ClusterRow["health"][] = ["NotReady", "Silent"];

function verdictOf(facts: Facts, { state }: ControllersState): Verdict {
  if (state !== "Running") return "Unknown";
  const isDown = facts.clusters.some(({ health, isFailed }) => isFailed || DOWN.includes(health));
  if (facts.short > 0 || isDown) return "Degraded";
  if (facts.waits > 0) return "Waits";
  return facts.clusters.length === 0 ? "Empty" : "Well";
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
  const parts =
    verdict === "Unknown"
      ? [controllersText(controllers, now), ...waitsPart(facts.waits)]
      : [...workloadsPart(facts, verdict), ...waitsPart(facts.waits), ...clusterParts(facts)];
  return `${WORDS[verdict]}: ${parts.join(", ")}`;
}

function controllersText(controllers: ControllersState, now: Instant): string {
  if (controllers.state !== "Away") return "no controllers have run on this control plane";
  const { since } = controllers;
  const age = since === undefined ? "an unknown time" : humanDuration(now - since);
  return `no controllers have run for ${age}; what follows is as old as that`;
}

function workloadsPart({ workloads, short, clusters }: Facts, verdict: Verdict): readonly string[] {
  if (short > 0) return [`${short} of ${counted(workloads, "workload")} short`];
  const whole = workloads === 0 ? "no workloads" : `${counted(workloads, "workload")} whole`;
  if (clusters.length === 0) return [];
  return [verdict === "Degraded" ? whole : `${whole} on ${counted(clusters.length, "cluster")}`];
}

function waitsPart(waits: number): readonly string[] {
  if (waits === 0) return [];
  return [waits === 1 ? "1 decision waits for you" : `${waits} decisions wait for you`];
}

function clusterParts({ clusters, notAnswering }: Facts): readonly string[] {
  if (clusters.length === 0) return ["no cluster is joined"];
  const part = (word: string, is: (row: ClusterRow) => boolean): readonly string[] => {
    const count = clusters.filter(is).length;
    return count === 0 ? [] : [`${count} of ${counted(clusters.length, "cluster")} ${word}`];
  };
  return [
    ...part("down", ({ health }) => health === "NotReady"),
    ...part("silent", ({ health }) => health === "Silent"),
    ...part("failed", ({ health, isFailed }) => isFailed && !DOWN.includes(health)),
    ...part("not answering", ({ name, health }) => health === "Ready" && notAnswering.has(name)),
    ...part("not probed yet", ({ health }) => health === "Unprobed"),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
