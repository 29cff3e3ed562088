/**
 * How many requests for members may be under way at once: by caller and by member, so that one of them cannot take the room of
 * the others. Streams count until they end. What is too much is refused with 429 at once.
 */
import { failure, Refused } from "@lifeboat/api";

export interface ProxyLimits {
  readonly perUser: number;
  readonly perMember: number;
}

export const DEFAULT_PROXY_LIMITS: ProxyLimits = Object.freeze({ perUser: 200, perMember: 400 });

export class ProxyInFlight {
  readonly #limits: ProxyLimits;
  readonly #users = new Map<string, number>();
  readonly #members = new Map<string, number>();
  readonly #onChange: (total: number) => void;
  #total = 0;

  constructor(limits: ProxyLimits, onChange: (total: number) => void) {
    this.#limits = limits;
    this.#onChange = onChange;
  }

  /** Takes a place or refuses. The answer gives it back; further calls of it do nothing. */
  enter(user: string, member: string): () => void {
    const { perUser, perMember } = this.#limits;
    if ((this.#users.get(user) ?? 0) >= perUser)
      throw tooMany(`${perUser} requests of the user for members are under way`);
    if ((this.#members.get(member) ?? 0) >= perMember)
      throw tooMany(`${perMember} requests for the cluster ${member} are under way`);
    this.#change(user, member, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#change(user, member, -1);
    };
  }

  #change(user: string, member: string, by: number): void {
    add(this.#users, user, by);
    add(this.#members, member, by);
    this.#total += by;
    this.#onChange(this.#total);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function tooMany(why: string): Refused {
  return new Refused(
    failure(429, "TooManyRequests", `${why}, please try again later.`, { retryAfterSeconds: 1 }),
  );
}
