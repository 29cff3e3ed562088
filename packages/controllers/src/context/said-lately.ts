/**
 * What was said last of an object, and when: what somebody else contradicted is said again once a second at most. Two planes
 * that know different things for a while would answer each other without end.
 *
 * Only the last few objects are remembered: more than that are not in dispute at the same time.
 */
import { equalJson } from "@lifeboat/api";
import type { Instant, Moment } from "@lifeboat/base";
import { RecentMap } from "@lifeboat/kit";

const AGAIN_MS = 1000;
const REMEMBERED = 1000;

export class SaidLately {
  readonly #said = new RecentMap<{ readonly what: unknown; readonly at: Instant }>(REMEMBERED);

  /** From when on this may be said of the object with that uid, or that name; undefined: now. */
  heldUntil(of: string, what: unknown, { now, due }: Moment): Instant | undefined {
    const said = this.#said.get(of);
    if (said === undefined || !equalJson(said.what, what)) return undefined;
    const again = due(said.at, AGAIN_MS);
    return now < again ? again : undefined;
  }

  note(of: string, what: unknown, at: Instant): void {
    this.#said.set(of, { what, at });
  }
}
