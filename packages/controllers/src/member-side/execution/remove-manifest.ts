/**
 * Taking one object of a Work out of its member.
 *
 * 1. The decision is made on what the member itself answers, never on a cache.
 * 2. `gone` means that the member answered so, for this object; with `waitForDependents`, for its pods too (D10). Whether
 *    that proves anything is not known here (late-creates.ts).
 */
import { addMs, type Clock, type Instant } from "@lifeboat/base";
import type { Fields } from "@lifeboat/core";
import { decideRemove, podsOf } from "@lifeboat/core/propagation/applying";
import type { ObjectReference } from "./member-objects.ts";
import type { MemberWrites } from "./member-writes.ts";
import { HELD_AGAIN_MS } from "./restore-hold.ts";

export interface Removal {
  readonly manifest: Fields;
  readonly reference: ObjectReference;
  readonly preserve: boolean;
  readonly waitForDependents: boolean;
  /** Called with the uid of an object of ours that is there. */
  readonly onSeen: (uid: string) => void;
  /** Asks, before anything is removed, whether the server still has this very Work; false: not now. */
  readonly isStillGoing: (signal: AbortSignal) => Promise<boolean>;
  /** Asks, before anything is deleted, whether deletions wait for a person after a restore. */
  readonly isHeld: (signal: AbortSignal) => Promise<boolean>;
}

export type Removed =
  | { readonly kind: "gone" }
  | { readonly kind: "leaving"; readonly checkAgainAt: Instant }
  /** It stays until a person agrees (restore-hold.ts). */
  | { readonly kind: "held"; readonly checkAgainAt: Instant }
  | { readonly kind: "failed"; readonly problem: string };

/** A watch reports the end of an object; this is for the case that it does not. */
const OBJECT_AGAIN_MS = 5000;
const PODS_AGAIN_MS = 1000;

/** Does the next step. Rejects when the member does not answer or refuses. */
export async function removeManifest(
  ports: { readonly clock: Clock; readonly writes: MemberWrites },
  removal: Removal,
  signal: AbortSignal,
): Promise<Removed> {
  const { writes, clock } = ports;
  const { manifest, reference, preserve, waitForDependents } = removal;
  const observed = await writes.read(reference, signal);
  signal.throwIfAborted();
  const plan = decideRemove({ manifest, observed, preserve, waitForDependents });
  if (observed?.metadata.uid !== undefined && plan.reason !== "NotOurs")
    removal.onSeen(observed.metadata.uid);
  if (plan.reason === "UidUnknown") return { kind: "failed", problem: "the object has no uid" };
  if (plan.commands.length > 0 && !(await removal.isStillGoing(signal)))
    return { kind: "leaving", checkAgainAt: addMs(clock.now(), OBJECT_AGAIN_MS) };
  const deletes = plan.commands.some(({ kind }) => kind === "delete");
  if (deletes && (await removal.isHeld(signal)))
    return { kind: "held", checkAgainAt: addMs(clock.now(), HELD_AGAIN_MS) };
  for (const command of plan.commands) await writes.remove(reference, command, signal);
  if (plan.reason === "Released" || plan.reason === "NotOurs") return { kind: "gone" };
  const rest = plan.reason === "Deleted" ? await writes.read(reference, signal) : observed;
  if (rest !== undefined && rest.metadata.uid === observed?.metadata.uid)
    return { kind: "leaving", checkAgainAt: addMs(clock.now(), OBJECT_AGAIN_MS) };
  const pods = waitForDependents ? podsOf(manifest) : undefined;
  if (pods !== undefined && (await writes.hasPods(pods, signal)))
    return { kind: "leaving", checkAgainAt: addMs(clock.now(), PODS_AGAIN_MS) };
  return { kind: "gone" };
}
