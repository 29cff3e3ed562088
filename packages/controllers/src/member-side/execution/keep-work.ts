/**
 * Brings the objects of a Work that is not being deleted to its member, and reports their status.
 *
 * 1. Nothing is applied for the first time before the plane's word was asked whether the Work is still wanted, and nothing is
 *    created again, or put back to what it was, before the plane was asked whether the Work is still there
 *    (still-wanted.ts).
 * 2. Drift is undone at once, but ever more slowly while another client changes the objects again and again (core's
 *    undo-pace.ts).
 * 3. One manifest's failure does not keep the others from the member. The Work is reconciled again after a pause.
 */
import { findCondition, orNothing, type Work, works as workResource } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { type Fields, integerAt } from "@lifeboat/core";
import { undoFrom, undoneOnceMore } from "@lifeboat/core/propagation/applying";
import {
  appliedVersions,
  type ApplyOutcome,
  type ManifestReport,
} from "@lifeboat/core/propagation/observing";
import { wasTried } from "@lifeboat/core/propagation/works";
import { checkAgainAt, type Client, done, type Outcome } from "@lifeboat/kit";
import { type AnsweredRecord, keepManifest, type Kept, type NotYet } from "./keep-manifest.ts";
import {
  isReference,
  type Located,
  locateManifests,
  type LocatePorts,
  NO_OBJECT,
} from "./locate-manifests.ts";
import type { MemberEndpoints } from "./member-endpoints.ts";
import type { MemberObjects } from "./member-objects.ts";
import type { ExecutionMetrics } from "./metrics.ts";
import { againAtEarliest, pauseAfterFailure, type PausePorts } from "./reconcile-again.ts";
import { type ReportPorts, reportWork } from "./report-work.ts";
import { isStillThere, type PlaneWord } from "./still-wanted.ts";
import { generationOf, manifestsOf, statusOf } from "./work-fields.ts";
import type { WorkMemory } from "./work-memory.ts";

export interface KeepPorts extends LocatePorts, PausePorts, ReportPorts {
  readonly word: PlaneWord;
  readonly objects: MemberObjects;
  readonly endpoints: MemberEndpoints;
  readonly metrics: ExecutionMetrics;
}

/** Applies all manifests of a Work and writes its status. */
export async function keepWork(
  ports: KeepPorts,
  work: Work,
  memory: WorkMemory,
  signal: AbortSignal,
): Promise<Outcome> {
  const answer = await mayBegin(ports, work, memory, signal);
  if (answer === "awaited") return done;
  if (answer !== "wanted")
    return checkAgainAt(
      pauseAfterFailure(ports, work, memory, "its binding does not ask for it here"),
    );
  const started = ports.clock.monotonic();
  const manifests = manifestsOf(work);
  const places = await locateManifests(ports, manifests);
  ports.objects.follow(work.metadata.name, places.filter(isReference));
  const reports: ManifestReport[] = [];
  const times: Instant[] = [];
  let wrote = false;
  for (const [ordinal, manifest] of manifests.entries()) {
    const kept = await keepOne(ports, work, memory, manifest, ordinal, places[ordinal], signal);
    if ("waitUntil" in kept) return checkAgainAt(kept.waitUntil);
    reports.push(withEndpoints(ports, work, kept.report, ordinal, places[ordinal]));
    if (kept.applied !== undefined) memory.applied.set(ordinal, kept.applied);
    if (kept.checkAgainAt !== undefined) times.push(kept.checkAgainAt);
    wrote ||= kept.wrote;
  }
  const problem = reports.find(({ outcome }) => "problem" in outcome)?.outcome;
  if (wrote || problem !== undefined) measure(ports, started, problem);
  if (reports.every(({ outcome }) => outcome.kind === "applied"))
    memory.proven = generationOf(work);
  const again = await reportWork(ports, work, memory, reports, signal);
  if (again !== undefined) times.push(again);
  if (problem === undefined) memory.failures = 0;
  else times.push(pauseAfterFailure(ports, work, memory, problemIn(problem)));
  return againAtEarliest(times);
}

async function mayBegin(
  { plane, word }: KeepPorts,
  work: Work,
  memory: WorkMemory,
  signal: AbortSignal,
): ReturnType<PlaneWord["mayBegin"]> {
  if (memory.wanted || wasTried(work)) return "wanted";
  const answer = await word.mayBegin(work, signal);
  if (answer === "orphaned") await discard(plane, work, signal);
  memory.wanted = answer === "wanted";
  return answer;
}

