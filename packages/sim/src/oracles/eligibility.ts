/** Oracles of group B: the gate, and who is moved at all (D5, D7, D8, D18). */
import type { EvacuationSlice, KubeObject, ResourceBinding } from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { parseObject } from "../disk/ledger.ts";
import {
  clusterOfEvacuation,
  type Decision,
  decisionsOf,
  Eligibility,
  type Entry,
  isTolerated,
  noTarget,
  onDecisions,
  SLICES,
  taintId,
  taintOf,
  type Terms,
} from "./decisions.ts";
import { idOf, isDrain, moves } from "./fleet.ts";
import type { AlwaysOracle } from "./oracle.ts";
import { rememberedOf } from "./federated-reading.ts";
import { BINDINGS, isOfPerson, neverMoves } from "./reading.ts";
import type { Truth } from "./truth.ts";

const SECOND_MS = 1000;

interface Judged {
  readonly decision: Decision;
  readonly eligibility: Eligibility;
  readonly truth: Truth;
}

/** An oracle that judges each eviction for a taint by itself. */
function onEach(
  name: string,
  promise: string,
  judge: (judged: Judged) => string | undefined,
): AlwaysOracle {
  return onDecisions(
    name,
    promise,
    (truth, eligibility) => (decision) => judge({ decision, eligibility, truth }),
  );
}

export const alwaysOracles: readonly AlwaysOracle[] = [
  onEach(
    "gate-off-moves-nobody",
    "B1: while the gate Failover is off nobody is evicted for a taint, but by a person's drain (D18)",
    ({ decision, eligibility, truth }) => {
      const { controllers, startedAt } = truth.witness;
      if (controllers.failover || startedAt === decision.at) return undefined;
      return isOrdered(decision, eligibility) ? undefined : "the gate is off";
    },
  ),
  onEach(
    "no-schedule-moves-nobody",
    "B2: nobody is evicted but for a NoExecute or PreferNoExecute taint of the cluster",
    ({ decision, eligibility, truth }) => {
      const cluster = eligibility.fleet.clusters.get(decision.cluster);
      const known = decision.at - truth.lagMs;
      const lately = (cluster?.lost ?? []).filter(({ until }) => until >= known);
      const taints = [...(cluster?.borne.values() ?? []), ...lately].map(({ taint }) => taint);
      return taints.some(moves) ? undefined : `it bears only [${taints.map(idOf).join()}]`;
    },
  ),
  onEach(
    "tolerations-are-respected",
    "B3: for NoExecute only who does not tolerate the taint is evicted, or no longer, counted from when it came",
    (judged) => wrongTime(judged, "NoExecute"),
  ),
  onEach(
    "prefer-no-execute-asks-the-policy",
    "B4: for PreferNoExecute only whose policy has failover.cluster is evicted, after its tolerationSeconds (default 300); tolerations do not count (D5)",
    (judged) => wrongTime(judged, "PreferNoExecute"),
  ),
  {
    name: "new-targets-are-untainted",
    promise:
      "B5: no workload is placed anew on a cluster with a taint that it does not tolerate; PreferNoExecute repels, too, and nobody tolerates it (D5)",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => {
      const { fleet } = Eligibility.of(truth);
      return ({ key, at, row, previous }) => {
        if (row.type === "DELETED") return [];
        const binding = parseObject(row.bytes) as KubeObject as ResourceBinding;
        const { spec } = binding;
        if (isOfPerson(truth, binding)) return [];
        const before = (previous?.object as KubeObject as ResourceBinding | undefined)?.spec;
        const had = new Set([
          ...(before?.clusters ?? []).map(({ name }) => name),
          // A recovery puts back what was not placed anew (D13).
          ...(before?.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster),
          // A share that was given before waits for its cluster, or for its turn in a quorum (D15).
          ...Object.keys(sharesBefore(previous?.object)),
        ]);
        const tolerations = spec.placement?.clusterTolerations ?? [];
        return (spec.clusters ?? []).flatMap(({ name }) => {
          if (had.has(name)) return [];
          return [...(fleet.clusters.get(name)?.borne.values() ?? [])]
            .filter(({ since }) => since <= at - truth.lagMs)
            .filter(({ taint }) => !tolerations.some((one) => isTolerated(one, taint)))
            .map(({ taint }) => `${key} was placed on ${name}, which bears ${idOf(taint)}`);
        });
      };
    },
  },
  {
    name: "eligibility-is-recorded-as-it-is",
    promise:
      "B3, B4, B6: what a slice says of a binding is what its words gave for that taint between the taint and the slice",
    on: "plane",
    tables: [SLICES],
    start: (truth) => {
      const eligibility = Eligibility.of(truth);
      return ({ key, row, previous }) => {
        if (row.type === "DELETED") return [];
        const { spec } = parseObject(row.bytes) as KubeObject as EvacuationSlice;
        const former = previous?.object as KubeObject as EvacuationSlice | undefined;
        if (former !== undefined)
          return JSON.stringify(former.spec) === JSON.stringify(spec)
            ? []
            : [`slice ${key} was changed`];
        const cluster = eligibility.fleet.clusters.get(clusterOfEvacuation(spec.evacuation));
        const borne = [...(cluster?.borne.values() ?? [])].find(
          ({ taint }) => taintId(taint) === taintId(spec.taint),
        );
        if (borne === undefined) return [];
        return spec.entries.flatMap((entry) => {
          const own = truth.bindings().find(({ metadata }) => metadata.uid === entry.binding.uid);
          if (own !== undefined && neverMoves(own))
            return entry.exempt === "FederatedStatefulSet"
              ? []
              : [`slice ${key} does not spare ${entry.binding.name}, which never moves`];
          const terms = eligibility.termsSince(entry.binding.uid, borne.taint, borne.since);
          const isSaid = terms.some((one) => isAs(entry, one, borne.taint.timeAdded));
          return isSaid || terms.length === 0
            ? []
            : [`slice ${key} says otherwise of ${entry.binding.name} than its binding`];
        });
      };
    },
  },
  onEach(
    "eligibility-is-frozen",
    "B6: who is evicted, and how, was written down when the cluster became faulty; later edits change nothing (D7)",
    ({ decision: { binding, cluster, taintId: id, task }, eligibility }) => {
      const entry = eligibility.entryOf(binding.metadata.uid, cluster, id);
      if (entry === undefined) return "nobody had written it down";
      if (entry.exempt !== undefined) return `it is exempt: ${entry.exempt}`;
      return entry.purgeMode === task.purgeMode
        ? undefined
        : `${task.purgeMode}, but ${entry.purgeMode} was written down`;
    },
  ),
  onEach(
    "nobody-is-evicted-to-nowhere",
    "B7: an eviction is decided only while there is a target: Duplicated with minGroups: that many fitting clusters; without: a new one for each that it leaves; Divided: any other (D8). On a drain copies elsewhere are enough",
    ({ decision, eligibility, truth }) => {
      const { before, at, cluster } = decision;
      if (isOrdered(decision, eligibility) && (before.spec.clusters ?? []).length > 1)
        return undefined;
      return noTarget(before, cluster, eligibility.fleet, { possibleAt: at - truth.lagMs });
    },
  ),
  {
    name: "purge-mode-is-said",
    promise:
      "B8: every task has a purge mode: that of failover.cluster in one of its words since the taint came, else the flag's",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => {
      const eligibility = Eligibility.of(truth);
      return (change) => {
        if (change.row.type === "DELETED") return [];
        const { spec } = parseObject(change.row.bytes) as KubeObject as ResourceBinding;
        const silent = (spec.gracefulEvictionTasks ?? []).filter(
          ({ purgeMode }) => purgeMode === undefined,
        );
        const wrong = decisionsOf(change).filter((decision) => {
          const borne = taintOf(decision, eligibility.fleet.clusters.get(decision.cluster));
          if (borne === undefined) return false;
          const { uid } = decision.binding.metadata;
          const terms = eligibility.termsSince(uid, borne.taint, borne.since);
          return !terms.some((one) => one?.purgeMode === decision.task.purgeMode);
        });
        return [
          ...silent.map(({ fromCluster }) => `${change.key} leaves ${fromCluster} without a mode`),
          ...wrong.map(({ key, task }) => `${key} leaves ${task.purgeMode}, which nobody said`),
        ];
      };
    },
  },
];

