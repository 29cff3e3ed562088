/**
 * `lifeboat explain KIND/NAME`: why a workload runs where it runs, cluster by cluster. What is printed is decided anew by
 * the scheduler's own function from the objects of the API, so it is the answer of this moment.
 */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  evacuations,
  findCondition,
  humanDuration,
  type ResourceBinding,
  resourceBindings,
  type Work,
} from "@lifeboat/api";
import { type Clock, formatTime, type Instant, plainMoment } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { workloadOf } from "@lifeboat/core/clusters";
import { isDispatchingSuspended, isLeaving, isOn, resultOf } from "@lifeboat/core/binding";
import { sharesOf, staleSince } from "@lifeboat/core/operating";
import {
  type CandidateFleet,
  fleetViewOf,
  place,
  type PlacementDecision,
  ofOneCluster,
  placementReasons,
  type PlacementView,
  placementViewOf,
  roomByCluster,
  scheduleReasons,
  type Verdict,
  verdictsOf,
  whatHelps,
  whyDue,
} from "@lifeboat/core/placement";
import { whyUnscheduled } from "@lifeboat/core/propagation/matching";
import { entrySentence } from "@lifeboat/core/history";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { countOf, failoverLines, type FailoverView, type Line } from "../explain-failover.ts";
import { foresee, type Foresight, foresightLines, whyNoBinding } from "../explain-if-died.ts";
import { CommandFailed } from "../failure.ts";
import {
  findBinding,
  type NamedWorkload,
  namespaceOption,
  parseWorkload,
} from "../find-binding.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption, show, type Shown } from "../output.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { clusterTraffic } from "../traffic-text.ts";
import { withPlane } from "../with-plane.ts";
import { worksOf } from "../read-workload.ts";
import { columns, hanging } from "../wrap.ts";

export const explainOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  namespaceOption,
  outputOption(["text"]),
];

export function addExplain(program: Command): void {
  const command = program
    .command("explain")
    .description("Show why a workload runs where it runs")
    .argument("<WORKLOAD>", "its kind and name, such as deployment/web");
  declareOptions(command, explainOptions).action(async (workload: string) => {
    const settings = readSettings(command, explainOptions);
    const output = outputFrom(settings, ["text"]);
    const named = parseWorkload(workload, settings.requiredText("namespace"));
    await withPlane(settings, (plane) => explain(plane, named, output));
  });
}

async function explain(
  client: Client,
  named: NamedWorkload,
  output: Output<"text">,
): Promise<void> {
  const { lines, document } = await explainWorkload(client, createRealClock(), named);
  show(output, lines, document);
}

/** Reads what there is to explain; `lines` are for people, `document` is for programs. */
export async function explainWorkload(
  client: Client,
  clock: Clock,
  named: NamedWorkload,
): Promise<Shown> {
  const binding = await existingBinding(client, named);
  const all = await Promise.all([
    client.list(resourceBindings),
    client.list(clusterResourceBindings),
  ]);
  const found = {
    binding,
    bindings: all.flatMap(({ items }) => items),
    clusters: (await client.list(clusters)).items,
    works: await worksOf(client, binding),
    evacuations: (await client.list(evacuations)).items,
    settings: await readPublished(client),
  };
  const now = clock.now();
  const foresight = await foresee(client, found, now);
  return {
    lines: () => [...explainPlacement(found, now), ...foresightLines(foresight)],
    document: () => explainDocument(found, foresight, now),
  };
}

/** The binding; throws CommandFailed that tells a workload which is not there from one that no policy claims. */
async function existingBinding(plane: Client, named: NamedWorkload): Promise<ResourceBinding> {
  try {
    return await findBinding(plane, named);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw await whyNoBinding(plane, named);
  }
}

export interface Found extends FailoverView {
  /** All of them, for the room that they have been promised. */
  readonly bindings: readonly ResourceBinding[];
}

interface Decided {
  readonly view: PlacementView;
  readonly decision: PlacementDecision;
  readonly verdicts: readonly Verdict[];
  /** What would let more clusters in; empty where none is missing. */
  readonly help: readonly string[];
  /** For how many more replicas clusters have room, by name; undefined: that is not what is missing. */
  readonly room: ReadonlyMap<string, number> | undefined;
}

