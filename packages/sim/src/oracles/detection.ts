/**
 * Oracles of group A: how clusters are found to be faulty, and tainted (D2-D4).
 *
 * Times in objects are whole seconds, so a window may end up to a second early. Conditions and taints are parts of one object,
 * which is written on the condition that it did not change: there is no race between them. A taint policy is another object, so
 * what happened to one within the time that news may take (`lagMs`) is not judged.
 */
import type { Cluster, KubeObject } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import {
  type Borne,
  KnownFleet,
  idOf,
  type KnownCluster,
  type KnownPolicy,
  type Lost,
  matches,
  moves,
  policiesFor,
  windowsOf,
} from "./fleet.ts";
import type { Step } from "../scenario/scenario.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { isGoing } from "./reading.ts";
import { CLUSTERS, LAG_MS, type Truth } from "./truth.ts";

const SECOND_MS = 1000;
/** What the plane may take for a write that nothing delays. */
const SLACK_MS = 10;

/** One change of a Cluster, read. */
interface Changed {
  readonly at: number;
  readonly name: string;
  readonly before: Cluster | undefined;
  readonly now: Cluster;
  readonly known: KnownCluster;
  readonly fleet: KnownFleet;
  readonly truth: Truth;
}

/** An oracle that judges every change of a Cluster but its end. */
function onClusters(
  name: string,
  promise: string,
  judge: (changed: Changed) => readonly string[],
): AlwaysOracle {
  const start = (truth: Truth) => {
    const fleet = KnownFleet.of(truth);
    return ({ row, at, previous }: Committed): readonly string[] => {
      if (row.type === "DELETED") return [];
      const now = parseObject(row.bytes) as KubeObject as Cluster;
      const { name: cluster } = now.metadata;
      const known = fleet.clusters.get(cluster);
      if (known === undefined) return [];
      const before = previous?.object as KubeObject as Cluster | undefined;
      return judge({ at, name: cluster, before, now, known, fleet, truth });
    };
  };
  return { name, promise, on: "plane", tables: [CLUSTERS], start };
}

