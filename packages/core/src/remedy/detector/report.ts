/**
 * What the instances of a detector report to each other, and what their leader writes on the Cluster.
 *
 * Each instance holds a Lease of its own in the cluster's execution namespace of the control plane: its verdict, renewed at least
 * every `HEARTBEAT_MS`. So a cluster whose API server is down is judged all the same, and a healthy one costs few writes.
 *
 * 1. An instance writes its Lease when its verdict changes and as a heartbeat, and otherwise not.
 * 2. Only fresh Leases count: those that were renewed within their own duration.
 * 3. The condition is False only when every fresh instance fails. One that is undecided keeps it from turning False, and one that works
 *    makes it True: a single broken node is no broken cluster.
 * 4. Windows are kept by the instances, so a change of the leader shortens none.
 * 5. Instances that report different conditions of one cluster have nothing to do with each other.
 */
import type { Condition, KubeObject } from "@lifeboat/api";
import type { PlannedCondition } from "../../plan.ts";
import { safeHash } from "../../placement/division/index.ts";
import {
  DETECTOR_CONDITION,
  DETECTOR_LEASE_PREFIX,
  DETECTOR_OF,
  DETECTOR_VERDICT,
  NAME_RESOLUTION,
} from "../../well-known.ts";
import { type DetectorReason, detectorReasons } from "./reasons.ts";

export const HEARTBEAT_MS = 20_000;

/** Clients know these words. */
const MESSAGES = { True: "coredns function is normal", False: "coredns function is not normal" };

/** The Lease by which the instances that report this condition elect their leader: each condition has its own instances. */
export function leaderLeaseName(condition: string): string {
  const name = `${DETECTOR_LEASE_PREFIX}leader`;
  return condition === NAME_RESOLUTION ? name : `${name}-${safeHash(condition)}`;
}

/** What one instance reports. */
export interface InstanceReport {
  readonly host: string;
  readonly verdict: boolean | undefined;
  readonly isFresh: boolean;
}

/** The Lease of one instance for one condition. */
export function instanceLeaseName(host: string, condition: string): string {
  return `${DETECTOR_LEASE_PREFIX}${safeHash(`${host} ${condition}`)}`;
}

/** What marks the Lease of an instance. */
export function instanceMarks(cluster: string, condition: string, verdict: boolean | undefined) {
  return {
    labels: { [DETECTOR_OF]: cluster },
    annotations: {
      [DETECTOR_CONDITION]: condition,
      [DETECTOR_VERDICT]: verdict === undefined ? "Unknown" : verdict ? "True" : "False",
    },
  };
}

/** The verdict that a Lease reports for this condition; null: it is no Lease of an instance for it. */
export function reportedVerdict(
  { metadata }: Pick<KubeObject, "metadata">,
  condition: string,
): boolean | undefined | null {
  const { annotations = {} } = metadata;
  if (annotations[DETECTOR_CONDITION] !== condition) return null;
  const text = annotations[DETECTOR_VERDICT];
  return text === "True" ? true : text === "False" ? false : undefined;
}

export interface LeaseWriteView {
  readonly verdict: boolean | undefined;
  /** What was written last; undefined: nothing yet. */
  readonly written?: { readonly verdict: boolean | undefined; readonly at: number } | undefined;
}

/** Whether an instance writes its Lease now, on a clock that never goes back. */
export function isLeaseDue({ verdict, written }: LeaseWriteView, now: number): boolean {
  return written === undefined || written.verdict !== verdict || now - written.at >= HEARTBEAT_MS;
}

/** The condition to write on the Cluster; undefined: it stays as it is. */
export function decideDetection(
  type: string,
  reports: readonly InstanceReport[],
  current: Condition | undefined,
): PlannedCondition<DetectorReason> | undefined {
  const fresh = reports.filter(({ isFresh }) => isFresh);
  const works = fresh.some(({ verdict }) => verdict === true);
  const fails = fresh.length > 0 && fresh.every(({ verdict }) => verdict === false);
  if (!works && !fails) return undefined;
  const status = works ? "True" : "False";
  const reason: DetectorReason = works ? "DetectorSucceeds" : "DetectorFails";
  const message = type === NAME_RESOLUTION ? MESSAGES[status] : detectorReasons[reason];
  const isSame =
    current?.status === status && current.reason === reason && current.message === message;
  return isSame ? undefined : { type, status, reason, message };
}
