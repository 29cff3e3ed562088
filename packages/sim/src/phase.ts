/**
 * How far a failover has come: the phases of the fault matrix, told from what is on the disks.
 *
 * The fleet is where the workload is that was evicted and is not through yet, else where its faulty clusters are; what is
 * left of a failover once no cluster is faulty is `recovering`.
 */
import { type Cluster, findCondition, type ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { tableOf, type Truth } from "./oracles/truth.ts";

/** In the order of a failover. */
export const phases = [
  "healthy",
  "detected",
  "window running",
  "tainted",
  "queued",
  "decided",
  "scheduled",
  "new starting",
  "new healthy",
  "old deleting",
  "done",
  "recovering",
] as const;

export type Phase = (typeof phases)[number];

const EVACUATIONS = "lifeboat.dev/evacuations";
const OVER: ReadonlySet<string | undefined> = new Set(["Completed", "Abandoned"]);

/** Where the fleet as a whole stands. */
export function phaseOf(truth: Truth): Phase {
  const clusters = truth.clusters();
  const evicted = truth
    .bindings()
    .find(({ spec }) => (spec.gracefulEvictionTasks ?? []).length > 0);
  if (evicted !== undefined) return phaseOfEvicted(truth, evicted);
  const faulty = new Set(clusters.filter(isFaulty).map(({ metadata }) => metadata.name));
  if (faulty.size > 0) return phaseOfFaulty(truth, faulty);
  const silent = clusters.filter((cluster) => !isReady(cluster));
  if (silent.some(isWaitedFor)) return "window running";
  if (silent.length > 0) return "detected";
  const isTainted = clusters.some(({ spec }) => (spec.taints ?? []).length > 0);
  return isTainted || openEvacuations(truth).length > 0 || isDeleting(truth)
    ? "recovering"
    : "healthy";
}

function phaseOfFaulty(truth: Truth, faulty: ReadonlySet<string>): Phase {
  if (isDeleting(truth)) return "old deleting";
  const isLeft = openEvacuations(truth).some((cluster) => faulty.has(cluster));
  const isUsed = truth
    .bindings()
    .some(({ spec }) => spec.clusters?.some(({ name }) => faulty.has(name)));
  if (!isUsed) return "done";
  return isLeft ? "queued" : "tainted";
}

function phaseOfEvicted(truth: Truth, { spec }: ResourceBinding): Phase {
  const targets = (spec.clusters ?? []).map(({ name }) => name);
  if (targets.length === 0) return "decided";
  const { kind, namespace = "", name } = spec.resource;
  const table = tableOf(kind);
  const key = `${namespace}/${name}`;
  const isThere = targets.some((cluster) => truth.ledger.find(cluster, table, key) !== undefined);
  if (!isThere) return "scheduled";
  const ready = truth.healthyCopies(table, key, targets);
  return ready.length === 0 ? "new starting" : "new healthy";
}

/** The clusters that somebody still leaves or left. */
function openEvacuations({ ledger }: Truth): readonly string[] {
  return ledger
    .objects("plane", EVACUATIONS)
    .map(
      ({ object }) =>
        object as { readonly spec?: { cluster?: string }; readonly status?: { phase?: string } },
    )
    .filter(({ status }) => !OVER.has(status?.phase))
    .map(({ spec }) => spec?.cluster ?? "");
}

function isDeleting(truth: Truth): boolean {
  return truth.works().some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

function isFaulty({ spec }: Cluster): boolean {
  return (spec.taints ?? []).some(({ effect }) => effect !== "NoSchedule");
}

function isReady({ status }: Cluster): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}

/** What a Cluster says of one taint policy. */
interface Remembered {
  readonly matchingSince?: string;
  readonly added?: readonly unknown[];
}

/** Whether a taint policy matches the cluster and has not added its taint yet. */
function isWaitedFor({ metadata }: Cluster): boolean {
  const text = metadata.annotations?.[wellKnown.TAINT_POLICIES] ?? "{}";
  const record = JSON.parse(text) as Readonly<Record<string, Remembered>>;
  return Object.values(record).some(
    ({ matchingSince, added }) => matchingSince !== undefined && added === undefined,
  );
}