export const alwaysOracles: readonly AlwaysOracle[] = [
  onClusters(
    "ready-follows-the-probes",
    "A1: Ready turns only when one process has heard nothing but the opposite for the whole threshold",
    ({ at, name, before, now, truth }) => {
      const { witness } = truth;
      const [was, is] = [readyOf(before), readyOf(now)];
      if (was === undefined || is === undefined || (was === "True") === (is === "True")) return [];
      // That an agent is silent is no probe (A2), nor is what somebody else reports in its name.
      if (is === "Unknown" || truth.circumstances.forgers.has(name)) return [];
      if (truth.lagMs > LAG_MS) return [];
      const { clusterFailureThresholdMs, clusterSuccessThresholdMs } = witness.controllers;
      const threshold = is === "True" ? clusterSuccessThresholdMs : clusterFailureThresholdMs;
      const runs = witness.probes(name);
      const isHeard = runs.some(
        ({ ok, since, last, until }) =>
          ok === (is === "True") &&
          last - since >= threshold &&
          // A probe may be answered while the status is being written.
          at - until <= truth.roundTripMs + SLACK_MS,
      );
      return isHeard || runs.length === 0
        ? []
        : [`Ready of ${name} became ${is}, but probes said: ${runs.map(describeRun).join("; ")}`];
    },
  ),
  onClusters(
    "taints-wait-for-their-window",
    "A3, A5: a policy adds a taint only after its conditions have matched without a gap for the whole window (D3), restarts included",
    ({ at, name, before, known, fleet, truth }) =>
      addedBy(known, before).flatMap((borne) => {
        if (someIsNews(fleet, at, truth)) return [];
        const isDue = policiesFor(fleet, borne).some(({ policy, goneAt }) => {
          if (goneAt !== undefined) return false;
          const wish = known.wishes.get(policy.metadata.uid);
          const window = windowsOf({ policy }, borne).addMs;
          return wish?.matches === true && hasPassed(truth, wish.since, window);
        });
        return isDue ? [] : [`${idOf(borne.taint)} came to ${name} before its window had passed`];
      }),
  ),
  onClusters(
    "taints-stay-for-their-window",
    "A4, A5: a policy takes a taint off only after its conditions have not matched for the whole window (D3); at once when it is deleted or drops it",
    ({ at, name, before, known, fleet, truth }) =>
      lostBy(known, before, at).flatMap((lost) => {
        if (!lost.isByPolicy || isTakenByPeople(truth, name, lost, at)) return [];
        const holders = policiesFor(fleet, lost)
          .filter(({ goneAt }) => goneAt === undefined)
          .filter(({ policy }) =>
            recordOf(before).get(policy.metadata.uid)?.added.has(idOf(lost.taint)),
          );
        if (holders.some((policy) => isNews(policy, at, truth) || isUnknown(policy, at, truth)))
          return [];
        const early = holders.filter(({ policy }) => {
          const wish = known.wishes.get(policy.metadata.uid);
          const window = windowsOf({ policy }, lost).removeMs;
          return wish === undefined || wish.matches || !hasPassed(truth, wish.since, window);
        });
        return early.map(
          ({ policy }) => `${idOf(lost.taint)} left ${name} too early for ${policy.metadata.name}`,
        );
      }),
  ),
  onClusters(
    "policies-match-as-they-say",
    "A6: conditions are ANDed, none always match, an absent one matches neither In nor NotIn (D4): what is noted on a Cluster says so",
    ({ name, now, before, fleet }) => {
      if (annotationOf(now) === annotationOf(before)) return [];
      return [...recordOf(now)].flatMap(([uid, noted]) => {
        const policy = fleet.policies.get(uid)?.policy;
        if (policy === undefined || policy.metadata.generation !== noted.generation) return [];
        const expected = matches(policy.spec, now);
        return noted.matches === expected
          ? []
          : [
              `${policy.metadata.name} is noted on ${name} as ${noted.matches ? "" : "not "}matching`,
            ];
      });
    },
  ),
  onClusters(
    "taints-have-an-author",
    "A7: a taint that moves workloads comes from a ClusterTaintPolicy, and then only while the gate Failover is on (D18), or from a person",
    ({ at, name, known, fleet, truth }) =>
      [...known.borne.values()].flatMap((borne) => {
        if (borne.since !== at || !moves(borne.taint)) return [];
        const { controllers, startedAt } = truth.witness;
        const says = (what: string) => [`${idOf(borne.taint)} came to ${name}: ${what}`];
        if (!borne.isByPolicy)
          return isSetByPeople(truth, name, borne, at) ? [] : says("nobody asked for it");
        if (policiesFor(fleet, borne).length === 0 && !someIsNews(fleet, at, truth))
          return says("no policy asks for it");
        return controllers.failover || startedAt === at ? [] : says("the gate is off");
      }),
  ),
  onClusters(
    "foreign-taints-are-left-alone",
    "A8: a policy takes off only what policies added and none of them wants any more; what others set is never touched (D3)",
    ({ at, name, before, now, known, fleet, truth }) =>
      lostBy(known, before, at).flatMap((lost) => {
        const id = idOf(lost.taint);
        if (isTakenByPeople(truth, name, lost, at)) return [];
        if (!lost.isByPolicy) return [`${id} of somebody else left ${name}`];
        return policiesFor(fleet, lost)
          .filter(({ goneAt }) => goneAt === undefined)
          .filter((policy) => !isNews(policy, at, truth))
          .filter(({ policy }) => !recordOf(now).get(policy.metadata.uid)?.removedByHand.has(id))
          .filter(({ policy }) => {
            const wish = known.wishes.get(policy.metadata.uid);
            const due = (wish?.since ?? at) + windowsOf({ policy }, lost).addMs;
            return wish?.matches === true && due + truth.lagMs < at;
          })
          .map(({ policy }) => `${id} left ${name}, and ${policy.metadata.name} wants it`);
      }),
  ),
  onClusters(
    "taints-keep-their-time",
    "A10: timeAdded does not change while a taint stays: tolerations count from it",
    ({ name, before, now }) => {
      const times = new Map((before?.spec.taints ?? []).map((one) => [idOf(one), one.timeAdded]));
      return (now.spec.taints ?? [])
        .filter((one) => (times.get(idOf(one)) ?? one.timeAdded) !== one.timeAdded)
        .map((one) => `${idOf(one)} of ${name} is as if added at ${one.timeAdded}`);
    },
  ),
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "members-that-answer-are-ready",
    promise: "A1: once a member answers for the threshold, its Cluster is Ready",
    judge: (truth) =>
      [...KnownFleet.of(truth).clusters.values()]
        .filter(({ cluster }) => !isGoing(cluster) && readyOf(cluster) !== "True")
        .map(({ cluster }) => `${cluster.metadata.name} is not Ready`),
  },
  {
    name: "taints-are-as-policies-say",
    promise:
      "A9: once conditions rest, every cluster bears the taints that policies want for them and no other of theirs",
    judge: (truth) => {
      const fleet = KnownFleet.of(truth);
      return [...fleet.clusters.values()].flatMap((known) => wrongTaints(fleet, known, truth));
    },
  },
];

function wrongTaints(fleet: KnownFleet, known: KnownCluster, truth: Truth): readonly string[] {
  const { cluster, borne, wishes } = known;
  const { name } = cluster.metadata;
  if (isGoing(cluster)) return [];
  const record = recordOf(cluster);
  const wanted = new Set<string>();
  const byHand = new Set<string>();
  for (const { policy, goneAt } of fleet.policies.values()) {
    const { uid } = policy.metadata;
    for (const id of record.get(uid)?.removedByHand ?? []) byHand.add(id);
    if (goneAt !== undefined || wishes.get(uid)?.matches !== true) continue;
    for (const taint of policy.spec.taintsToAdd ?? [])
      if (truth.witness.controllers.failover || !moves(taint)) wanted.add(idOf(taint));
  }
  const missing = [...wanted].filter((id) => !borne.has(id) && !byHand.has(id));
  const surplus = [...borne].filter(([id, one]) => {
    const isKept = moves(one.taint) && !truth.witness.controllers.failover;
    return one.isByPolicy && !wanted.has(id) && !isKept;
  });
  return [
    ...missing.map((id) => `${name} lacks ${id}`),
    ...surplus.map(([id]) => `${name} bears ${id}, which no policy wants`),
  ];
}

