/**
 * Removes copies from a member that bear our marks and have no Work, see core/propagation/works/stray.ts.
 *
 * 1. The member, the Work and the binding are read from their servers: a cache that is behind removes nothing.
 * 2. After a restore of the control plane nothing is removed until a person agrees (restore-hold.ts).
 * 3. A copy is deleted by the uid that it was judged under.
 */
import { type AnyObject, type ObjectKey, orNothing, Refused, works } from "@lifeboat/api";
import { addMs, type Clock } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { describeObject } from "@lifeboat/core/propagation/applying";
import { judgeStray } from "@lifeboat/core/propagation/works";
import {
  checkAgainAt,
  type Client,
  done,
  type EventRecorder,
  NotSent,
  type Outcome,
  OutcomeUnknown,
} from "@lifeboat/kit";
import { type Binding, bindingResource } from "../../context/bindings.ts";
import type { ObjectReference, Stray } from "./member-objects.ts";
import type { MemberWrites } from "./member-writes.ts";
import { isHeld } from "./restore-hold.ts";
import { bindingKeyOf } from "./still-wanted.ts";

export interface StrayPorts {
  readonly cluster: string;
  readonly clock: Clock;
  readonly plane: Client;
  readonly writes: MemberWrites;
  readonly events: EventRecorder;
}

const AGAIN_MS = 30_000;

/** Looks at a copy that names a Work which is not in the cache. */
export async function removeStray(
  ports: StrayPorts,
  work: ObjectKey,
  { copy: reference, seenAt }: Stray,
  signal: AbortSignal,
): Promise<Outcome> {
  const { cluster, clock } = ports;
  const again = checkAgainAt(addMs(clock.now(), AGAIN_MS));
  try {
    const copy = await ports.writes.read(reference, signal);
    if (copy === undefined || !isMarkedFor(copy, work)) return done;
    if ((await orNothing(ports.plane.get(works, work, { signal }))) !== undefined) return done;
    const binding = await bindingOf(ports.plane, copy, signal);
    if (binding === undefined) return done;
    const seenForMs = clock.monotonic() - seenAt;
    const verdict = judgeStray({ cluster, copy, binding, seenForMs });
    if (verdict !== "remove") return verdict === "wait" ? again : done;
    if (await isHeld(ports, signal)) return again;
    signal.throwIfAborted();
    await remove(ports, reference, copy, binding, signal);
    return again;
  } catch (error) {
    if (error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown)
      return again;
    throw error;
  }
}

/** What is on its way out is not looked at. */
function isMarkedFor({ metadata }: AnyObject, { namespace, name }: ObjectKey): boolean {
  const { labels = {}, annotations = {}, deletionTimestamp } = metadata;
  return (
    deletionTimestamp === undefined &&
    labels[wellKnown.MANAGED] === "true" &&
    annotations[wellKnown.WORK_NAMESPACE] === namespace &&
    annotations[wellKnown.WORK_NAME] === name
  );
}

async function bindingOf(
  plane: Client,
  { metadata }: AnyObject,
  signal: AbortSignal,
): Promise<Binding | undefined> {
  const key = bindingKeyOf(metadata.annotations);
  if (key === undefined) return undefined;
  return orNothing(plane.get(bindingResource(key), key, { signal }));
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
