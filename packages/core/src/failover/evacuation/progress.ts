/**
 * How far an evacuation is: phase, counts, rate and the time it will take, for its status (D7).
 *
 *   nothing left       all that left is placed: Completed, or Abandoned when something stayed because the cluster recovered
 *   Recording          the affected workloads are not yet recorded for every taint
 *   Paused             by a person (here or for the whole fleet), or because the gate is off
 *   Braked             something could go, and the fleet's rate is 0
 *   AwaitingApproval   only entries are left that a person has not approved
 *   Held               only entries are left that cannot move for now
 *   Running            otherwise
 *
 * An estimate alone is not worth a write: it is renewed whenever something else changes.
 */
import { type Evacuation, equalJson, type EvacuationStatus } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isDrainTaint } from "../../binding/index.ts";
import type { RecordedTaint } from "./taint-identity.ts";
import { type PhaseReason, phaseReasons } from "./reasons.ts";
import { type Rate, rateReasons, type RateReason } from "./rate.ts";

export interface EntryCounts {
  readonly total: number;
  readonly queued: number;
  readonly evicted: number;
  readonly done: number;
  readonly held: number;
  readonly abandoned: number;
  readonly exempt: number;
  /** Absent: none. */
  readonly awaitingApproval?: number;
  /** Of the queued, those whose namespace is paused; absent: none. */
  readonly paused?: number;
}

export interface ProgressView {
  readonly evacuation: Evacuation;
  readonly taints: readonly RecordedTaint[];
  /** Whether a taint of the cluster is not recorded yet. */
  readonly isRecording: boolean;
  readonly counts: EntryCounts;
  /** How many of the evicted are in no cluster although their eviction is over. */
  readonly stranded: number;
  /** How many of the queued may go already. */
  readonly due: number;
  readonly rate: Rate;
  readonly budgetPaused: boolean;
  readonly clusterPaused: boolean;
  /** The gate `Failover`. */
  readonly failover: boolean;
  readonly held: NonNullable<EvacuationStatus["held"]>;
  /** Found to be put back by a person since the status was written. */
  readonly putBack: NonNullable<EvacuationStatus["editedByHand"]>;
  readonly secondsLeft: number | undefined;
}

interface Phase {
  readonly phase: NonNullable<EvacuationStatus["phase"]>;
  readonly reason: PhaseReason | RateReason;
}

const MAX_HELD = 100;
const MAX_EDITED = 1000;

/** The status with this progress; undefined when the present one has it already. */
export function progressOf(view: ProgressView, now: Instant): EvacuationStatus | undefined {
  const { evacuation, counts, rate, taints } = view;
  const { status: old } = evacuation;
  const { phase, reason } = phaseOf(view);
  const isFinished = phase === "Completed" || phase === "Abandoned";
  const editedByHand = withPutBack(old?.editedByHand ?? [], view.putBack);
  const next: EvacuationStatus = {
    ...(evacuation.metadata.generation === undefined
      ? {}
      : { observedGeneration: evacuation.metadata.generation }),
    phase,
    reason,
    message: { ...phaseReasons, ...rateReasons }[reason],
    startedAt: old?.startedAt ?? formatTime(now),
    ...(isFinished ? { finishedAt: old?.finishedAt ?? formatTime(now) } : {}),
    taints,
    entries: counts,
    rate: { perSecond: rate.perSecond, reason: rate.reason },
    ...(view.held.length === 0 ? {} : { held: view.held.slice(0, MAX_HELD) }),
    ...(editedByHand.length === 0 ? {} : { editedByHand }),
    ...(old?.conditions === undefined ? {} : { conditions: old.conditions }),
  };
  const { estimatedSecondsLeft: _estimate, ...before } = old ?? {};
  if (equalJson(before, next)) return undefined;
  const showsEstimate = phase === "Running" && view.secondsLeft !== undefined;
  return showsEstimate ? { ...next, estimatedSecondsLeft: Math.ceil(view.secondsLeft) } : next;
}

