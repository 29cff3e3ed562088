/**
 * When watches get their bookmarks: those that joined within the same ten seconds get theirs together, so that a thousand
 * watches at rest wake the process six times a minute and not a thousand times.
 *
 * 1. Who has joined is told once a minute, the first time after 50 to 60 seconds, until it answers false or leaves.
 */
import type { Cancel, Clock } from "@lifeboat/base";

const BEAT_MS = 10_000;
const BEATS_PER_ROUND = 6;

interface Member {
  readonly tell: () => boolean;
  beat: number;
}

export class BookmarkBeats {
  readonly #clock: Clock;
  /** By the number of the beat at which they are told next. */
  readonly #members = new Map<number, Set<Member>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets `tell` be called once a minute; the answer ends it. */
  join(tell: () => boolean): Cancel {
    const beat = Math.floor(this.#clock.monotonic() / BEAT_MS) + BEATS_PER_ROUND;
    const member = { tell, beat };
    this.#at(beat).add(member);
    return () => void this.#members.get(member.beat)?.delete(member);
  }

  #at(beat: number): Set<Member> {
    const known = this.#members.get(beat);
    if (known !== undefined) return known;
    const members = new Set<Member>();
    this.#members.set(beat, members);
    const wait = beat * BEAT_MS - this.#clock.monotonic();
    this.#clock.after(Math.max(0, wait), () => this.#fire(beat, members));
    return members;
  }

  #fire(beat: number, members: ReadonlySet<Member>): void {
    for (const member of members) {
      if (!member.tell() || !members.has(member)) continue;
      member.beat = beat + BEATS_PER_ROUND;
      this.#at(member.beat).add(member);
    }
    this.#members.delete(beat);
  }
}
