/**
 * Where a federated StatefulSet runs: in the clusters that have a share of it (D15).
 *
 * 1. The result is the record of shares, cluster by cluster. Taints, evictions, orders to place again and edits of the policy
 *    change no share; a person's edit of the result is undone.
 * 2. A share grows only in a living cluster that passes every filter, and shrinks only in a living one.
 * 3. A cluster that no longer exists keeps its share in the record, and is in the result again when it joins again.
 * 4. Of ordered groups of clusters the first that has a living cluster grows.
 * 5. The replicas of a quorum start one cluster after the other (federated/start.ts) and leave one after the other
 *    (federated/departure.ts): the result holds what is started.
 * 6. A record that cannot be read changes nothing.
 */
import type { ResourceBinding } from "@lifeboat/api";
import type { Moment } from "@lifeboat/base";
import { resultOf } from "../binding/index.ts";
import { confirmedDepartures, isQuorum } from "../federated/marks.ts";
import type { DepartureView } from "../federated/departure.ts";
import { nameProblem } from "../federated/names.ts";
import { type FederatedRecord, readFederated } from "../federated/record.ts";
import { decideShares, type SharesDecision, shareReasons } from "../federated/shares.ts";
import { decideStart, startedShares, type StartView } from "../federated/start.ts";
import { compareText, countAt } from "../fields.ts";
import type { Candidate } from "./candidate.ts";
import { checksOf, firstRejection } from "./filters/checks.ts";
import type { Rejection } from "./filters/filter.ts";
import { filters } from "./filters/registry.ts";
import { type AffinityTerm, staticWeights } from "./rules.ts";
import type { PlacementDecision, PlacementView, Target } from "./view.ts";
import { readWorkload, type Workload } from "./workload.ts";

const UNREADABLE =
  "The shares of this federated StatefulSet cannot be read from the binding's annotations; nothing changes until a person repairs them.";
const SUCCESS = "Binding has been scheduled successfully.";

/** The placement of a federated StatefulSet. */
export function placeFederated(view: PlacementView, moment: Moment): PlacementDecision {
  const { binding, fleet } = view;
  const workload = readWorkload(binding);
  const record = readFederated(binding);
  const fitting = fittingIn(view, workload, moment);
  const { explanation, affinityName } = fitting;
  if (record === undefined) {
    const clusters = [...resultOf(binding)];
    return { reason: "Unschedulable", message: UNREADABLE, clusters, affinityName, explanation };
  }
  const { rules, replicas } = workload;
  const weigh = (clusters: readonly Candidate[]) => {
    const weights = staticWeights(clusters, rules);
    return clusters.map(({ name }, i) => ({ name, weight: weights[i] ?? 1 }));
  };
  const living = fleet.candidates.filter(({ isReady }) => isReady);
  const quorum = isQuorum(binding);
  const reports = reportsOf(binding);
  const decision = decideShares({
    replicas,
    record,
    quorum: quorum ? departuresOf(view, reports, moment) : undefined,
    growing: weigh(fitting.growing),
    // A weight of 0 gives a cluster no more, and takes nothing from it before the others: all shrink alike then.
    shrinking: weigh(living).map(({ name, weight }) => ({ name, weight: Math.max(weight, 1) })),
  });
  const { started: _former, ...kept } = decision.record;
  const shared = { ...kept, clusters: reachOf(view, workload, record, fitting.growing) };
  const names = new Set(living.map(({ name }) => name));
  const next = quorum
    ? { ...shared, ...decideStart({ ...reports, record: decision.record, living: names }) }
    : shared;
  return {
    ...outcomeOf(decision),
    clusters: targets(view, next),
    affinityName,
    explanation,
    federated: next,
    ...(decision.again !== undefined && { again: decision.again }),
  };
}

function departuresOf(
  { binding, letGoTimeoutMs = 0 }: PlacementView,
  { ready, present }: Reports,
  moment: Moment,
): DepartureView {
  const letGo = confirmedDepartures(binding);
  const set = binding.spec.resource.name;
  return { set, letGo, limitMs: letGoTimeoutMs, ready, present, moment };
}