/** Deletes a Work that was never tried. */
async function discard(plane: Client, { metadata }: Work, signal: AbortSignal): Promise<void> {
  const { namespace = "", name, uid, resourceVersion } = metadata;
  const preconditions = { uid, resourceVersion };
  await orNothing(plane.delete(workResource, { namespace, name }, { preconditions, signal }));
}

async function keepOne(
  ports: KeepPorts,
  work: Work,
  memory: WorkMemory,
  manifest: Fields,
  ordinal: number,
  place: Located | undefined,
  signal: AbortSignal,
): Promise<Kept | NotYet> {
  const suspended = work.spec.suspendDispatching === true;
  if (place === undefined || !isReference(place)) {
    const outcome: ApplyOutcome = suspended ? { kind: "suspended" } : (place ?? NO_OBJECT);
    return { report: { manifest, outcome }, wrote: false, placeMissing: false };
  }
  const proven = isProven(work, memory);
  const kept = await keepManifest(
    memory.ports,
    {
      manifest,
      reference: place,
      suspended,
      proven,
      undoFrom: undoFrom(memory.undone),
      applied: memory.applied.get(ordinal) ?? recordedIn(work, manifest, ordinal),
      isStillMeant: (until) => isStillMeant(ports, work, memory, until),
    },
    signal,
  );
  if ("waitUntil" in kept) return kept;
  memory.wrote ||= kept.wrote;
  if (kept.placeMissing) ports.apis.doubt(String(manifest["apiVersion"]), String(manifest["kind"]));
  if (proven && kept.wrote) memory.undone = undoneOnceMore(memory.undone, ports.clock.monotonic());
  return kept;
}

/** The report of a Service with its pods or nodes, if it needs them. */
function withEndpoints(
  { endpoints }: KeepPorts,
  work: Work,
  report: ManifestReport,
  ordinal: number,
  place: Located | undefined,
): ManifestReport {
  const { manifest, reflection } = report;
  const isSeen = reflection !== undefined && reflection.statusProblem === undefined;
  if (manifest["kind"] !== "Service" || !isSeen || place === undefined || !isReference(place))
    return report;
  const before = statusOf(work).manifestStatuses?.find(
    (entry) => integerAt(entry, "identifier", "ordinal") === ordinal,
  );
  const status = endpoints.complete({
    manifest,
    key: place.key,
    status: reflection.status,
    before: before?.["status"],
  });
  return status === reflection.status
    ? report
    : { ...report, reflection: { ...reflection, status } };
}

/** The first time the plane's word counts instead, see still-wanted.ts. */
async function isStillMeant(
  { plane, word }: KeepPorts,
  work: Work,
  memory: WorkMemory,
  signal: AbortSignal,
): Promise<boolean> {
  const isFirst = !wasTried(work);
  if (isFirst && !(await word.mayCreate(work, signal))) return false;
  return (isFirst && !memory.wrote) || isStillThere(plane, work, signal);
}

/** Whether this generation was applied and observed, by the status, or by what this process saw. */
function isProven(work: Work, memory: WorkMemory): boolean {
  const generation = generationOf(work);
  if (memory.proven === generation) return true;
  const { conditions } = statusOf(work);
  return ["Applied", "StatusObserved"].every((type) => {
    const condition = findCondition(conditions, type);
    return condition?.status === "True" && condition.observedGeneration === generation;
  });
}

/** What the status holds of the last write, when this process does not remember it. */
function recordedIn(work: Work, manifest: Fields, ordinal: number): AnsweredRecord | undefined {
  const version = appliedVersions(generationOf(work), statusOf(work))?.[ordinal];
  return version === undefined ? undefined : { desired: manifest, version, answeredAt: 0 };
}

function measure(
  { clock, metrics }: KeepPorts,
  started: number,
  problem: ApplyOutcome | undefined,
): void {
  const seconds = (clock.monotonic() - started) / 1000;
  metrics.duration.observe(seconds, { result: problem === undefined ? "success" : "error" });
}

function problemIn(outcome: ApplyOutcome): string {
  return "problem" in outcome ? outcome.problem : "";
}
