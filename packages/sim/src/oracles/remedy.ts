/**
 * Oracles of Remedies: which actions stand on a Cluster (J1), and that conditions do not empty the fleet at once (D27).
 *
 * What a Remedy wants is written here a second time, on purpose: a bug in the product's own rule must not be a bug of its judge.
 */
import type { Cluster, EvacuationBudget, KubeObject, Remedy } from "@lifeboat/api";
import { findCondition } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Committed } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle, Judge } from "./oracle.ts";
import { BUDGETS } from "./pauses.ts";
import { isGoing, nameOfCluster, pairOf } from "./reading.ts";
import { CLUSTERS, type Truth } from "./truth.ts";

const REMEDIES = "remedy.karmada.io/remedies";
/** The action that the brake is about. */
export const BLOCK = "TrafficControl";
const MINUTE_MS = 60_000;
/** How long after a person's word conditions may block as many clusters as they want. */
const OPEN_MS = 10 * MINUTE_MS;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "no-action-without-a-remedy",
    promise: "J1: an action begins only while a Remedy wants it there",
    on: "plane",
    tables: [CLUSTERS, REMEDIES],
    start: (truth) => {
      const wishes = new Wishes(truth);
      return (change) => {
        wishes.take(change);
        return change.table === CLUSTERS ? judgeBegun(truth, wishes, change) : [];
      };
    },
  },
  {
    name: "conditions-block-half-at-most",
    promise:
      "D27: within a minute conditions block at most half of the fleet, and always one cluster, until a person agrees",
    on: "plane",
    tables: [CLUSTERS, BUDGETS],
    start: (truth) => judgeBrake(truth),
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "actions-are-what-remedies-want",
    promise:
      "J1: the actions of a Cluster are the sorted union of what all Remedies want there, and nothing else",
    judge: (truth) =>
      truth.clusters().flatMap((cluster) => {
        if (isGoing(cluster)) return [];
        const wanted = [...wantedOn(remediesOf(truth), cluster)].sort();
        const actual = cluster.status?.remedyActions ?? [];
        return wanted.join() === actual.join()
          ? []
          : [`${nameOfCluster(cluster)} has [${actual.join()}], Remedies want [${wanted.join()}]`];
      }),
  },
];

function remediesOf({ ledger }: Truth): readonly Remedy[] {
  return ledger.objects("plane", REMEDIES).map(({ object }) => object as KubeObject as Remedy);
}

/** The actions that Remedies want on a cluster as it is. */
function wantedOn(remedies: readonly Remedy[], cluster: Cluster): ReadonlySet<string> {
  return new Set(
    remedies
      .filter((remedy) => !isGoing(remedy) && isAbout(remedy, cluster))
      .flatMap(({ spec }) => spec.actions ?? []),
  );
}

function isAbout({ spec }: Remedy, { metadata, status }: Cluster): boolean {
  const { clusterAffinity, decisionMatches = [] } = spec;
  const names = clusterAffinity?.clusterNames ?? [];
  if (names.length > 0 && !names.includes(metadata.name)) return false;
  if (decisionMatches.length === 0) return true;
  return decisionMatches.some(({ clusterConditionMatch: match }) => {
    const condition = findCondition(status?.conditions, match?.conditionType ?? "");
    if (match === undefined || condition === undefined) return false;
    return (condition.status === match.conditionStatus) === (match.operator === "Equal");
  });
}

/** Until when Remedies wanted actions on clusters that they do not want any more. */
class Wishes {
  readonly #truth: Truth;
  readonly #until = new Map<string, number>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  take(change: Committed): void {
    const { before } = pairOf<Cluster & Remedy>(change);
    if (before === undefined) return;
    const isCluster = change.table === CLUSTERS;
    const clusters: readonly Cluster[] = isCluster ? [before] : this.#truth.clusters();
    const remedies: readonly Remedy[] = isCluster ? remediesOf(this.#truth) : [before];
    for (const cluster of clusters)
      for (const action of wantedOn(remedies, cluster))
        this.#until.set(`${cluster.metadata.name} ${action}`, change.at);
  }

