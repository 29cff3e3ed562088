/**
 * Where a workload runs, and why.
 *
 *   filter ──▶ score, room ──▶ select (spread constraints) ──▶ divide (replicas)        for each affinity group in order
 *
 * 1. The same view and time give the same plan; every view gives one.
 * 2. Filters that do not bind leave a cluster what it has, and only keep it from growing (D14).
 * 3. Failing never empties a result (D8): a cluster leaves it only when it is gone, or when no cluster fits and it is being
 *    deleted or a person excluded it, by an edit of the policy or of the cluster's labels and fields.
 * 4. Replicas whose old copy must go first are not placed (D10).
 * 5. A federated StatefulSet is placed by its shares instead (place-federated.ts).
 * 6. Between clusters with the same score and room the one with the fewest pods is taken, so that a burst spreads.
 */
import type { Moment } from "@lifeboat/base";
import { isFederated } from "../federated/record.ts";
import { compareText } from "../fields.ts";
import { divideReplicas } from "./division/replicas.ts";
import { type Candidate, PODS } from "./candidate.ts";
import { unfitMessage } from "./explain.ts";
import { checksOf, firstRejection } from "./filters/checks.ts";
import type { Asked, Rejection } from "./filters/filter.ts";
import { filters } from "./filters/registry.ts";
import type { Fit } from "./fit.ts";
import { placeFederated } from "./place-federated.ts";
import type { PlacementReason } from "./reasons.ts";
import { roomFor, UNLIMITED } from "./room.ts";
import { type AffinityTerm, isDivided, staticWeights } from "./rules.ts";
import { scores } from "./scores/registry.ts";
import { isSelective, select } from "./select.ts";
import type { Explanation, PlacementDecision, PlacementView, Target } from "./view.ts";
import { readWorkload, type Workload } from "./workload.ts";

/** Decides where the workload of a binding runs. `clusters` of the answer is always the result to keep. */
export function place(view: PlacementView, moment: Moment): PlacementDecision {
  if (isFederated(view.binding)) return placeFederated(view, moment);
  const workload = readWorkload(view.binding);
  let failure: Attempt | undefined;
  for (const term of termsToTry(view, workload)) {
    const attempt = placeIn(term, view, workload, moment);
    const isDone = attempt.reason === "Placed" || attempt.reason === "AwaitingPurge";
    if (isDone) return { affinityName: term.name, ...attempt };
    failure ??= attempt;
  }
  // Terms are never empty, so there was a failure.
  const failed = failure ?? placeIn(NO_TERM, view, workload, moment);
  return { affinityName: "", ...failed };
}

/**
 * The groups in the order in which they are tried: from the one in use forwards. What is nowhere has none in use, and by an
 * edit the one of that name may have become another; both go to one before it rather than nowhere.
 */
function termsToTry(view: PlacementView, workload: Workload): readonly AffinityTerm[] {
  const { present, rules, isEdited } = workload;
  const first = firstTermOf(view, workload);
  const before = present.size === 0 || isEdited ? rules.terms.slice(0, first) : [];
  return [...rules.terms.slice(first), ...before];
}

/**
 * The group to begin with: the one in use. A result that does not lie in it and wholly in another was put there by a
 * person, who ordered a workload back to where it ran before, or by a scheduler that did not get to write the status
 * (due.ts); so that one is in use now.
 */
function firstTermOf({ fleet }: PlacementView, workload: Workload): number {
  const { firstTerm, present, rules, isFresh, isEdited } = workload;
  if (isFresh || isEdited || present.size === 0 || rules.terms.length === 1) return firstTerm;
  const holders = [...present.keys()].flatMap((name) => fleet.byName.get(name) ?? []);
  const inUse = rules.terms[firstTerm];
  if (holders.every((one) => inUse?.matches(one))) return firstTerm;
  const other = rules.terms.findIndex((term) => holders.every((one) => term.matches(one)));
  return other < 0 ? firstTerm : other;
}

type Attempt = Omit<PlacementDecision, "affinityName">;
const NO_TERM: AffinityTerm = { name: "", matches: () => false, usesLabels: false };
const SUCCESS = "Binding has been scheduled successfully.";

