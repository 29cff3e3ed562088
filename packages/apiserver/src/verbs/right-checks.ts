/**
 * Asks again about what was authorized once and goes on: a watch ends soon after the right to it is taken away.
 *
 * 1. All are asked together, one second after the first change of rights: many changes cost one round, none costs nothing.
 * 2. When nothing waits, no timer is left: it would keep a process alive that has nothing more to do.
 */
import type { Cancel, Clock } from "@lifeboat/base";
import type { Authorizer, ResourceAttributes } from "../authorization/authorizer.ts";

const WAIT_MS = 1000;

interface Member {
  readonly attributes: ResourceAttributes;
  readonly refused: () => void;
}

export class RightChecks {
  readonly #clock: Clock;
  readonly #authorizer: Authorizer;
  readonly #members = new Set<Member>();
  #cancel: Cancel | undefined;

  constructor(clock: Clock, authorizer: Authorizer) {
    this.#clock = clock;
    this.#authorizer = authorizer;
    authorizer.onChange(() => this.#changed());
  }

  /** Calls `refused` once the right is gone; the answer of this call ends it. */
  join(attributes: ResourceAttributes, refused: () => void): Cancel {
    const member = { attributes, refused };
    this.#members.add(member);
    return () => {
      this.#members.delete(member);
      if (this.#members.size === 0) this.#stop();
    };
  }

  #changed(): void {
    if (this.#members.size === 0) return;
    this.#cancel ??= this.#clock.after(WAIT_MS, () => this.#check());
  }

  #check(): void {
    this.#cancel = undefined;
    for (const member of this.#members) {
      if (this.#authorizer.allows(member.attributes)) continue;
      this.#members.delete(member);
      member.refused();
    }
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