/** Whether it is for a person's drain, or beside one; whether that was still there is judged by C5. */
function isOrdered(decision: Decision, { fleet }: Eligibility): boolean {
  const cluster = fleet.clusters.get(decision.cluster);
  const cause = taintOf(decision, cluster);
  const taints = [...(cluster?.borne.values() ?? []), ...(cause === undefined ? [] : [cause])];
  return taints.some(({ taint }) => isDrain(taint));
}

/** What is wrong with the time of an eviction for a taint of this effect, or that there is one at all. */
function wrongTime(
  { decision, eligibility, truth }: Judged,
  effect: "NoExecute" | "PreferNoExecute",
): string | undefined {
  const borne = taintOf(decision, eligibility.fleet.clusters.get(decision.cluster));
  if (borne === undefined || borne.taint.effect !== effect) return undefined;
  const { uid } = decision.binding.metadata;
  const terms = eligibility
    .termsSince(uid, borne.taint, borne.since)
    .flatMap((one) => (one === undefined ? [] : [one.seconds]));
  if (terms.length === 0) return "it stays by its own words";
  const since = truth.witness.writtenSince(borne.since);
  const leftMs = since + Math.min(...terms) * SECOND_MS - decision.at;
  return leftMs > SECOND_MS + truth.clockSlackMs(borne.since)
    ? `${leftMs} ms too early`
    : undefined;
}

function isAs(entry: Entry, terms: Terms | undefined, timeAdded: string | undefined): boolean {
  if (terms === undefined) return entry.exempt !== undefined;
  if (entry.exempt !== undefined || entry.purgeMode !== terms.purgeMode) return false;
  const added = parseTime(timeAdded ?? "");
  if (terms.seconds === 0 || added === undefined) return entry.toleratedUntil === undefined;
  return parseTime(entry.toleratedUntil ?? "") === added + terms.seconds * SECOND_MS;
}

function sharesBefore(binding: KubeObject | undefined): Readonly<Record<string, number>> {
  return rememberedOf(binding as ResourceBinding | undefined)?.shares ?? {};
}
