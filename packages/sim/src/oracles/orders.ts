/** Oracles of what people order about evacuations: approvals, pauses of clusters and namespaces, a rate for a time; and of priority. */
import type { Evacuation, KubeObject } from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { type Decision, isPassive, noTarget, onDecisions } from "./decisions.ts";
import { isDrain } from "./fleet.ts";
import type { AlwaysOracle } from "./oracle.ts";
import { isOrdered, lastSetRate, ordersOf, type SetRate } from "./ordered.ts";
import { EVACUATIONS } from "./pauses.ts";
import { hasFailed, isOfPerson } from "./reading.ts";
import { RETRY_MS } from "./queue.ts";

const SECOND_MS = 1000;

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
            (parseTime(one.expiresAt) ?? 0) > truth.ledger.timeAt(decision.at - truth.lagMs)),
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
          decision.at,
          ({ pausedClusters = [], pausedNamespaces = [] }) =>
            pausedClusters.includes(cluster) || pausedNamespaces.includes(namespace),
        );
        return isPaused ? "a person paused that" : undefined;
      };
    },
  ),
  onDecisions(
    "a-rate-that-a-person-set-holds",
    "D6: from its order until its time a rate that a person set holds: at most one eviction more than it allows, none where it is 0",
    (truth) => {
      ordersOf(truth);
      let under: SetRate | undefined;
      let count = 0;
      return ({ at, binding }) => {
        const { lagMs } = truth;
        const set = lastSetRate(truth);
        if (set?.id !== under?.id) [under, count] = [set, 0];
        if (set === undefined || at <= set.from + lagMs || at >= set.until - lagMs)
          return undefined;
        const { perSecond, from } = set;
        const slackMs = truth.clockSlackMs(from);
        // What has no replicas has a lane of its own.
        if (slackMs === Infinity || (perSecond > 0 && isPassive(binding))) return undefined;
        count += 1;
        const atOnce = perSecond > 0 ? Math.max(1, Math.floor(perSecond)) : 0;
        const most = atOnce + (perSecond * (at - from + slackMs)) / SECOND_MS;
        return count <= most ? undefined : `a person set the rate to ${perSecond}`;
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
