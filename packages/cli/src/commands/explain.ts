/**
 * `lifeboat explain KIND/NAME`: why a workload runs where it runs, cluster by cluster. What is printed is decided anew by
 * the scheduler's own function from the objects of the API, so it is the answer of this moment.
 */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  findCondition,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  candidateOf,
  type Fleet,
  fleetOf,
  place,
  type PlacementDecision,
  placementReasons,
  purgesUnderWay,
  reservedBy,
  scheduleReasons,
  type Target,
  type Verdict,
  verdictsOf,
  whatHelps,
  whyDue,
} from "@lifeboat/core";
import type { Command } from "commander";
import { findBinding, namespaceOption, parseWorkload } from "../find-binding.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { hanging } from "../wrap.ts";

export const explainOptions: readonly OptionDefinition[] = [...planeOptions, namespaceOption];

export function addExplain(program: Command): void {
  const command = program
    .command("explain")
    .description("Say why a workload runs where it runs")
    .argument("<WORKLOAD>", "its kind and name, such as deployment/web");
  declareOptions(command, explainOptions).action(async (workload: string) => {
    await inWords(() => explain(workload, readSettings(command, explainOptions)));
  });
}

async function explain(workload: string, settings: Settings): Promise<void> {
  const named = parseWorkload(workload, settings.requiredText("namespace"));
  const plane = await findPlane(settings);
  try {
    const { client } = plane;
    const binding = await findBinding(client, named);
    const all = await Promise.all([
      client.list(resourceBindings),
      client.list(clusterResourceBindings),
    ]);
    const found = {
      binding,
      bindings: all.flatMap(({ items }) => items),
      clusters: (await client.list(clusters)).items,
    };
    process.stdout.write(explainPlacement(found, createRealClock().now()));
  } finally {
    plane.close();
  }
}

export interface Found {
  readonly binding: ResourceBinding;
  /** All of them, for the room that they have been promised. */
  readonly bindings: readonly ResourceBinding[];
  readonly clusters: readonly Cluster[];
}

/** The lines for people, at most 80 columns. */
export function explainPlacement(
  { binding, bindings, clusters: given }: Found,
  now: Instant,
): string {
  const fleet = fleetOf(given.map(candidateOf));
  const waitForPurge = purgesUnderWay(binding);
  const view = {
    binding,
    fleet,
    reserved: reservedBy(bindings),
    ...(waitForPurge !== undefined && { waitForPurge }),
  };
  const decision = place(view, now);
  const help = whatHelps(decision.explanation);
  return [
    ...summary(binding, decision, fleet),
    "",
    ...verdictLines(verdictsOf(fleet, decision.explanation), binding),
    ...(help.length === 0 ? [] : ["", "What would let more clusters in:"]),
    ...help.flatMap((one) => hanging("  - ", one)),
    "",
  ].join("\n");
}

const LABEL = 11;

function summary(
  binding: ResourceBinding,
  decision: PlacementDecision,
  fleet: Fleet,
): readonly string[] {
  const { resource, replicas, clusters: result = [] } = binding.spec;
  const where = resource.namespace === undefined ? "" : `${resource.namespace}/`;
  const scheduled = findCondition(binding.status?.conditions, "Scheduled");
  const due = whyDue(binding, fleet);
  const isOther = due !== undefined && shares(result) !== shares(decision.clusters);
  const line = (label: string, text: string): readonly string[] =>
    hanging(label.padEnd(LABEL), text);
  return [
    ...line("Workload", `${resource.kind} ${where}${resource.name}${count(replicas)}`),
    ...line("Runs on", result.length === 0 ? "no cluster" : shares(result)),
    ...(scheduled === undefined
      ? []
      : line("Scheduled", `${scheduled.status}, ${scheduled.reason}: ${scheduled.message}`)),
    ...line("Decision", `${decision.reason}: ${placementReasons[decision.reason]}`),
    ...(decision.affinityName === "" ? [] : line("Group", decision.affinityName)),
    ...(isOther ? line("Would be", `${shares(decision.clusters)} (${scheduleReasons[due]})`) : []),
  ];
}

function count(replicas: number | undefined): string {
  return replicas === undefined ? "" : `, ${replicas} replica${replicas === 1 ? "" : "s"}`;
}

function shares(targets: readonly Target[]): string {
  const sorted = targets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted
    .map(({ name, replicas }) => (replicas === undefined ? name : `${name}:${replicas}`))
    .join(", ");
}

function verdictLines(verdicts: readonly Verdict[], binding: ResourceBinding): readonly string[] {
  if (verdicts.length === 0) return ["No clusters are joined: join one with `lifeboat join`."];
  const present = new Set((binding.spec.clusters ?? []).map(({ name }) => name));
  const width = Math.min(40, Math.max(7, ...verdicts.map(({ cluster }) => cluster.length))) + 2;
  const head = `${"CLUSTER".padEnd(width)}FITS   WHY`;
  const lines = verdicts.flatMap(({ cluster, fits, filter, message }) => {
    const answer = fits ? (filter === "" ? "yes" : "keeps") : "no";
    const plain = present.has(cluster) ? "holds a copy" : "";
    // One cluster is meant here, not several.
    const why = filter === "" ? plain : `${filter}: ${message.replace(/^cluster\(s\) /, "")}`;
    const name = cluster.padEnd(width);
    return hanging(`${name}${name.endsWith(" ") ? "" : " "}${answer.padEnd(7)}`, why);
  });
  return [head, ...lines];
}
