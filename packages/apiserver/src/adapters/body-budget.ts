/**
 * Which request bodies may be in memory at a time: the rule alone, without sockets or time.
 *
 * A holder is whatever bodies are counted for: a user, or the address of a client that is not authenticated.
 *
 * 1. All bodies together take at most `totalBytes`, those of one holder at most `bytesPerHolder`.
 * 2. When room is short, the holder that has most loses its largest body, again and again until an eighth of the limit is
 *    free (the search for bodies is then worth its cost). So of `n` holders one that has at most an n-th of the rest
 *    never loses a body, and a small body outlives the large ones of the same holder.
 * 3. Only bodies that still arrive can be lost. One that is whole counts until it is released.
 * 4. A body that is lost or released counts no more from that moment on.
 */
export interface BodyBudgetLimits {
  readonly totalBytes: number;
  readonly bytesPerHolder: number;
}

/** One body in the budget; `body` is the caller's own. */
export interface BodyShare<Body> {
  readonly body: Body;
  readonly holder: string;
  readonly bytes: number;
}

export class BodyBudget<Body> {
  readonly #limits: BodyBudgetLimits;
  readonly #holders = new Map<string, Holder<Body>>();
  #heldBytes = 0;

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** A body begins to arrive. It takes no room yet. */
  open(name: string, body: Body): BodyShare<Body> {
    let holder = this.#holders.get(name);
    if (holder === undefined) {
      holder = { name, bytes: 0, shares: new Set() };
      this.#holders.set(name, holder);
    }
    const share = new Share(holder, body);
    holder.shares.add(share);
    return share;
  }

  /** The body takes this much more. Answers the bodies that are lost for it, which may include itself. */
  grow(given: BodyShare<Body>, bytes: number): readonly BodyShare<Body>[] {
    const share = given as Share<Body>;
    const { ours } = share;
    if (!ours.shares.has(share)) return [];
    share.bytes += bytes;
    ours.bytes += bytes;
    this.#heldBytes += bytes;
    const { totalBytes, bytesPerHolder } = this.#limits;
    const lost: Share<Body>[] = [];
    if (ours.bytes > bytesPerHolder)
      this.#makeRoom([ours], () => ours.bytes > withRoom(bytesPerHolder), lost);
    if (this.#heldBytes > totalBytes)
      this.#makeRoom(this.#holders.values(), () => this.#heldBytes > withRoom(totalBytes), lost);
    return lost;
  }

  /** The body is whole: it is worked on now, and cannot be lost any more. */
  complete(given: BodyShare<Body>): void {
    (given as Share<Body>).isArriving = false;
  }

  /** The body is in memory no more. Harmless when it was lost, or released before. */
  release(given: BodyShare<Body>): void {
    const share = given as Share<Body>;
    const { ours } = share;
    if (!ours.shares.delete(share)) return;
    ours.bytes -= share.bytes;
    this.#heldBytes -= share.bytes;
    if (ours.shares.size === 0) this.#holders.delete(ours.name);
  }

  #makeRoom(holders: Iterable<Holder<Body>>, isShort: () => boolean, lost: Share<Body>[]): void {
    const candidates = [...holders].map((holder) => ({ holder, arriving: arrivingOf(holder) }));
    while (isShort()) {
      let largest: (typeof candidates)[number] | undefined;
      for (const candidate of candidates)
        if (
          candidate.arriving.length > 0 &&
          (largest === undefined || candidate.holder.bytes > largest.holder.bytes)
        )
          largest = candidate;
      const share = largest?.arriving.pop();
      if (share === undefined) return;
      this.release(share);
      lost.push(share);
    }
  }
}

interface Holder<Body> {
  readonly name: string;
  bytes: number;
  readonly shares: Set<Share<Body>>;
}

class Share<Body> implements BodyShare<Body> {
  readonly ours: Holder<Body>;
  readonly body: Body;
  bytes = 0;
  isArriving = true;

  constructor(ours: Holder<Body>, body: Body) {
    this.ours = ours;
    this.body = body;
  }

  get holder(): string {
    return this.ours.name;
  }
}

function withRoom(limit: number): number {
  return limit - limit / 8;
}

/** The bodies that can be lost, the first to be lost last: the largest, of equal ones the oldest. */
function arrivingOf<Body>(holder: Holder<Body>): Share<Body>[] {
  return [...holder.shares]
    .filter(({ isArriving, bytes }) => isArriving && bytes > 0)
    .toReversed()
    .toSorted((a, b) => a.bytes - b.bytes);
}