function placeIn(
  term: AffinityTerm,
  view: PlacementView,
  workload: Workload,
  moment: Moment,
): Attempt {
  const { api, rules, evictedFrom } = workload;
  const { fits, explanation } = filter(view, workload, { api, rules, term, evictedFrom, moment });
  const fail = (reason: PlacementReason, message: string): Attempt => ({
    reason,
    message,
    clusters: reason === "NoClusterFit" ? staying(view, workload) : existing(view, workload),
    explanation,
  });
  if (fits.length === 0) return fail("NoClusterFit", unfitMessage(explanation));
  const waits = view.waitForPurge !== undefined;
  const open = waits && !divides(workload) ? fits.filter(({ isPresent }) => isPresent) : fits;
  if (open.length === 0) return fail("AwaitingPurge", AWAITING);
  const selection = select({
    fits: open,
    rules,
    needed: neededRoom(workload),
    replicas: workload.replicas,
    anew: workload.isFresh,
  });
  if (selection.kind === "refused")
    return waits ? fail("AwaitingPurge", AWAITING) : fail("ConstraintsUnmet", selection.message);
  const targets = assign(selection.fits, view, workload);
  if (typeof targets === "number")
    return fail(
      "Unschedulable",
      `Clusters available replicas ${targets} are not enough to schedule.`,
    );
  if (waits) return { reason: "AwaitingPurge", message: AWAITING, clusters: targets, explanation };
  return { reason: "Placed", message: SUCCESS, clusters: targets, explanation };
}

const AWAITING = "Waiting until the old copy is gone, as the purge mode Directly asks.";

/** Whether replicas are counted out and divided. */
function divides({ rules, hasShares }: Workload): boolean {
  return hasShares && isDivided(rules);
}

function neededRoom({ rules, replicas, hasComponents }: Workload): number | undefined {
  if (!isDivided(rules)) return undefined;
  return hasComponents ? 1 : replicas;
}

interface Filtered {
  readonly fits: readonly Fit[];
  readonly explanation: Explanation;
}

function filter(view: PlacementView, workload: Workload, asked: Asked): Filtered {
  const { fleet } = view;
  const checks = checksOf(filters, asked, fleet);
  const bindingChecks = checksOf(binding, asked, fleet);
  const scorings = scores.flatMap((one) => one.prepare(asked, fleet) ?? []);
  const fits: Fit[] = [];
  const verdicts: (Rejection | undefined)[] = [];
  const keepers = new Map<string, Rejection>();
  const seesRoom = needsRoom(workload);
  for (const candidate of fleet.candidates) {
    const rejection = firstRejection(candidate, checks);
    const isPresent = workload.present.has(candidate.name);
    if (rejection !== undefined) {
      if (!isPresent || firstRejection(candidate, bindingChecks) !== undefined) {
        verdicts.push(rejection);
        continue;
      }
      keepers.set(candidate.name, rejection);
    }
    verdicts.push(undefined);
    const mayGrow = rejection === undefined;
    const room = mayGrow && seesRoom ? roomIn(candidate, view, workload) : UNLIMITED;
    const load = loadOf(candidate, view);
    let score = 0;
    for (const scoreOf of scorings) score += scoreOf(candidate, isPresent);
    const known = { mayGrow, score, room: mayGrow ? room : 0, load };
    fits.push(fitOf(candidate, workload, isPresent, known));
  }
  return { fits, explanation: { verdicts, keepers } };
}

const binding = filters.filter(({ binds }) => binds);

/** Whether it matters how much room there is: counting it is the dearest part. */
function needsRoom({ rules, replicas, hasComponents }: Workload): boolean {
  if (replicas === 0 && !hasComponents) return false;
  const { style } = rules.division;
  return style === "dynamic" || style === "aggregated" || isSelective(rules);
}

function roomIn(candidate: Candidate, view: PlacementView, workload: Workload): number {
  const { name } = candidate;
  const room = roomFor(candidate.room, workload.request, view.reserved.get(name));
  const estimate = view.estimates?.get(name);
  return estimate === undefined || estimate < 0 ? room : Math.min(room, Math.floor(estimate));
}

