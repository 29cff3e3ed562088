/**
 * Removes copies from a member that bear our marks and have no Work, see core/propagation/works/stray.ts.
 *
 * 1. The member and the Work are read from their servers, and the judge reads the binding: a cache that is behind removes
 *    nothing. An agent's judge is the plane, by the copy that the agent reports (`readEndorsements`).
 * 2. After a restore of the control plane nothing is removed until a person agrees (restore-hold.ts).
 * 3. A copy is deleted by the uid that it was judged under.
 */
import { type AnyObject, type ObjectKey, orNothing, Refused, works } from "@lifeboat/api";
import { addMs, type Clock } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { describeObject } from "@lifeboat/core/propagation/applying";
import {
  checkAgainAt,
  type Client,
  done,
  type EventRecorder,
  NotSent,
  type Outcome,
  OutcomeUnknown,
} from "@lifeboat/kit";
import type { Binding } from "../../context/bindings.ts";
import type { ObjectReference, Stray } from "./member-objects.ts";
import type { MemberWrites } from "./member-writes.ts";
import type { PlaneWord } from "./still-wanted.ts";

export interface StrayPorts {
  readonly cluster: string;
  readonly clock: Clock;
  readonly plane: Client;
  readonly word: PlaneWord;
  readonly writes: MemberWrites;
  readonly events: EventRecorder;
}

const AGAIN_MS = 30_000;

/** Reconciles a copy that names a Work which is not in the cache. */
export async function removeStray(
  ports: StrayPorts,
  work: ObjectKey,
  { copy: reference, seenAt }: Stray,
  signal: AbortSignal,
): Promise<Outcome> {
  const { clock } = ports;
  const again = checkAgainAt(addMs(clock.now(), AGAIN_MS));
  try {
    const copy = await ports.writes.read(reference, signal);
    if (copy === undefined || !isMarkedFor(copy, work)) return done;
    if ((await orNothing(ports.plane.get(works, work, { signal }))) !== undefined) return done;
    const seenForMs = clock.monotonic() - seenAt;
    const { verdict, binding } = await ports.word.judgeStray({ work, copy, seenForMs }, signal);
    if (verdict !== "remove" || binding === undefined) return verdict === "wait" ? again : done;
    if (await ports.word.isHeld(signal)) return again;
    signal.throwIfAborted();
    await remove(ports, reference, copy, binding, signal);
    return again;
  } catch (error) {
    if (error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown)
      return again;
    throw error;
  }
}

/** A copy that is being deleted does not count. */
function isMarkedFor({ metadata }: AnyObject, { namespace, name }: ObjectKey): boolean {
  const { labels = {}, annotations = {}, deletionTimestamp } = metadata;
  return (
    deletionTimestamp === undefined &&
    labels[wellKnown.MANAGED] === "true" &&
    annotations[wellKnown.WORK_NAMESPACE] === namespace &&
    annotations[wellKnown.WORK_NAME] === name
  );
}

async function remove(
  { cluster, writes, events }: StrayPorts,
  reference: ObjectReference,
  copy: AnyObject,
  binding: Binding,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = copy.metadata;
  await writes.remove(reference, { kind: "delete", uid, propagationPolicy: "Background" }, signal);
  events.record(binding, {
    type: "Normal",
    reason: "StrayCopyRemoved",
    message: `${describeObject(copy)} was in cluster ${cluster} without a Work and was removed.`,
  });
}