  lastOf(cluster: string, action: string): number {
    return this.#until.get(`${cluster} ${action}`) ?? Number.NEGATIVE_INFINITY;
  }
}

function judgeBegun(truth: Truth, wishes: Wishes, change: Committed): readonly string[] {
  const { before, now } = pairOf<Cluster>(change);
  const actions = now?.status?.remedyActions ?? [];
  if (now === undefined || actions.length === 0) return [];
  const name = nameOfCluster(now);
  const had = before?.status?.remedyActions ?? [];
  const wanted = wantedOn(remediesOf(truth), now);
  const slackMs = truth.lagMs + truth.roundTripMs;
  return actions
    .filter((action) => !had.includes(action) && !wanted.has(action))
    .filter((action) => change.at - wishes.lastOf(name, action) > slackMs)
    .filter(() => !isByHand(truth, name, actions))
    .map((action) => `${action} begins on ${name}, and no Remedy wants it`);
}

/** Whether a person wrote these actions. */
function isByHand({ circumstances }: Truth, member: string, actions: readonly string[]): boolean {
  return circumstances.steps.some(
    (step) =>
      step.do === "actions-by-hand" &&
      step.member === member &&
      step.actions.join() === actions.join(),
  );
}

/** A block counts when it is written down that it was let through: what follows may be late. */
function judgeBrake(truth: Truth): Judge {
  const blocks = new Map<string, number>();
  const fleets: { readonly at: number; readonly size: number }[] = [];
  let agreed = Number.NEGATIVE_INFINITY;
  return (change) => {
    const { at, table } = change;
    if (table === BUDGETS) {
      const { before, now } = pairOf<EvacuationBudget>(change);
      if (before?.spec.trafficBlocksAgreedAt !== now?.spec.trafficBlocksAgreedAt) agreed = at;
      return [];
    }
    const { before, now } = pairOf<Cluster>(change);
    const size = truth.clusters().length + (now === undefined ? 1 : 0);
    if (fleets.at(-1)?.size !== size) fleets.push({ at, size });
    if (now === undefined || !isLetThrough(now) || isLetThrough(before)) return [];
    blocks.set(nameOfCluster(now), at);
    const slackMs = truth.lagMs + truth.roundTripMs + truth.clockSlackMs(at - MINUTE_MS);
    const since = at - MINUTE_MS + slackMs;
    if (agreed >= since - OPEN_MS - MINUTE_MS || isClockUncertain(truth, agreed)) return [];
    const within = [...blocks].filter(([, when]) => when >= since).map(([cluster]) => cluster);
    const former = fleets.findLast((one) => one.at <= since)?.size ?? 0;
    const sizes = fleets.filter((one) => one.at > since).map((one) => one.size);
    const allowed = Math.max(1, Math.floor(Math.max(former, ...sizes) / 2));
    return within.length > allowed
      ? [`conditions blocked ${within.join(", ")} of ${size} clusters within a minute`]
      : [];
  };
}

/** When a person's word counts is told by the wall clock. */
function isClockUncertain({ circumstances }: Truth, agreed: number): boolean {
  return Number.isFinite(agreed) && circumstances.clockChanges.length > 0;
}

/** Whether the record of a Cluster says that conditions block it, and that the brake does not hold that. */
function isLetThrough(cluster: Cluster | undefined): boolean {
  const text = cluster?.metadata.annotations?.[wellKnown.REMEDY_SOURCES] ?? "[]";
  const sources = JSON.parse(text) as readonly {
    readonly action: string;
    readonly cause: string;
    readonly held?: boolean;
  }[];
  return sources.some(
    ({ action, cause, held }) => action === BLOCK && cause === "Conditions" && held !== true,
  );
}
