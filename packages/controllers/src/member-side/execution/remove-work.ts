/**
 * Takes the objects of a Work that is being deleted out of its member, then takes execution's finalizer off the Work.
 *
 * 1. The finalizer goes only when each object is gone, released, or never was ours, and no request of ours may bring it back
 *    (late-creates.ts).
 * 2. A member that does not answer may have the object: the Work waits. A kind that the member does not serve has no objects.
 */
import { isRefused, type Work, works as workResource } from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import { type Fields, wellKnown } from "@lifeboat/core";
import { type Client, done, type EventRecorder, type Outcome } from "@lifeboat/kit";
import { unknownOutcome } from "./keep-manifest.ts";
import {
  isReference,
  type Located,
  locateManifests,
  type LocatePorts,
  NO_OBJECT,
} from "./locate-manifests.ts";
import type { MemberObjects } from "./member-objects.ts";
import { waitsForDependents } from "./member-writes.ts";
import { againAtEarliest, pauseAfterFailure, type PausePorts } from "./reconcile-again.ts";
import { removeManifest } from "./remove-manifest.ts";
import { isSameWork, type PlaneWord } from "./still-wanted.ts";
import { manifestsOf, recordedUid } from "./work-fields.ts";
import type { WorkMemory } from "./work-memory.ts";

export interface RemovePorts extends LocatePorts, PausePorts {
  readonly plane: Client;
  readonly word: Pick<PlaneWord, "isHeld">;
  readonly events: EventRecorder;
  readonly objects: MemberObjects;
}

/** How often a member is asked whether an object came after all. */
const LATE_AGAIN_MS = 10_000;

/** Removes the objects of a Work as far as they can be removed now. */
export async function removeWork(
  ports: RemovePorts,
  work: Work,
  memory: WorkMemory,
  signal: AbortSignal,
): Promise<Outcome> {
  const finalizers = work.metadata.finalizers ?? [];
  if (!finalizers.includes(wellKnown.EXECUTION_FINALIZER)) return done;
  const manifests = manifestsOf(work);
  const places = await locateManifests(ports, manifests);
  ports.objects.follow(work.metadata.name, places.filter(isReference));
  const times: Instant[] = [];
  for (const [ordinal, manifest] of manifests.entries()) {
    const place = places[ordinal] ?? NO_OBJECT;
    const again = await removeOne(ports, work, memory, manifest, ordinal, place, signal);
    if (again !== undefined) times.push(again);
  }
  if (times.length > 0) return againAtEarliest(times);
  memory.failures = 0;
  signal.throwIfAborted();
  await release(ports.plane, work, finalizers, signal);
  return done;
}

/** Answers when to reconcile again; undefined when the object is out of the way. */
async function removeOne(
  ports: RemovePorts,
  work: Work,
  memory: WorkMemory,
  manifest: Fields,
  ordinal: number,
  place: Located,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const { spec, metadata } = work;
  if (!isReference(place))
    // A kind that is not served has no objects; a member that does not answer may have them.
    return place.kind === "unknown" ? removalFailed(ports, work, memory, place.problem) : undefined;
  try {
    const removal = {
      manifest,
      reference: place,
      preserve: spec.preserveResourcesOnDeletion === true,
      waitForDependents: waitsForDependents(metadata.annotations),
      isStillGoing: (until: AbortSignal) => isSameWork(ports.plane, work, until),
      isHeld: (until: AbortSignal) => ports.word.isHeld(until),
      onSeen: (uid: string) => {
        if (uid === recordedUid(work, ordinal)) memory.late.know(ordinal);
      },
    };
    const removed = await removeManifest(memory.ports, removal, signal);
    if (removed.kind === "failed") return removalFailed(ports, work, memory, removed.problem);
    if (removed.kind === "leaving") return removed.checkAgainAt;
    if (removed.kind === "held") {
      reportHeld(ports, work, memory);
      return removed.checkAgainAt;
    }
    if (memory.late.isAbsenceProof(ordinal)) return undefined;
    return addMs(ports.clock.now(), LATE_AGAIN_MS);
  } catch (error) {
    if (signal.aborted) throw error;
    if (isRefused(error, "Conflict") || isRefused(error, "NotFound"))
      return pauseAfterFailure(ports, work, memory, error.message);
    const outcome = unknownOutcome(error);
    // seed: no-answer
    return removalFailed(ports, work, memory, "problem" in outcome ? outcome.problem : "");
  }
}

function removalFailed(
  ports: RemovePorts,
  work: Work,
  memory: WorkMemory,
  problem: string,
): Instant {
  if (memory.failures === 0)
    ports.events.record(work, {
      type: "Warning",
      reason: "SyncFailed",
      message: `Failed to remove the objects from cluster ${ports.cluster}: ${problem}`,
    });
  return pauseAfterFailure(ports, work, memory, problem);
}

function reportHeld(ports: RemovePorts, work: Work, memory: WorkMemory): void {
  if (memory.toldHeld === true) return;
  memory.toldHeld = true;
  ports.events.record(work, {
    type: "Warning",
    reason: "RemovalHeld",
    message:
      `The objects of the Work stay in cluster ${ports.cluster}: the control plane was restored from a backup, and ` +
      "deletes nothing in members until a person agrees (lifeboat brake release).",
  });
}

async function release(
  plane: Client,
  work: Work,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name, resourceVersion } = work.metadata;
  const rest = finalizers.filter((finalizer) => finalizer !== wellKnown.EXECUTION_FINALIZER);
  const body = { metadata: { resourceVersion, finalizers: rest } };
  try {
    await plane.patch(workResource, { namespace, name }, { type: "merge", body }, { signal });
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}
