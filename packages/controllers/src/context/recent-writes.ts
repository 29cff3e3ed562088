/**
 * The last write of each object by this process, and its time. A write that another writer undid is repeated once a second
 * at most: two planes whose caches differ for a while would otherwise overwrite each other without end.
 *
 * Only the last few objects are remembered: fewer than that are contested at the same time.
 */
import { equalJson } from "@lifeboat/api";
import type { Instant, Moment } from "@lifeboat/base";
import { RecentMap } from "@lifeboat/kit";

const REPEAT_MS = 1000;
const REMEMBERED = 1000;

export class RecentWrites {
  readonly #writes = new RecentMap<{ readonly content: unknown; readonly at: Instant }>(REMEMBERED);

  /** When this content may be written to the object again; undefined: now. `id`: the object's uid, or its name. */
  heldUntil(id: string, content: unknown, { now, due }: Moment): Instant | undefined {
    const last = this.#writes.get(id);
    if (last === undefined || !equalJson(last.content, content)) return undefined;
    const again = due(last.at, REPEAT_MS);
    return now < again ? again : undefined;
  }

  note(id: string, content: unknown, at: Instant): void {
    this.#writes.set(id, { content, at });
  }
}
