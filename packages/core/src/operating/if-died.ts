/**
 * What would become of one workload if a cluster died now, decided by the functions that the control plane itself asks: which taint
 * the policies would add and when (`decideTaints`), whether it moves the workload (`affectedBy`), and where it would go with which
 * state (`decideRelease`).
 *
 * 1. It is the answer of this moment for this workload alone: others that leave the same cluster may take the room, and have their
 *    turn before it. `simulate` plays all of them.
 * 2. Each precondition is recorded, also those behind one that does not hold.
 */
import type {
  Cluster,
  ClusterTaintPolicy,
  EvacuationBudget,
  KubeObject,
  ResourceBinding,
  Work,
} from "@lifeboat/api";
import { addMs, formatTime, type Instant, parseTime, plainMoment } from "@lifeboat/base";
import { isOn, type PurgeMode } from "../binding/index.ts";
import type { Fields } from "../fields.ts";
import {
  type ApprovalMode,
  asksForApproval,
  needsApproval,
} from "../failover/evacuation/approval.ts";
import { affectedBy, type EvictingTaint } from "../failover/evacuation/affected.ts";
import { isFailed, type RateOptions, rateReasons } from "../failover/evacuation/rate.ts";
import { exemptReasons } from "../failover/evacuation/reasons.ts";
import { decideRelease } from "../failover/evacuation/release.ts";
import { describeTaint, identityOf } from "../failover/evacuation/taint-identity.ts";
import { fleetViewOf, placementViewOf } from "../placement/placement-view.ts";
import type { Target } from "../placement/view.ts";
import { pauseOf, RateWhenDead } from "./brakes.ts";
import { deadCluster, type DeadCluster, noticedAfterMs, type NoticeTimes } from "./dead-cluster.ts";
import { sharesOf } from "./shares.ts";

export interface IfDiedView {
  readonly cluster: string;
  readonly binding: ResourceBinding;
  /** The Work of its copy in the cluster. */
  readonly work: Work | undefined;
  /** The workload itself; undefined: it is not known. */
  readonly template: Fields | undefined;
  /** The policy that claims it. */
  readonly policy: Pick<KubeObject, "metadata"> | undefined;
  readonly clusters: readonly Cluster[];
  /** All of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  readonly taintPolicies: readonly ClusterTaintPolicy[];
  /** What people ordered: pauses, the rate that they set. */
  readonly budget: EvacuationBudget["spec"] | undefined;
  readonly settings: IfDiedSettings;
  readonly rates: RateOptions;
}

export interface IfDiedSettings extends NoticeTimes {
  readonly failover: boolean;
  readonly statefulFailoverInjection: boolean;
  readonly purgeMode: PurgeMode;
  readonly approval: ApprovalMode;
}

export const PRECONDITIONS = [
  "gate",
  "rule",
  "affected",
  "approval",
  "paused",
  "rate",
  "fence",
  "target",
  "state",
] as const;

export interface Precondition {
  readonly name: (typeof PRECONDITIONS)[number];
  readonly holds: boolean;
  readonly text: string;
}

export interface IfDied {
  readonly cluster: string;
  /** Whether it would leave and be placed elsewhere without a person. */
  readonly moves: boolean;
  /** From the failure until it may leave at the earliest; absent: never. */
  readonly leavesAfterMs?: number;
  readonly targets: readonly Target[];
  readonly carried: Readonly<Record<string, string>>;
  readonly preconditions: readonly Precondition[];
}

export function decideIfDied(view: IfDiedView, now: Instant): IfDied {
  const { cluster: name, binding, settings } = view;
  const source = view.clusters.find(({ metadata }) => metadata.name === name);
  const gate = precondition(
    "gate",
    settings.failover,
    settings.failover ? "failover is on" : "the feature gate Failover is off",
  );
  if (source === undefined || !isOn(binding, name))
    return { ...NOTHING, cluster: name, preconditions: [gate] };
  const noticedAfter = noticedAfterMs(source, settings);
  const noticed = addMs(now, noticedAfter);
  const dead = deadCluster(source, view.taintPolicies, noticed);
  const found = firstMove(dead, view);
  const rule = ruleOf(dead, noticed);
  if (found === undefined) {
    const affected = whyNot(dead, view);
    return { ...NOTHING, cluster: name, preconditions: [gate, rule, ...affected] };
  }
  const { taint, at, purgeMode } = found;
  const pause = pauseOf(view.budget, name, binding);
  const rate = new RateWhenDead(dead.cluster, view.clusters, view.budget, view.rates);
  const movesAt = rate.firstMoveFrom(at);
  const waits = at - (parseTime(taint.timeAdded ?? "") ?? at);
  const affected = precondition(
    "affected",
    true,
    waits <= 0 ? "tolerates nothing of it" : `tolerates it for ${waits / 1000} s`,
  );
  const approval = approvalOf(view, taint);
  const fence = precondition(
    "fence",
    purgeMode !== "Directly",
    purgeMode === "Directly"
      ? `purge mode Directly: the old copy must be proven gone (lifeboat fence ${name})`
      : `purge mode ${purgeMode}: needs no proof that ${name} is off`,
  );
  const decision = releaseOf(dead, found, view, at);
  const isReleased = decision.outcome === "release";
  const targets = isReleased ? decision.targets : [];
  const carried = isReleased ? decision.order.state : {};
  const ends = [...targetParts(decision, carried)];
  const preconditions = [
    gate,
    rule,
    affected,
    ...approval,
    ...pausedPart(pause),
    ratePart(rate, at, movesAt),
    fence,
    ...ends,
  ];
  const leaves = settings.failover && pause === undefined;
  return {
    cluster: name,
    moves: preconditions.every(({ holds }) => holds),
    // Times of taints are whole seconds, rounded down.
    ...(leaves && movesAt !== undefined
      ? { leavesAfterMs: noticedAfter + Math.ceil((movesAt - noticed) / 1000) * 1000 }
      : {}),
    targets,
    carried,
    preconditions,
  };
}