function decide({ binding, bindings, clusters: given }: Found, now: Instant): Decided {
  const view = placementViewOf(binding, fleetViewOf(given, bindings), "result");
  const decision = place(view, plainMoment(now));
  const isDone = decision.reason === "Placed" || decision.reason === "AwaitingPurge";
  return {
    view,
    decision,
    verdicts: verdictsOf(view.fleet, decision.explanation),
    help: isDone ? [] : whatHelps(decision.explanation),
    room: decision.reason === "Unschedulable" ? roomByCluster(view) : undefined,
  };
}

/** The same for programs; what is not known or does not apply is absent. */
export function explainDocument(
  found: Found,
  { ifDied, history }: Foresight,
  now: Instant,
): Readonly<Record<string, unknown>> {
  const { binding, works } = found;
  const { view, decision, verdicts, help, room } = decide(found, now);
  const { replicas, resource } = binding.spec;
  const result = resultOf(binding);
  const due = whyDue(binding, view.fleet);
  return {
    at: formatTime(now),
    workload: resource,
    replicas,
    runsOn: result.map((target) => ({
      ...target,
      ...(isUndispatched(binding, works, target.name) ? { suspended: true } : {}),
    })),
    scheduled: findCondition(binding.status?.conditions, "Scheduled"),
    decision: {
      reason: decision.reason,
      message: whyNone(binding) ?? decision.message,
      clusters: decision.clusters,
      ...(decision.affinityName === "" ? {} : { group: decision.affinityName }),
      ...(due === undefined ? {} : { due }),
    },
    failover: failoverLines(found, now).map(([about, text]) => ({ about, text })),
    clusters: verdicts.map(({ cluster, fits, filter, message }) => ({
      name: cluster,
      fits,
      ...(filter === "" ? {} : { filter, message }),
      holdsCopy: isOn(binding, cluster),
      leaving: isLeaving(binding, cluster),
      room: room?.get(cluster),
    })),
    help,
    ifDied,
    history: history.map((entry) => ({ ...entry, text: entrySentence(entry) })),
  };
}

/** The lines for people, at most 80 columns. */
export function explainPlacement(found: Found, now: Instant): readonly string[] {
  const { binding, clusters: given } = found;
  const decided = decide(found, now);
  const { view, decision, help } = decided;
  return [
    ...summary(binding, decision, view.fleet, {
      works: found.works,
      failover: failoverLines(found, now),
    }),
    ...clusterTraffic(
      given.filter(({ metadata }) => isOn(binding, metadata.name)),
      now,
    ).flatMap((text) => line("Traffic", text)),
    "",
    ...verdictLines(decided, unseenFor(given, now)),
    ...(help.length === 0 ? [] : ["", "What would let more clusters in:"]),
    ...help.flatMap((one) => hanging("  - ", one)),
  ];
}

const LABEL = 11;

function line(label: string, text: string): readonly string[] {
  return hanging(label.padEnd(LABEL), text);
}

function summary(
  binding: ResourceBinding,
  decision: PlacementDecision,
  fleet: CandidateFleet,
  { works, failover }: { readonly works: readonly Work[]; readonly failover: readonly Line[] },
): readonly string[] {
  const { replicas } = binding.spec;
  const result = resultOf(binding);
  const undispatched = result.filter(({ name }) => isUndispatched(binding, works, name));
  const running = result.filter((target) => !undispatched.includes(target));
  const due = whyDue(binding, fleet);
  const isOther = due !== undefined && sharesOf(result) !== sharesOf(decision.clusters);
  return [
    ...line("Workload", workloadOf(binding) + countOf(replicas)),
    ...line("Runs on", running.length === 0 ? "no cluster" : sharesOf(running)),
    ...undispatched.flatMap(({ name }) => line("Suspended", `${name}: ${NOT_DISPATCHED}`)),
    ...failover.flatMap(([label, text]) => (label === "Failover" ? [] : line(label, text))),
    ...scheduled(binding, decision),
    ...line("Decision", whyNone(binding) ?? inWordsOf(decision)),
    ...(decision.affinityName === "" ? [] : line("Group", decision.affinityName)),
    ...(isOther
      ? line("Would be", `${sharesOf(decision.clusters)} (${scheduleReasons[due]})`)
      : []),
    ...failover.flatMap(([label, text]) => (label === "Failover" ? line(label, text) : [])),
  ];
}

