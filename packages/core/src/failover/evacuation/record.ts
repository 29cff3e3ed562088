/**
 * The record of an evacuation: an Evacuation `<cluster>-<n>` and its slices (D7).
 *
 *   new taint ──▶ judge everything on the cluster ──▶ slices of at most 500 entries ──▶ taint marked as recorded
 *
 * 1. Everything that was on the cluster is recorded, also what does not move (`exempt`): so a later edit of a policy
 *    changes nothing, and what is not recorded is known to have arrived later and is judged on arrival.
 * 2. A slice is written once. Its name follows from the evacuation, the taint and its ordinal, so that writing it a
 *    second time is refused instead of recording an entry twice.
 * 3. Nothing is released for a taint before it is marked as recorded, which is after its last slice.
 * 4. A taint that is removed is remembered with the time; one that comes back is another one.
 */
import type {
  Evacuation,
  EvacuationEntry,
  EvacuationSlice,
  New,
  ResourceBinding,
} from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isDrainTaint, type PurgeMode } from "../../binding/index.ts";
import { safeHash } from "../../placement/division/hash.ts";
import { compareText } from "../../fields.ts";
import { hasOwnAnswer } from "../../propagation/interpretation/interpretation.ts";
import { isWorkload } from "../../propagation/rendering/shares.ts";
import { affectedBy, type EvictingTaint } from "./affected.ts";
import { digestOfResult } from "./own-result.ts";
import type { ExemptReason } from "./reasons.ts";
import { identityOf, type RecordedTaint, taintId, type TaintIdentity } from "./taint-identity.ts";

const API_VERSION = "lifeboat.dev/v1alpha1";
const MAX_ENTRIES = 500;
/** Finished evacuations that are kept of each cluster, the running one included. */
const KEPT = 10;

/** The number in an evacuation's name; 0 when the name has another form. */
export function numberOf({ metadata, spec }: Evacuation): number {
  const { name } = metadata;
  const digits = name.startsWith(`${spec.cluster}-`) ? name.slice(spec.cluster.length + 1) : "";
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : 0;
}

/** Whether further taints of the cluster belong to this evacuation: it is new, or the cluster bears one of its taints. */
export function isOpen({ metadata, status }: Evacuation): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const taints = status?.taints ?? [];
  if (taints.length === 0) return status?.finishedAt === undefined;
  return taints.some(({ removedAt }) => removedAt === undefined);
}

/** The evacuation of a cluster that is going on, if there is one. */
export function currentOf(evacuations: readonly Evacuation[]): Evacuation | undefined {
  const newest = byNumber(evacuations).at(-1);
  return newest !== undefined && isOpen(newest) ? newest : undefined;
}

/** The next evacuation of a cluster. `isTaken`: whether another evacuation has this name. */
export function nextEvacuation(
  cluster: string,
  evacuations: readonly Evacuation[],
  isTaken: (name: string) => boolean = () => false,
): New<Evacuation> {
  const last = byNumber(evacuations).at(-1);
  let number = (last === undefined ? 0 : numberOf(last)) + 1;
  while (isTaken(`${cluster}-${number}`)) number += 1;
  return {
    apiVersion: API_VERSION,
    kind: "Evacuation",
    metadata: { name: `${cluster}-${number}` },
    spec: { cluster, paused: false },
  };
}

/** Those that are no longer kept. One that has not finished is always kept. */
export function surplusOf(evacuations: readonly Evacuation[]): readonly Evacuation[] {
  return byNumber(evacuations)
    .slice(0, -KEPT)
    .filter((one) => one.status?.finishedAt !== undefined && !isOpen(one));
}

export interface JudgeOptions {
  readonly defaultPurgeMode: PurgeMode;
  /** Whether a user's script interprets the replicas or the health of this kind. */
  isScripted(apiVersion: string, kind: string): boolean;
  /** Whether the policy of a binding asks for a person's approval (D30). */
  asksForApproval(binding: ResourceBinding): boolean;
  /** See priority.ts. */
  priorityOf(binding: ResourceBinding): number;
}

/** What is recorded of a binding that is on a cluster with this taint. */
export function judge(
  binding: ResourceBinding,
  cluster: string,
  taint: EvictingTaint,
  options: JudgeOptions,
): EvacuationEntry {
  const { metadata, spec } = binding;
  const { apiVersion, kind, name } = spec.resource;
  const { namespace = "" } = metadata;
  const common = {
    binding: {
      kind: namespace === "" ? ("ClusterResourceBinding" as const) : ("ResourceBinding" as const),
      ...(namespace === "" ? {} : { namespace }),
      name: metadata.name,
      uid: metadata.uid,
    },
    resource: { apiVersion, kind, name },
    lane: laneOf(binding, options),
    result: digestOfResult(binding),
  };
  const exempt = (why: ExemptReason): EvacuationEntry => ({ ...common, exempt: why });
  const answer = affectedBy(binding, cluster, taint, options.defaultPurgeMode);
  // seed: tolerated
  if (!answer.affected) return exempt(answer.why);
  const { purgeMode, toleratedUntil } = answer;
  const priority = options.priorityOf(binding);
  return {
    ...common,
    ...(priority === 0 ? {} : { priority }),
    ...(options.asksForApproval(binding) && !isDrainTaint(taint)
      ? { approval: "Required" as const }
      : {}),
    purgeMode,
    ...(toleratedUntil === undefined ? {} : { toleratedUntil: formatTime(toleratedUntil) }),
  };
}