function loadOf({ name, room }: Candidate, { reserved }: PlacementView): number {
  return (room?.pods ?? 0) + (reserved.get(name)?.get(PODS) ?? 0);
}

/** `room`: how many more replicas it may get; 0 for one that keeps what it has. */
function fitOf(
  candidate: Candidate,
  workload: Workload,
  isPresent: boolean,
  { mayGrow, score, room, load }: Pick<Fit, "mayGrow" | "score" | "room" | "load">,
): Fit {
  const current = (isPresent ? workload.present.get(candidate.name) : 0) ?? 0;
  return { candidate, isPresent, current, mayGrow, score, room, load, available: room + current };
}

/** The result, or how many replicas there is room for when that is not enough. */
function assign(
  fits: readonly Fit[],
  view: PlacementView,
  workload: Workload,
): readonly Target[] | number {
  const { rules, replicas, uid } = workload;
  if (!workload.hasShares) return byName(fits.map(({ candidate: { name } }) => ({ name })));
  const { division } = rules;
  if (division.style === "duplicated")
    return byName(fits.map(({ candidate: { name } }) => targetOf(name, replicas)));
  const weights = staticWeights(
    fits.map(({ candidate }) => candidate),
    rules,
  );
  if (replicas === 0) return byName(holdersOfNone(fits, weights).map(({ name }) => ({ name })));
  const holders = fits.map(({ candidate: { name }, current, room, mayGrow, load }, i) => {
    const weight = weights[i] ?? 0;
    return {
      name,
      current: isStatic(workload) && weight === 0 ? 0 : current,
      room,
      weight,
      mayGrow,
      load,
    };
  });
  const anew = workload.isFresh || (isStatic(workload) && workload.isEdited);
  // What is there already does not wait for a purge elsewhere: it would go and come back when fewer are asked for.
  const steady = anew ? 0 : holders.reduce((sum, { current }) => sum + current, 0);
  const divided = divideReplicas({
    total: Math.max(0, replicas - (view.waitForPurge ?? 0), Math.min(replicas, steady)),
    holders,
    style: division.style,
    anew,
    tieBreaker: uid,
  });
  if (divided.kind === "short") return divided.available;
  const shares = [...divided.shares].filter(([, share]) => share > 0);
  return byName(shares.map(([name, share]) => targetOf(name, share)));
}

/**
 * The clusters of a divided workload that is scaled to 0: those that have a copy keep it, with no replicas, as a Deployment of 0
 * stays in one cluster; where there is no copy yet, every cluster that could get a share.
 */
function holdersOfNone(
  fits: readonly Fit[],
  weights: readonly number[],
): readonly { readonly name: string }[] {
  const sharing = fits.filter((_fit, i) => weights[i] !== 0);
  const present = sharing.filter(({ isPresent }) => isPresent);
  return (present.length > 0 ? present : sharing).map(({ candidate }) => candidate);
}

function isStatic({ rules }: Workload): boolean {
  return rules.division.style === "static";
}

function targetOf(name: string, replicas: number): Target {
  return replicas > 0 ? { name, replicas } : { name };
}

function byName(targets: readonly Target[]): readonly Target[] {
  return targets.toSorted((a, b) => compareText(a.name, b.name));
}

/** The result as it is, without clusters that are gone: nothing of the workload is there. */
function existing({ fleet }: PlacementView, { present }: Workload): readonly Target[] {
  const names = [...present].filter(([name]) => fleet.byName.has(name));
  return byName(names.map(([name, replicas]) => targetOf(name, replicas)));
}

/**
 * What stays of a result when no cluster fits. A cluster that no group of the placement means is excluded by a person, who
 * edited the policy or the cluster's labels and fields.
 */
function staying(view: PlacementView, workload: Workload): readonly Target[] {
  const { rules } = workload;
  return existing(view, workload).filter(({ name }) => {
    const candidate = view.fleet.byName.get(name);
    if (candidate === undefined || candidate.isDeleting) return false;
    return rules.terms.some(({ matches }) => matches(candidate));
  });
}
