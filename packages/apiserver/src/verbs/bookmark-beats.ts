/**
 * When watches get their bookmarks: those that joined within the same ten seconds get theirs together, so that a thousand
 * watches at rest wake the process six times a minute and not a thousand times.
 *
 * 1. A watch that has joined gets a beat once a minute, the first time after 50 to 60 seconds, until it answers false or leaves.
 * 2. When the last has left, no timer is left: it would keep a process alive that has nothing more to do.
 */
import type { Cancel, Clock } from "@lifeboat/base";

const BEAT_MS = 10_000;
const BEATS_PER_ROUND = 6;

interface Member {
  readonly tell: () => boolean;
  beat: number;
}

interface Beat {
  readonly members: Set<Member>;
  readonly cancel: Cancel;
}

export class BookmarkBeats {
  readonly #clock: Clock;
  /** By the number of the beat that is the next one of their members. */
  readonly #beats = new Map<number, Beat>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets `tell` be called once a minute; the answer ends it. */
  join(tell: () => boolean): Cancel {
    const beat = Math.floor(this.#clock.monotonic() / BEAT_MS) + BEATS_PER_ROUND;
    const member = { tell, beat };
    this.#at(beat).members.add(member);
    return () => this.#leave(member);
  }

  #leave(member: Member): void {
    const beat = this.#beats.get(member.beat);
    if (beat === undefined || !beat.members.delete(member) || beat.members.size > 0) return;
    beat.cancel();
    this.#beats.delete(member.beat);
  }

  #at(number: number): Beat {
    const known = this.#beats.get(number);
    if (known !== undefined) return known;
    const wait = number * BEAT_MS - this.#clock.monotonic();
    const cancel = this.#clock.after(Math.max(0, wait), () => this.#fire(number));
    const beat = { members: new Set<Member>(), cancel };
    this.#beats.set(number, beat);
    return beat;
  }

  #fire(number: number): void {
    const members = this.#beats.get(number)?.members ?? new Set();
    for (const member of members) {
      if (!member.tell() || !members.has(member)) continue;
      member.beat = number + BEATS_PER_ROUND;
      this.#at(member.beat).members.add(member);
    }
    this.#beats.delete(number);
  }
}
