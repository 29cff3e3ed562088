/** Oracles of what people order about evacuations: approvals, pauses of clusters and namespaces, a rate of 0; and of priority. */
import type { Evacuation, EvacuationBudget, KubeObject } from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { parseObject } from "../disk/ledger.ts";
import { type Decision, isPassive, noTarget, onDecisions } from "./decisions.ts";
import { isDrain } from "./fleet.ts";
import type { AlwaysOracle } from "./oracle.ts";
import { BUDGETS, EVACUATIONS } from "./pauses.ts";
import { hasFailed, isOfPerson } from "./reading.ts";
import type { Truth } from "./truth.ts";
import { RETRY_MS } from "./queue.ts";

/** What was ordered for the fleet, and since when. */
interface Ordered {
  readonly at: number;
  readonly spec: EvacuationBudget["spec"];
}

const histories = new WeakMap<Truth, Ordered[]>();

/** All that people ordered for the fleet, oldest first. */
function ordersOf(truth: Truth): readonly Ordered[] {
  const known = histories.get(truth);
  if (known !== undefined) return known;
  const all: Ordered[] = truth.ledger.objects("plane", BUDGETS).map(({ object }) => ({
    at: Number.NEGATIVE_INFINITY,
    spec: (object as KubeObject as EvacuationBudget).spec,
  }));
  histories.set(truth, all);
  truth.ledger.onChange(({ server, table, row, at }) => {
    if (server !== "plane" || table !== BUDGETS || row.type === "DELETED") return;
    all.push({ at, spec: (parseObject(row.bytes) as KubeObject as EvacuationBudget).spec });
  });
  return all;
}

/** Whether it was so ordered at every moment that the plane may still have known at the decision. */
function isOrdered(
  truth: Truth,
  { at }: Decision,
  holds: (spec: EvacuationBudget["spec"]) => boolean,
): boolean {
  const orders = ordersOf(truth);
  const from = orders.findLastIndex((one) => one.at <= at - truth.lagMs);
  return from >= 0 && orders.slice(from).every(({ spec }) => holds(spec));
}

export const alwaysOracles: readonly AlwaysOracle[] = [
  onDecisions(
    "unapproved-moves-nobody",
    "D30: whoever needs an approval is evicted only under one of this evacuation that covers them and has not expired",
    (truth, eligibility) => (decision) => {
      const { binding, cluster, taintId } = decision;
      const { uid, namespace = "" } = binding.metadata;
      const entry = eligibility.entryOf(uid, cluster, taintId);
      const drained = [...(eligibility.fleet.clusters.get(cluster)?.borne.values() ?? [])];
      if (entry?.approval !== "Required") return undefined;
      if (drained.some(({ taint }) => isDrain(taint))) return undefined;
      const name = markOf(decision).split(" ")[0] ?? "";
      const found = truth.ledger.find("plane", EVACUATIONS, `/${name}`)?.object;
      const { approvals = [] } = (found as KubeObject as Evacuation | undefined)?.spec ?? {};
      const isCovered = approvals.some(
        (one) =>
          (one.namespace === undefined || one.namespace === namespace) &&
          (one.uid === undefined || one.uid === uid) &&
          (one.expiresAt === undefined ||
            (parseTime(one.expiresAt) ?? 0) > decision.at - truth.lagMs),
      );
      return isCovered ? undefined : "no approval covers it";
    },
  ),
  onDecisions(
    "paused-clusters-and-namespaces-move-nobody",
    "D7: while a person pauses a cluster or a namespace, nobody of it is evicted",
    (truth) => {
      ordersOf(truth);
      return (decision) => {
        const { cluster, binding } = decision;
        const { namespace = "" } = binding.metadata;
        const isPaused = isOrdered(
          truth,
          decision,
          ({ pausedClusters = [], pausedNamespaces = [] }) =>
            pausedClusters.includes(cluster) || pausedNamespaces.includes(namespace),
        );
        return isPaused ? "a person paused that" : undefined;
      };
    },
  ),
  onDecisions(
    "a-rate-of-0-that-a-person-set-holds",
    "D6: while a person has set the rate to 0, nobody is evicted",
    (truth) => {
      ordersOf(truth);
      return (decision) => {
        const isStopped = isOrdered(truth, decision, ({ rateOverride }) => {
          if (rateOverride === undefined || rateOverride.perSecond > 0) return false;
          const setAt = parseTime(rateOverride.setAt) ?? 0;
          const lasts = (parseTime(rateOverride.until) ?? 0) - setAt;
          const since = ordersOf(truth).find(
            ({ spec }) => spec.rateOverride?.setAt === rateOverride.setAt,
          );
          return (since?.at ?? Infinity) + lasts > decision.at + truth.lagMs;
        });
        return isStopped ? "a person set the rate to 0" : undefined;
      };
    },
  ),
  onDecisions(
    "higher-priorities-go-first",
    "D31: of those that may leave a cluster, nobody goes before one of a higher priority",
    (truth, eligibility) => (decision) => {
      const { cluster, binding, taintId, at } = decision;
      const own = eligibility.entryOf(binding.metadata.uid, cluster, taintId)?.priority ?? 0;
      const since = at - truth.lagMs;
      const passedOver = eligibility
        .waitingOn(cluster)
        .filter(({ entry }) => (entry.priority ?? 0) > own && entry.approval === undefined)
        .filter((one) => Math.max(one.recordedAt, one.dueAt, one.askedAt) < since)
        .filter((one) => isPassive(one.binding) === isPassive(binding))
        .filter((one) => !isOfPerson(truth, one.binding) && !hasFailed(one.binding))
        .find(
          (one) =>
            noTarget(one.binding, cluster, eligibility.fleet, {
              certainSince: since - RETRY_MS,
            }) === undefined,
        );
      return passedOver === undefined
        ? undefined
        : `${passedOver.entry.binding.name} has a higher priority`;
    },
  ),
];

function markOf({ binding, cluster }: Decision): string {
  const text = binding.metadata.annotations?.[wellKnown.EVICTED_FOR] ?? "{}";
  return (JSON.parse(text) as Readonly<Record<string, string>>)[cluster] ?? "";
}