const NOTHING = { moves: false, targets: [], carried: {} } as const;

/** Nothing where no approval is needed: most fleets never ask for one. */
function approvalOf(
  { policy, settings }: IfDiedView,
  taint: EvictingTaint,
): readonly Precondition[] {
  const asked = asksForApproval(policy) ? ({ approval: "Required" } as const) : {};
  const identity = { ...taint, timeAdded: taint.timeAdded ?? "" };
  if (!needsApproval(asked, identityOf(identity), settings.approval)) return [];
  return [
    precondition("approval", false, "stays until a person runs lifeboat evacuations approve"),
  ];
}

/** Nothing where no person paused: most of the time none is. */
function pausedPart(pause: string | undefined): readonly Precondition[] {
  if (pause === undefined) return [];
  return [
    precondition(
      "paused",
      false,
      `${pause}: stays until a person runs lifeboat evacuations resume`,
    ),
  ];
}

function ratePart(rate: RateWhenDead, at: Instant, movesAt: Instant | undefined): Precondition {
  const { failed, counted, reason } = rate.at(at);
  if (movesAt === undefined)
    return precondition("rate", false, `${failed} of ${counted} failed: ${rateReasons[reason]}`);
  const perSecond = `${rate.at(movesAt).perSecond}/s`;
  const waits = Math.ceil((movesAt - at) / 1000);
  return precondition(
    "rate",
    true,
    waits === 0
      ? perSecond
      : `${perSecond}, after the rate of 0 that a person set ends in ${waits} s`,
  );
}

type Decision = ReturnType<typeof decideRelease>;

function targetParts(
  decision: Decision,
  carried: Readonly<Record<string, string>>,
): readonly Precondition[] {
  if (decision.outcome === "held") {
    const isState = decision.reason === "StateNotReadable" || decision.reason === "TemplateMissing";
    const text = `${decision.reason}: ${decision.message}`;
    return [precondition(isState ? "state" : "target", false, text)];
  }
  const labels = Object.entries(carried).map(([key, value]) => `${key}=${value}`);
  const state = labels.length === 0 ? "carries none" : `carries ${labels.join(", ")}`;
  const warned = decision.warnings.length === 0 ? "" : ` (${decision.warnings.join(" ")})`;
  return [
    precondition("target", true, sharesOf(decision.targets)),
    precondition("state", true, `${state}${warned}`),
  ];
}

function precondition(name: Precondition["name"], holds: boolean, text: string): Precondition {
  return { name, holds, text };
}

function ruleOf({ cluster, taints }: DeadCluster, now: Instant): Precondition {
  const [first] = taints;
  if (first === undefined)
    return precondition(
      "rule",
      false,
      `no ClusterTaintPolicy gives ${cluster.metadata.name} a taint that moves workloads`,
    );
  const added = parseTime(first.timeAdded ?? "") ?? now;
  const seconds = Math.max(0, Math.round((added - now) / 1000));
  return precondition(
    "rule",
    true,
    `taint ${describeTaint(first)} ${seconds === 0 ? "at once" : `after ${seconds} s`}`,
  );
}

interface FirstMove {
  readonly taint: EvictingTaint;
  readonly at: Instant;
  readonly purgeMode: PurgeMode;
}

/** The taint that moves the workload first. */
function firstMove({ taints }: DeadCluster, view: IfDiedView): FirstMove | undefined {
  return taints
    .flatMap((taint): readonly FirstMove[] => {
      const answer = affectedBy(view.binding, view.cluster, taint, view.settings.purgeMode);
      const added = parseTime(taint.timeAdded ?? "");
      if (!answer.affected || added === undefined) return [];
      return [{ taint, at: answer.toleratedUntil ?? added, purgeMode: answer.purgeMode }];
    })
    .toSorted((a, b) => a.at - b.at)[0];
}

function whyNot({ taints }: DeadCluster, view: IfDiedView): readonly Precondition[] {
  const [first] = taints;
  if (first === undefined) return [];
  const answer = affectedBy(view.binding, view.cluster, first, view.settings.purgeMode);
  return answer.affected ? [] : [precondition("affected", false, exemptReasons[answer.why])];
}

function releaseOf(dead: DeadCluster, move: FirstMove, view: IfDiedView, at: Instant): Decision {
  const { binding, cluster, settings } = view;
  const fleet = view.clusters.map((one) => (one.metadata.name === cluster ? dead.cluster : one));
  const faulty = new Set(fleet.filter(isFailed).map(({ metadata }) => metadata.name));
  return decideRelease(
    {
      evacuation: cluster,
      cluster,
      taint: identityOf({ ...move.taint, timeAdded: move.taint.timeAdded ?? formatTime(at) }),
      purgeMode: move.purgeMode,
      placement: placementViewOf(binding, fleetViewOf(fleet, view.bindings), "target"),
      leaving: faulty,
      healthyElsewhere: 0,
      state: {
        work: view.work,
        policy: view.policy,
        enabled: settings.statefulFailoverInjection,
        template: view.template,
      },
    },
    plainMoment(at),
  );
}
