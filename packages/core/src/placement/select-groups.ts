/**
 * Which regions (or providers, or zones) a workload is spread over.
 *
 * Groups get a score from the room and the scores of their clusters; combinations with enough groups and enough clusters
 * compete by the sum of scores, then by the number of clusters, then by the least load. A combination is not made larger than it must be.
 *
 * 1. Unless a WorkloadRebalancer orders a fresh placement, the groups in use are kept when they satisfy the constraints,
 *    and as many of them as possible when they do not.
 * 2. Combinations grow fast: beyond twelve groups the best are taken one after the other instead.
 */
import { compareText } from "../fields.ts";
import type { Fit } from "./fit.ts";
import type { SpreadField, SpreadRule } from "./rules.ts";

export interface Grouped {
  readonly name: string;
  /** In order of preference. */
  readonly fits: readonly Fit[];
  readonly score: number;
  /** The load of its best cluster. */
  readonly load: number;
  /** Whether a copy runs in it. */
  readonly isUsed: boolean;
}

const MOST_COMBINED = 12;
/** Room outweighs every score of clusters. */
const ROOM_WEIGHT = 1000;

/** `ordered`: in order of preference. */
export function groupsFor(
  ordered: readonly Fit[],
  field: SpreadField,
  rule: SpreadRule,
  clusters: SpreadRule,
  request: { readonly needed: number | undefined; readonly replicas: number },
): readonly Grouped[] {
  const byName = new Map<string, Fit[]>();
  for (const fit of ordered) {
    const name = nameOf(fit, field);
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [fit]);
    else known.push(fit);
  }
  const { needed, replicas } = request;
  return [...byName].map(([name, fits]) => ({
    name,
    fits,
    isUsed: fits.some(({ isPresent }) => isPresent),
    load: fits[0]?.load ?? 0,
    score:
      needed === undefined
        ? scoreOfCopies(fits, replicas)
        : scoreOfShare(fits, Math.ceil(needed / rule.min), Math.max(clusters.min, rule.min)),
  }));
}

function nameOf({ candidate }: Fit, field: SpreadField): string {
  if (field === "zone") return candidate.zones[0] ?? "";
  return field === "provider" ? candidate.provider : candidate.region;
}

/** Every cluster gets all replicas: those with room for all of them count. */
function scoreOfCopies(fits: readonly Fit[], replicas: number): number {
  let roomy = 0;
  let score = 0;
  for (const fit of fits) {
    if (fit.available < replicas) continue;
    roomy += 1;
    score += fit.score;
  }
  return roomy === 0 ? 0 : roomy * ROOM_WEIGHT + Math.floor(score / roomy);
}

/** Replicas are divided: how much of a fair share the best clusters have room for. */
function scoreOfShare(fits: readonly Fit[], share: number, atLeast: number): number {
  let counted = 0;
  let room = 0;
  let score = 0;
  for (const fit of fits) {
    if (counted >= atLeast && room >= share) break;
    counted += 1;
    room += fit.available;
    score += fit.score;
  }
  return room < share
    ? room * ROOM_WEIGHT + Math.floor(score / fits.length)
    : share * ROOM_WEIGHT + Math.floor(score / counted);
}

interface Combination {
  readonly groups: readonly Grouped[];
  readonly used: number;
  readonly score: number;
  readonly clusters: number;
  readonly load: number;
  /** When it was found. */
  readonly order: number;
}

/** The groups to spread over; undefined: no combination has enough clusters. */
export function selectGroups(
  groups: readonly Grouped[],
  rule: SpreadRule,
  clusters: SpreadRule,
  anew: boolean,
): readonly Grouped[] | undefined {
  const used = anew ? [] : groups.filter(({ isUsed }) => isUsed);
  if (satisfies(used, rule, clusters.min)) return used;
  if (groups.length > MOST_COMBINED) return takeBest(groups, rule, clusters.min, anew);
  return winnerOf(combine(groups.toSorted(bySize), rule, clusters.min), anew);
}

function satisfies(groups: readonly Grouped[], rule: SpreadRule, minClusters: number): boolean {
  return (
    groups.length >= rule.min &&
    groups.length <= rule.max &&
    groups.reduce((all, { fits }) => all + fits.length, 0) >= minClusters
  );
}

function winnerOf(
  combinations: readonly Combination[],
  anew: boolean,
): readonly Grouped[] | undefined {
  const kept = (one: Combination): number => (anew ? 0 : one.used);
  const ranked = combinations.toSorted(
    (a, b) =>
      kept(b) - kept(a) ||
      b.score - a.score ||
      b.clusters - a.clusters ||
      a.load - b.load ||
      a.order - b.order,
  );
  let [winner] = ranked;
  for (const other of ranked)
    if (winner !== undefined && isBeginning(other.groups, winner.groups)) winner = other;
  return winner?.groups;
}

/** For many groups: the best ones one after the other, or the largest ones if those have too few clusters. */
function takeBest(
  groups: readonly Grouped[],
  rule: SpreadRule,
  minClusters: number,
  anew: boolean,
): readonly Grouped[] | undefined {
  const byScore = groups.toSorted(
    (a, b) =>
      (anew ? 0 : Number(b.isUsed) - Number(a.isUsed)) ||
      b.score - a.score ||
      b.fits.length - a.fits.length ||
      a.load - b.load ||
      compareText(a.name, b.name),
  );
  for (const ordered of [byScore, groups.toSorted((a, b) => bySize(b, a))]) {
    let count = Math.min(rule.min, ordered.length);
    while (count < Math.min(rule.max, ordered.length) && tooFew(ordered, count, minClusters))
      count += 1;
    const taken = ordered.slice(0, count);
    if (satisfies(taken, rule, minClusters)) return taken;
  }
  return undefined;
}

function tooFew(groups: readonly Grouped[], count: number, minClusters: number): boolean {
  let clusters = 0;
  for (let i = 0; i < count; i++) clusters += groups[i]?.fits.length ?? 0;
  return clusters < minClusters;
}

function bySize(a: Grouped, b: Grouped): number {
  return a.fits.length - b.fits.length || b.score - a.score || compareText(a.name, b.name);
}

/** Depth first; a combination that is large enough is not made larger. */
function combine(
  groups: readonly Grouped[],
  { min, max }: SpreadRule,
  minClusters: number,
): readonly Combination[] {
  const found: Combination[] = [];
  const path: Grouped[] = [];
  const extend = (from: number, clusters: number): void => {
    if (path.length >= min && path.length <= max && clusters >= minClusters) {
      found.push(combinationOf(path, clusters, found.length));
      return;
    }
    if (path.length >= max) return;
    for (let i = from; i < groups.length; i++) {
      const group = groups[i] as Grouped;
      path.push(group);
      extend(i + 1, clusters + group.fits.length);
      path.pop();
    }
  };
  extend(0, 0);
  return found;
}

function combinationOf(path: readonly Grouped[], clusters: number, order: number): Combination {
  const groups = path.toSorted((a, b) => b.score - a.score || compareText(a.name, b.name));
  return {
    groups,
    used: groups.filter(({ isUsed }) => isUsed).length,
    score: groups.reduce((all, { score }) => all + score, 0),
    clusters,
    load: groups.reduce((all, { load }) => all + load, 0),
    order,
  };
}

function isBeginning(short: readonly Grouped[], long: readonly Grouped[]): boolean {
  return short.length < long.length && short.every((group, i) => group === long[i]);
}