/** Workloads have replicas or a notion of health; everything else waits for them (D6). */
function laneOf(binding: ResourceBinding, options: JudgeOptions): EvacuationEntry["lane"] {
  const { resource } = binding.spec;
  const isOne =
    isWorkload({ spec: binding.spec }) ||
    hasOwnAnswer(resource, "health") ||
    hasOwnAnswer(resource, "replicas") ||
    options.isScripted(resource.apiVersion, resource.kind);
  return isOne ? "Workload" : "Passive";
}

/** The slices that hold these entries; `first`: the ordinal of the first of them. */
export function slicesFor(
  evacuation: Evacuation,
  taint: TaintIdentity,
  first: number,
  entries: readonly EvacuationEntry[],
): readonly New<EvacuationSlice>[] {
  const sorted = entries.toSorted(compareEntries);
  const slices: New<EvacuationSlice>[] = [];
  for (let at = 0; at < sorted.length; at += MAX_ENTRIES) {
    const ordinal = first + slices.length;
    slices.push({
      apiVersion: API_VERSION,
      kind: "EvacuationSlice",
      metadata: {
        name: `${evacuation.metadata.name}-${safeHash(taintId(taint))}-${ordinal}`,
        ownerReferences: [
          {
            apiVersion: API_VERSION,
            kind: "Evacuation",
            name: evacuation.metadata.name,
            uid: evacuation.metadata.uid,
          },
        ],
      },
      spec: {
        evacuation: evacuation.metadata.name,
        taint,
        ordinal,
        entries: sorted.slice(at, at + MAX_ENTRIES),
      },
    });
  }
  return slices;
}

/** The ordinal of the next slice of a taint: none is used twice, also when one was deleted by hand. */
export function nextOrdinal(slices: readonly EvacuationSlice[]): number {
  return slices.reduce((next, { spec }) => Math.max(next, spec.ordinal + 1), 0);
}

/** What became of taints since they were last recorded. */
export interface TaintChanges {
  /** What the cluster bears now. */
  readonly borne: readonly EvictingTaint[];
  /** How many slices there are, by the taints (see `taintId`) all of whose slices exist. */
  readonly slices: ReadonlyMap<string, number>;
}

/** The taints of an evacuation, brought up to date; the same list when nothing changed. */
export function recordTaints(
  recorded: readonly RecordedTaint[],
  { borne, slices }: TaintChanges,
  now: Instant,
): readonly RecordedTaint[] {
  const bornIds = new Set(borne.map(taintId));
  const known = new Set(recorded.map(({ taint }) => taintId(taint)));
  let isChanged = false;
  const changed = recorded.map((one): RecordedTaint => {
    const id = taintId(one.taint);
    const next = broughtUpToDate(one, slices.get(id) ?? one.slices, bornIds.has(id), now);
    isChanged ||= next !== one;
    return next;
  });
  const added = borne
    .filter((one) => !known.has(taintId(one)) && slices.has(taintId(one)))
    .map((one) => ({
      taint: identityOf(one),
      slices: slices.get(taintId(one)) ?? 0,
      recorded: true,
    }));
  return isChanged || added.length > 0 ? [...changed, ...added] : recorded;
}

/** What the cluster bears decides, not what a person wrote into the record: a taint that is there is in force. */
function broughtUpToDate(
  one: RecordedTaint,
  slices: number,
  isBorne: boolean,
  now: Instant,
): RecordedTaint {
  const { removedAt, ...rest } = one;
  const isRight = one.slices === slices && isBorne === (removedAt === undefined);
  // seed: as-recorded
  if (isRight && (one.recorded || !isBorne)) return one;
  return isBorne
    ? { ...rest, slices, recorded: true }
    : { ...rest, slices, removedAt: removedAt ?? formatTime(now) };
}

function byNumber(evacuations: readonly Evacuation[]): readonly Evacuation[] {
  return evacuations.toSorted(
    (a, b) => numberOf(a) - numberOf(b) || compareText(a.metadata.name, b.metadata.name),
  );
}

/** In the order in which they leave when all may: by priority, then time, then name. The same set gives the same slices. */
export function compareEntries(a: EvacuationEntry, b: EvacuationEntry): number {
  return (
    (b.priority ?? 0) - (a.priority ?? 0) ||
    compareText(a.toleratedUntil ?? "", b.toleratedUntil ?? "") ||
    compareText(a.binding.namespace ?? "", b.binding.namespace ?? "") ||
    compareText(a.binding.name, b.binding.name)
  );
}