function readyOf(cluster: Cluster | undefined): string | undefined {
  return cluster?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

function describeRun({
  caller,
  ok,
  since,
  last,
}: {
  caller: string;
  ok: boolean;
  since: number;
  last: number;
}): string {
  return `${caller} ${ok ? "answered" : "silent"} for ${last - since} ms`;
}

/** Whether a window that began then is over; in true time, but for whole seconds and what a clock that jumped may cost. */
function hasPassed(truth: Truth, since: number, windowMs: number): boolean {
  return truth.ledger.now - since >= windowMs - SECOND_MS - truth.clockSlackMs(since);
}

/** The taints that came with this change and a note of the policies. */
function addedBy({ borne }: KnownCluster, before: Cluster | undefined): readonly Borne[] {
  const former = taintsOf(before);
  return [...borne.values()].filter(
    ({ taint, isByPolicy }) => isByPolicy && !former.has(idOf(taint)),
  );
}

/** The taints that this change took off. */
function lostBy(
  { lost, borne }: KnownCluster,
  before: Cluster | undefined,
  at: number,
): readonly Lost[] {
  const former = taintsOf(before);
  return lost.filter(
    ({ until, taint }) => until === at && former.has(idOf(taint)) && !borne.has(idOf(taint)),
  );
}

function taintsOf(cluster: Cluster | undefined): ReadonlySet<string> {
  return new Set((cluster?.spec.taints ?? []).map(idOf));
}

/** Whether a policy was edited or deleted so lately that not everybody may have heard of it. */
function isNews({ madeAt, editedAt, goneAt }: KnownPolicy, at: number, truth: Truth): boolean {
  const changedAt = goneAt ?? (editedAt > madeAt ? editedAt : undefined);
  return changedAt !== undefined && at - changedAt <= truth.lagMs;
}

/** Whether one of two sets of controllers may not have heard of a new policy, and take what it added for one's that is gone. */
function isUnknown({ madeAt }: KnownPolicy, at: number, truth: Truth): boolean {
  return truth.circumstances.hasTwoLeaders && at - madeAt <= truth.lagMs;
}

/** Whether some policy may have asked for more, or for something else, when what is seen now was decided. */
function someIsNews({ policies }: KnownFleet, at: number, truth: Truth): boolean {
  return [...policies.values()].some((policy) => isNews(policy, at, truth));
}

/** What people have begun to do about taints of this key on the cluster. */
function ordersFor(truth: Truth, cluster: string, { taint }: Borne, at: number) {
  return truth.circumstances.steps.filter((step): step is TaintStep => {
    if (step.do !== "taint" || step.member !== cluster) return false;
    const key = step.effect === "drain" ? wellKnown.DRAIN_TAINT : "test/faulty";
    return key === taint.key && truth.beganAt + step.at * SECOND_MS <= at;
  });
}

type TaintStep = Extract<Step, { readonly do: "taint" }>;

function effectOf({ effect }: TaintStep): string {
  return effect === "drain" ? "NoExecute" : effect;
}

/** Whether a person has begun to set the taint. */
function isSetByPeople(truth: Truth, cluster: string, borne: Borne, at: number): boolean {
  return ordersFor(truth, cluster, borne, at).some(
    (step) => step.on && effectOf(step) === borne.taint.effect,
  );
}

/** Whether a person has begun to take the taint off, or to set another of its key in its place. */
function isTakenByPeople(truth: Truth, cluster: string, borne: Borne, at: number): boolean {
  return ordersFor(truth, cluster, borne, at).some(
    (step) => !step.on || effectOf(step) !== borne.taint.effect,
  );
}

/** What taint policies have noted on a Cluster. */
interface Noted {
  readonly generation: number;
  readonly matches: boolean;
  readonly added: ReadonlySet<string>;
  readonly removedByHand: ReadonlySet<string>;
}

function annotationOf(cluster: Cluster | undefined): string | undefined {
  return cluster?.metadata.annotations?.[wellKnown.TAINT_POLICIES];
}

/** By the uid of the policy. */
function recordOf(cluster: Cluster | undefined): ReadonlyMap<string, Noted> {
  const text = annotationOf(cluster);
  if (text === undefined) return new Map();
  interface Written {
    readonly generation?: number;
    readonly matchingSince?: string;
    readonly added?: readonly { readonly key: string; readonly effect: Borne["taint"]["effect"] }[];
    readonly removedByHand?: Written["added"];
  }
  const written = Object.entries(JSON.parse(text) as Readonly<Record<string, Written>>);
  return new Map(
    written.map(([uid, { generation = 0, matchingSince, added = [], removedByHand = [] }]) => [
      uid,
      {
        generation,
        matches: matchingSince !== undefined,
        added: new Set(added.map(idOf)),
        removedByHand: new Set(removedByHand.map(idOf)),
      },
    ]),
  );
}