const NOT_DISPATCHED =
  "placed there, but no copy exists: dispatching is suspended by spec.suspension of the policy.";

/** Whether the workload is placed in a cluster and no copy was ever made there, because dispatching is suspended. */
function isUndispatched(binding: ResourceBinding, works: readonly Work[], name: string): boolean {
  const work = works.find((one) => clusterOfWork(one) === name);
  return (
    isDispatchingSuspended(binding, name) && (work?.status?.manifestStatuses ?? []).length === 0
  );
}

/** Why nothing is decided about a binding, whatever clusters would fit. */
function whyNone(binding: ResourceBinding): string | undefined {
  const why = whyUnscheduled(binding);
  if (why === "SchedulingSuspended") return SUSPENDED;
  const isNeeded = (binding.spec.requiredBy ?? []).length > 0;
  return why === undefined || isNeeded ? undefined : NOT_CLAIMED;
}

const SUSPENDED =
  "none: scheduling is suspended by spec.suspension.scheduling of the binding, and goes on when that is no longer true.";
const NOT_CLAIMED =
  "none: no policy claims the workload. Its copies stay where they are, and it is not placed again until a policy claims it.";

/** What stands in the binding; with its message only where that is not what is decided now. */
function scheduled({ status }: ResourceBinding, decision: PlacementDecision): readonly string[] {
  const found = findCondition(status?.conditions, "Scheduled");
  if (found === undefined) return [];
  const { status: answer, reason, message, lastTransitionTime } = found;
  const since = lastTransitionTime ? ` since ${lastTransitionTime}` : "";
  const isNews = (answer === "True") !== (decision.reason === "Placed");
  return line("Scheduled", `${answer}${since}, ${reason}${isNews ? `: ${message}` : ""}`);
}

function inWordsOf({ reason, message }: PlacementDecision): string {
  const isNumbers = reason === "Unschedulable" || reason === "ConstraintsUnmet";
  return `${reason}: ${placementReasons[reason]}${isNumbers ? ` ${message}` : ""}`;
}

/** For how long clusters have not answered, by name: the status of their copies is as old as that. */
function unseenFor(clusters: readonly Cluster[], now: Instant): ReadonlyMap<string, string> {
  return new Map(
    clusters.flatMap((cluster) => {
      const since = staleSince(cluster)?.since;
      return since === undefined ? [] : [[cluster.metadata.name, humanDuration(now - since)]];
    }),
  );
}

function verdictLines(
  { view: { binding }, verdicts, room }: Decided,
  unseen: ReadonlyMap<string, string>,
): readonly string[] {
  if (verdicts.length === 0) return ["No clusters are joined: join one with `lifeboat join`."];
  return columns(
    ["CLUSTER", "FITS", "WHY"],
    verdicts.map((verdict) => {
      const { cluster, fits, filter } = verdict;
      const answer = fits ? (filter === "" ? "yes" : "keeps") : "no";
      const free = fits && filter === "" ? room?.get(cluster) : undefined;
      const why = [
        isOn(binding, cluster) ? `holds a copy${unseenText(unseen.get(cluster))}` : "",
        isLeaving(binding, cluster) ? "an old copy is leaving" : "",
        filter === "" ? "" : objection(verdict),
        free === undefined ? "" : `room for ${free} more`,
      ];
      return [cluster, answer, why.filter((part) => part !== "").join("; ")];
    }),
  );
}

function unseenText(span: string | undefined): string {
  return span === undefined ? "" : ` (not seen for ${span}: the cluster does not answer)`;
}

/** One cluster is meant here, not several; and one that only keeps what it has gets no more. */
function objection({ filter, fits, message }: Verdict): string {
  const said = `${filter}: ${ofOneCluster(message)}`;
  return fits ? `gets no more, by ${said}` : said;
}
