/**
 * One way from a caller to a server, and what can be wrong with it.
 *
 *   down        nobody listens: a call fails at once and nothing arrives
 *   partition   `both`: nothing passes; `requests`: answers and events still pass; `answers`: requests still arrive
 *   fail        the chance that the server answers 500, 503 or 429 instead of doing anything
 *   lose        the chance that a request never arrives
 *   loseAnswer  the chance that it arrives, takes effect, and its answer does not come back
 *   refuse      writes are refused: what the member's quota, a webhook, its rules or its full disk say
 *   missEvents  the chance that a watch misses an event; it tells nothing more then and ends as expired, some seconds later
 *   duplicate   the chance that a write arrives a second time, later
 *   late        the chance that a write arrives only after its caller has given it up, or has died; of members
 *   delayMs     how long each way takes, between the two bounds; events of one watch keep their order
 *
 * 1. `reset` breaks everything that is under way; who waits for an answer learns that it is lost.
 * 2. Chance comes from the link's own stream, so that what happens on one link does not shift another.
 */
import type { Random } from "@lifeboat/base";

/** Why a watch ends that cannot be taken up again. */
export const PAST_IS_GONE = "the past is gone";

export type WriteRefusal = "quota" | "webhook" | "forbidden" | "full";

export interface LinkConditions {
  readonly down?: boolean;
  readonly partition?: "both" | "requests" | "answers";
  readonly fail?: number;
  readonly lose?: number;
  readonly loseAnswer?: number;
  readonly refuse?: WriteRefusal;
  readonly missEvents?: number;
  readonly duplicate?: number;
  readonly late?: number;
  readonly delayMs?: readonly [least: number, most: number];
}

export class Link {
  readonly name: string;
  readonly random: Random;
  #conditions: LinkConditions | undefined;
  readonly #underWay = new Set<(why: string) => void>();
  /** How many requests, answers and events something went wrong with. */
  injected = 0;

  constructor(name: string, random: Random) {
    this.name = name;
    this.random = random;
  }

  /** Undefined: nothing is wrong. */
  get conditions(): LinkConditions | undefined {
    return this.#conditions;
  }

  set(conditions: LinkConditions | undefined): void {
    const breaks = conditions?.down === true || this.#conditions?.partition !== undefined;
    this.#conditions = conditions;
    if (breaks) this.reset("the connection was reset");
  }

  /** Breaks everything that is under way; who watches cannot go on from what was seen and has to list again. */
  expire(): void {
    this.reset(PAST_IS_GONE);
  }

  reset(why: string): void {
    for (const handler of this.#underWay) handler(why);
    this.#underWay.clear();
  }

  /** Called at the next reset, once. The answer ends it. */
  onReset(handler: (why: string) => void): () => void {
    this.#underWay.add(handler);
    return () => this.#underWay.delete(handler);
  }

  /** Tosses for something that happens with this chance, and counts it. */
  happens(chance: number | undefined): boolean {
    if (chance === undefined || chance === 0) return false;
    const did = this.random.next() < chance;
    if (did) this.injected += 1;
    return did;
  }

  delay(conditions: LinkConditions): number {
    const [least, most] = conditions.delayMs ?? [0, 0];
    return least + this.random.below(most - least + 1);
  }
}
