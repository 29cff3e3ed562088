/**
 * Which of the clusters that fit are taken: all, or as many as the spread constraints allow.
 *
 * 1. Division by fixed weights takes every cluster that fits, because the weights decide the shares.
 * 2. Candidates are ordered by score, then room, then load, then name; a cluster that holds a copy has the higher score.
 * 3. Unless a WorkloadRebalancer orders a fresh placement, a cluster or a group with a copy is not exchanged for one without.
 * 4. A selection satisfies every constraint or is refused. One exception, which clients rely on: the minimum of regions
 *    beats the maximum of clusters.
 */
import { compareText } from "../fields.ts";
import { type Grouped, groupsFor, selectGroups } from "./select-groups.ts";
import type { Fit } from "./fit.ts";
import { type PlacementRules, spreadBy, type SpreadField, type SpreadRule } from "./rules.ts";

export type Selection =
  | { readonly kind: "selected"; readonly fits: readonly Fit[] }
  | { readonly kind: "refused"; readonly message: string };

export interface SelectionRequest {
  readonly fits: readonly Fit[];
  readonly rules: PlacementRules;
  /** How many replicas there must be room for; undefined: room does not matter. */
  readonly needed: number | undefined;
  /** What each copy has when it is not divided. */
  readonly replicas: number;
  readonly anew: boolean;
}

/** Whether constraints apply to these rules. */
export function isSelective(rules: PlacementRules): boolean {
  return rules.spread.length > 0 && rules.division.style !== "static";
}

export function select(request: SelectionRequest): Selection {
  const { rules, fits } = request;
  if (!isSelective(rules)) return { kind: "selected", fits };
  if (rules.spread.some(({ by }) => by === "label"))
    return refused("spreading by label is not supported; use spreadByField");
  const contradiction = rules.spread.find(({ min, max }) => max < min);
  if (contradiction !== undefined)
    return refused(
      `the maxGroups of spreadConstraint ${contradiction.by} is less than its minGroups`,
    );
  const ordered = fits.toSorted(byPreference);
  const field = GROUPING.find((by) => spreadBy(rules, by) !== undefined);
  const selection =
    field === undefined ? selectClusters(ordered, request) : selectByGroup(ordered, field, request);
  return selection.kind === "refused" ? selection : checked(selection.fits, rules, field);
}

/** The first of these that is constrained forms the groups; the others are checked afterwards. */
const GROUPING: readonly SpreadField[] = ["region", "provider", "zone"];

function refused(message: string): Selection {
  return { kind: "refused", message };
}

export function byPreference(a: Fit, b: Fit): number {
  return (
    b.score - a.score ||
    b.available - a.available ||
    a.load - b.load ||
    compareText(a.candidate.name, b.candidate.name)
  );
}

function clusterRule(rules: PlacementRules): SpreadRule {
  return spreadBy(rules, "cluster") ?? { by: "cluster", min: 1, max: Infinity };
}

function selectClusters(ordered: readonly Fit[], request: SelectionRequest): Selection {
  const { min, max } = clusterRule(request.rules);
  if (ordered.length < min)
    return refused("the number of feasible clusters is less than spreadConstraint.MinGroups");
  const count = Math.min(ordered.length, max);
  const chosen = ordered.slice(0, count);
  if (request.needed === undefined) return { kind: "selected", fits: chosen };
  const enough = withEnoughRoom(chosen, ordered.slice(count), request.needed, request.anew);
  if (enough === undefined) return refused(`no enough resource when selecting ${count} clusters`);
  return { kind: "selected", fits: enough };
}

/** Exchanges the last of the chosen for the roomiest of the others until there is room for all; undefined: there is not. */
function withEnoughRoom(
  chosen: readonly Fit[],
  others: readonly Fit[],
  needed: number,
  anew: boolean,
): readonly Fit[] | undefined {
  const taken = [...chosen];
  const left = others.toSorted(
    (a, b) =>
      b.available - a.available ||
      a.load - b.load ||
      compareText(a.candidate.name, b.candidate.name),
  );
  let room = taken.reduce((all, { available }) => all + available, 0);
  let next = 0;
  for (let i = taken.length - 1; i >= 0 && room < needed; i--) {
    const out = taken[i];
    const into = left[next];
    if (out === undefined || into === undefined) break;
    if (into.available <= out.available || (!anew && out.isPresent)) continue;
    taken[i] = into;
    next += 1;
    room += into.available - out.available;
  }
  return room >= needed ? taken : undefined;
}

function selectByGroup(
  ordered: readonly Fit[],
  field: SpreadField,
  request: SelectionRequest,
): Selection {
  const rule = spreadBy(request.rules, field) ?? { by: field, min: 1, max: Infinity };
  const clusters = clusterRule(request.rules);
  const groups = groupsFor(ordered, field, rule, clusters, request);
  if (groups.length < rule.min)
    return refused(`the number of feasible ${field} is less than spreadConstraint.MinGroups`);
  const chosen = selectGroups(groups, rule, clusters, request.anew);
  if (chosen === undefined)
    return refused("the number of clusters is less than the cluster spreadConstraint.MinGroups");
  return { kind: "selected", fits: filled(chosen, clusters.max) };
}

/** The best cluster of every group, then the best of the rest. */
function filled(groups: readonly Grouped[], max: number): readonly Fit[] {
  const firsts: Fit[] = [];
  const rest: Fit[] = [];
  for (const { fits } of groups) {
    const [best, ...others] = fits;
    if (best !== undefined) firsts.push(best);
    rest.push(...others);
  }
  rest.sort(byPreference);
  const more = Math.max(0, Math.min(rest.length, max - firsts.length));
  return [...firsts, ...rest.slice(0, more)];
}

/** The constraints that did not take part in the selection must hold all the same. */
function checked(
  fits: readonly Fit[],
  rules: PlacementRules,
  selectedBy: SpreadField | undefined,
): Selection {
  for (const { by, min, max } of rules.spread) {
    if (by === "cluster" || by === "label" || by === selectedBy) continue;
    const values = new Set(fits.flatMap(({ candidate }) => valuesOf(candidate, by)));
    if (values.size < min || values.size > max)
      return refused(
        `the selected clusters span ${values.size} ${by}(s), outside of spreadConstraint ${min}..${max}`,
      );
  }
  return { kind: "selected", fits };
}

function valuesOf(
  candidate: Fit["candidate"],
  by: "region" | "zone" | "provider",
): readonly string[] {
  return by === "zone" ? candidate.zones : [candidate[by]];
}