function phaseOf(view: ProgressView): Phase {
  const { counts, evacuation, taints, rate } = view;
  const { queued, held, evicted, awaitingApproval = 0, paused = 0 } = counts;
  const waiting = queued + held + awaitingApproval;
  if (view.isRecording) return { phase: "Recording", reason: "Recording" };
  if (waiting + evicted === 0) return finished(view);
  if (waiting > 0) {
    if (evacuation.spec.paused) return { phase: "Paused", reason: "PausedByPerson" };
    if (view.budgetPaused) return { phase: "Paused", reason: "BudgetPaused" };
    if (view.clusterPaused) return { phase: "Paused", reason: "ClusterPaused" };
    if (isStoppedByGate(view.failover, taints)) return { phase: "Paused", reason: "GateOff" };
  }
  if (awaitingApproval > 0 && awaitingApproval === waiting + evicted)
    return { phase: "AwaitingApproval", reason: "AwaitingApproval" };
  if (paused > 0 && paused === waiting - awaitingApproval)
    return { phase: "Paused", reason: "NamespacePaused" };
  if (queued === 0 && held > 0) return { phase: "Held", reason: "NoTarget" };
  if (queued > 0 && rate.perSecond === 0) return { phase: "Braked", reason: rate.reason };
  if (queued === 0 && view.stranded > 0 && view.stranded === evicted)
    return { phase: "Running", reason: "NotPlaced" };
  const waits = queued > 0 && view.due === 0 && evicted === 0;
  return { phase: "Running", reason: waits ? "AwaitingToleration" : "Moving" };
}

function finished({ counts, taints }: ProgressView): Phase {
  if (counts.abandoned === 0) return { phase: "Completed", reason: "AllMoved" };
  const isRecovered = taints.every(({ removedAt }) => removedAt !== undefined);
  if (isRecovered) return { phase: "Abandoned", reason: "ClusterRecovered" };
  return { phase: "Completed", reason: "TakenOutByPerson" };
}

/** Whether the gate stops all of an evacuation: a person's drain goes on regardless (D18). */
export function isStoppedByGate(failover: boolean, taints: readonly RecordedTaint[]): boolean {
  if (failover) return false;
  return !taints.some(({ taint, removedAt }) => removedAt === undefined && isDrainTaint(taint));
}

const NO_ENTRIES: EntryCounts = {
  total: 0,
  queued: 0,
  evicted: 0,
  done: 0,
  held: 0,
  abandoned: 0,
  exempt: 0,
};

/** The status of an evacuation that the gate had stopped, once it is on again: another one begins, and no entry waits in this one. */
export function closedByGate(
  { held: _held, estimatedSecondsLeft: _left, ...old }: EvacuationStatus,
  now: Instant,
): EvacuationStatus {
  const finishedAt = formatTime(now);
  const { awaitingApproval, paused: _paused, ...entries } = old.entries ?? NO_ENTRIES;
  return {
    ...old,
    phase: "Abandoned",
    reason: "GateOff",
    message: phaseReasons.GateOff,
    taints: (old.taints ?? []).map((one) => ({ removedAt: finishedAt, ...one })),
    ...(old.entries !== undefined && {
      entries: {
        ...entries,
        queued: 0,
        held: 0,
        abandoned: entries.abandoned + entries.queued + entries.held + (awaitingApproval ?? 0),
      },
    }),
    finishedAt,
  };
}

/** Whether the gate had stopped this evacuation; switched on, another evacuation freezes eligibility again (D18). */
export function wasStoppedByGate({ status }: Evacuation): boolean {
  return status?.phase === "Paused" && status.reason === "GateOff";
}

function withPutBack(
  known: NonNullable<EvacuationStatus["editedByHand"]>,
  putBack: ProgressView["putBack"],
): NonNullable<EvacuationStatus["editedByHand"]> {
  const uids = new Set(known.map(({ uid }) => uid));
  return [...known, ...putBack.filter(({ uid }) => !uids.has(uid))].slice(0, MAX_EDITED);
}

export interface Line {
  readonly workloads: number;
  readonly passive: number;
}

/**
 * How long a cluster's line will take when clusters take turns: by then each other one has been served as often, or is
 * through. What has no replicas comes after all workloads. `lastDueAt`: before that not everything may go.
 */
export function secondsLeft(
  own: Line,
  others: readonly Line[],
  rates: { readonly workloads: number; readonly passive: number },
  lastDueAt: Instant | undefined,
  now: Instant,
): number | undefined {
  const needed = own.workloads + own.passive;
  const waits = lastDueAt === undefined ? 0 : Math.max(0, lastDueAt - now) / 1000;
  if (needed === 0) return undefined;
  if (!(rates.workloads > 0)) return undefined;
  const inTurn = (count: number, of: (line: Line) => number): number =>
    others.reduce((sum, line) => sum + Math.min(of(line), count), count);
  if (own.passive === 0)
    return Math.max(waits, inTurn(own.workloads, (line) => line.workloads) / rates.workloads);
  if (!(rates.passive > 0)) return undefined;
  const workloads = others.reduce((sum, line) => sum + line.workloads, own.workloads);
  const passive = inTurn(own.passive, (line) => line.passive);
  return Math.max(waits, workloads / rates.workloads + passive / rates.passive);
}