type Reports = Pick<StartView, "running" | "ready" | "present">;

/** What the present result gives each cluster, and what is reported there. */
function reportsOf(binding: ResourceBinding): Reports {
  const { status } = binding;
  const running = new Map(resultOf(binding).map(({ name, replicas = 0 }) => [name, replicas]));
  const reported = (field: string) =>
    new Map(
      (status?.aggregatedStatus ?? []).map(({ clusterName, status: one }) => [
        clusterName,
        countAt(one, field),
      ]),
    );
  return { running, ready: reported("readyReplicas"), present: reported("replicas") };
}

function outcomeOf({
  reason,
  missing,
}: SharesDecision): Pick<PlacementDecision, "reason" | "message"> {
  if (reason === "Complete") return { reason: "Placed", message: SUCCESS };
  const counted =
    missing > 0 ? `${missing} replicas are missing` : `${-missing} replicas are too many`;
  const message = `${shareReasons[reason]} (${counted})`;
  return { reason: reason === "NoLivingCluster" ? "Unschedulable" : "Placed", message };
}

function targets({ fleet }: PlacementView, record: FederatedRecord): readonly Target[] {
  return [...startedShares(record)]
    .filter(([name]) => fleet.byName.has(name))
    .map(([name, replicas]) => ({ name, replicas }))
    .toSorted((a, b) => compareText(a.name, b.name));
}

interface Fitting {
  readonly growing: readonly Candidate[];
  readonly affinityName: string;
  readonly explanation: PlacementDecision["explanation"];
}

function fittingIn(view: PlacementView, workload: Workload, moment: Moment): Fitting {
  let first: Fitting | undefined;
  for (const term of workload.rules.terms) {
    const fitting = fittingInTerm(term, view, workload, moment);
    if (fitting.growing.length > 0) return fitting;
    first ??= fitting;
  }
  return (
    first ?? { growing: [], affinityName: "", explanation: { verdicts: [], keepers: new Map() } }
  );
}

const NOT_READY: Rejection = Object.freeze({
  filter: "Living",
  message: "cluster(s) were not ready, and a federated StatefulSet grows in living clusters only",
  help: "wait until the cluster is ready",
});

function fittingInTerm(
  term: AffinityTerm,
  { fleet, binding }: PlacementView,
  { api, rules }: Workload,
  moment: Moment,
): Fitting {
  const asked = { api, rules, term, evictedFrom: new Set<string>(), moment };
  const checks = checksOf(filters, asked, fleet);
  const set = binding.spec.resource.name;
  const verdicts = fleet.candidates.map(
    (candidate) =>
      firstRejection(candidate, checks) ??
      (candidate.isReady ? unnamable(set, candidate) : NOT_READY),
  );
  const growing = fleet.candidates.filter((_one, i) => verdicts[i] === undefined);
  return { growing, affinityName: term.name, explanation: { verdicts, keepers: new Map() } };
}

/** Admission and join refuse such names; this is for a set and a cluster that came at the same moment. */
function unnamable(set: string, { name }: Candidate): Rejection | undefined {
  const problem = nameProblem(set, name);
  if (problem === undefined) return undefined;
  return {
    filter: "Name",
    message: `cluster(s) cannot be used: ${problem}`,
    help: "rename the set",
  };
}

/**
 * Every cluster that the set may be in: those that can grow, those with a share, and those that were so before and are still
 * meant by the placement. The headless Service is in all of them.
 */
function reachOf(
  { fleet }: PlacementView,
  { rules }: Workload,
  record: FederatedRecord,
  growing: readonly Candidate[],
): readonly string[] {
  const names = new Set(growing.map(({ name }) => name));
  for (const name of record.clusters) {
    const candidate = fleet.byName.get(name);
    const isMeant =
      candidate !== undefined && rules.terms.some(({ matches }) => matches(candidate));
    if (isMeant && !candidate.isDeleting) names.add(name);
  }
  return [...names].filter((name) => !record.forgotten.has(name)).toSorted(compareText);
}
