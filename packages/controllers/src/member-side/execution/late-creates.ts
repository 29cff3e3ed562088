/**
 * Whether an object of a Work may still come into being in its member by a request that was given up.
 *
 * A create that is given up may be on its way all the same: in the send buffer of a broken connection, in a proxy, in the
 * queue of a server that stands still. Until then the member answers that there is no such object, and is right. A Work
 * that is let go on that answer leaves a copy behind that no Work holds, beside the one that was made elsewhere (D10).
 *
 * 1. After a create of unknown outcome "there is none" counts once the member has answered this Work's questions for
 *    SETTLED_MS without a break. That covers what may hold a request up: every write asks the server to give it up after
 *    the call's timeout of half a minute (kit, http-client.ts), a kernel repeats what is in its buffers at most a minute
 *    apart, and a server that stood still takes what waits for it when it goes on, not later.
 * 2. What a process before this one sent is unknown too. It is waited for only with Works that were there when this one
 *    began, only while this one is younger than that, and not for an object that is still the one which the status names:
 *    then none was sent since.
 * 3. When every answer came, nothing waits. Updates and deletions never do: they name the uid that they are for.
 *
 * Out of reach is a process that stands still between its decision and its request for longer than its lease lasts.
 */
import type { Clock } from "@lifeboat/base";

/** Longer than a request of ours can be under way in a member that answers. */
export const SETTLED_MS = 90_000;

/** Of one Work. Times are by the monotonic clock. */
export class LateCreates {
  readonly #clock: Clock;
  readonly #mayBeInherited: () => boolean;
  /** While a create may be under way: since when the member has answered, if it does. */
  #doubt: { answersSince: number | undefined } | undefined;
  readonly #known = new Set<number>();

  constructor(clock: Clock, mayBeInherited: () => boolean) {
    this.#clock = clock;
    this.#mayBeInherited = mayBeInherited;
  }

  /** A create got no answer. */
  lost(): void {
    this.#doubt = { answersSince: undefined };
  }

  /** The member answered a call for this Work. */
  answered(): void {
    if (this.#doubt === undefined) return;
    this.#doubt.answersSince ??= this.#clock.monotonic();
    this.#settle();
  }

  /** It did not. */
  silent(): void {
    this.#settle();
    if (this.#doubt !== undefined) this.#doubt.answersSince = undefined;
  }

  /** The object of this manifest was seen, and is the one that was applied. */
  know(ordinal: number): void {
    this.#known.add(ordinal);
  }

  /** Whether the member's word that the object of this manifest is not there proves that it stays so. */
  isAbsenceProof(ordinal: number): boolean {
    if (this.#doubt === undefined && !this.#known.has(ordinal) && this.#mayBeInherited()) {
      this.lost();
      this.answered();
    }
    return this.#doubt === undefined;
  }

  #settle(): void {
    const since = this.#doubt?.answersSince;
    if (since !== undefined && this.#clock.monotonic() - since >= SETTLED_MS)
      this.#doubt = undefined;
  }
}
