/**
 * Whatever replicas there are: each member has one owner, few members move when a replica comes or goes, and no two replicas
 * ever act for the same member, however their requests are delayed, lost or doubled and their processes paused.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Claim,
  type Claims,
  listed,
  type ListedReplica,
  mayAct,
  newClaim,
  renewed,
  renewing,
} from "./claim.ts";
import { EMPTY_REPORT, formatReport, parseReport, type ReplicaReport } from "./report.ts";
import { comesBefore, ownerOf, type ReplicaView } from "./shares.ts";

const MEMBERS = Array.from({ length: 30 }, (_, i) => `member${i}`);

const report = fc.record({
  isBlind: fc.boolean(),
  ceded: fc.subarray(MEMBERS.slice(0, 5)),
});
const fleet = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z0-9]{1,6}$/u),
    report: report.map((some): ReplicaReport => ({ ...EMPTY_REPORT, ...some })),
  }),
  { minLength: 1, maxLength: 6, selector: ({ name }) => name },
);

it("every member has exactly one owner, whatever the order of the replicas", () => {
  fc.assert(
    fc.property(fleet, fc.nat(), (replicas, turn) => {
      const turned = replicas.map((_, i, all) => all[(i + turn) % all.length] as ReplicaView);
      for (const member of MEMBERS) {
        const owners = replicas.filter((one) =>
          replicas.every((other) => other === one || comesBefore(one, other, member)),
        );
        const isOne = owners.length === 1 && ownerOf(turned, member) === owners[0];
        if (!isOne) expect(owners).toEqual([ownerOf(turned, member)]);
      }
    }),
  );
});

it("a replica that comes takes members from others and moves none between them; one that goes gives up its own only", () => {
  fc.assert(
    fc.property(fleet, ([newcomer, ...others]) => {
      if (newcomer === undefined) return;
      for (const member of MEMBERS) {
        const before = ownerOf(others, member);
        const after = ownerOf([...others, newcomer], member);
        expect([before, newcomer]).toContain(after);
      }
    }),
  );
});

it("any text reads as a report, and a report that was read is written and read the same", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const read = parseReport(text);
      expect(parseReport(formatReport(read))).toEqual({
        ...read,
        ceded: read.ceded.toSorted((a, b) => (a < b ? -1 : 1)),
      });
    }),
  );
});

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000 };
const BEAT_MS = 2000;

/** A time of trouble for one replica. What it does in turns: it renews its Lease, lists all Leases, and pauses for a beat. */
const trouble = fc.record({
  at: fc.nat({ max: 90_000 }),
  who: fc.nat({ max: 2 }),
  what: fc.constantFrom("pause", "slow", "lost", "blind", "see", "cede", "back", "restart"),
  ms: fc.integer({ min: 0, max: 25_000 }),
});

class Replica {
  readonly name: string;
  claim: Claim;
  /** What it would write now. */
  claims: Claims = { isBlind: false, ceded: [] };
  /** Until when it stands still, its requests are slow, their answers are lost. */
  readonly until = { pause: 0, slow: 0, lost: 0 };
  isDead = false;

  constructor(name: string) {
    this.name = name;
    this.claim = newClaim(name);
  }
}

interface Timed {
  readonly at: number;
  readonly act: () => void;
}

/** Three replicas and the Leases that the server has of them, by events in the order of their times. */
class Replicas {
  readonly members = MEMBERS.slice(0, 3);
  readonly all: Replica[] = [];
  acted = 0;
  readonly #server = new Map<string, ListedReplica>();
  readonly #events: Timed[] = [];
  #version = 0;
  #now = 0;

  at(time: number, act: () => void): void {
    this.#events.push({ at: time, act });
  }

  start(i: number): void {
    const former = this.all[i];
    if (former !== undefined) former.isDead = true;
    const replica = new Replica(`replica${i}-${this.#now}`);
    this.all[i] = replica;
    this.#renew(replica);
  }

  run(end: number): void {
    for (;;) {
      const next = this.#events.reduce<Timed | undefined>(
        (first, one) => (first === undefined || one.at < first.at ? one : first),
        undefined,
      );
      if (next === undefined || next.at > end) return;
      this.#events.splice(this.#events.indexOf(next), 1);
      this.#now = next.at;
      next.act();
      this.#check();
    }
  }

  #check(): void {
    for (const member of this.members) {
      const acting = this.all.filter(
        (one) =>
          one.until.pause <= this.#now && mayAct(one.claim, one.claims, member, this.#now, TIMES),
      );
      if (acting.length > 1)
        throw new Error(
          `${acting.map(({ name }) => name).join()} act for ${member} at ${this.#now}`,
        );
      this.acted += acting.length;
    }
  }

  #renew(one: Replica): void {
    const { claims } = one;
    const sentAt = this.#now;
    one.claim = renewing(one.claim, claims);
    this.#request(
      one,
      () => {
        this.#server.set(one.name, {
          name: one.name,
          version: String(++this.#version),
          leaseDurationMs: TIMES.leaseDurationMs,
          report: { ...EMPTY_REPORT, ...claims },
        });
      },
      (isAnswered) => {
        if (isAnswered) one.claim = renewed(one.claim, claims, { sentAt, at: this.#now }, TIMES);
        this.#list(one);
      },
    );
  }

  #list(one: Replica): void {
    const sentAt = this.#now;
    let all: readonly ListedReplica[] = [];
    this.#request(
      one,
      () => (all = [...this.#server.values()]),
      (isAnswered) => {
        if (isAnswered) one.claim = listed(one.claim, all, { sentAt, at: this.#now }, TIMES);
        this.#resume(one, this.#now + BEAT_MS, () => this.#renew(one));
      },
    );
  }

  /** What it sent arrives, whatever becomes of the replica; the answer may be lost, which it finds out by a timeout. */
  #request(one: Replica, arrive: () => unknown, answered: (isAnswered: boolean) => void): void {
    const delayMs = one.until.slow > this.#now ? 4500 : 100;
    const isLost = one.until.lost > this.#now;
    this.at(this.#now + delayMs, arrive);
    this.#resume(one, this.#now + (isLost ? 9000 : 2 * delayMs), () => answered(!isLost));
  }

  #resume(one: Replica, time: number, act: () => void): void {
    this.at(time, () => {
      if (one.isDead) return;
      if (one.until.pause > this.#now) this.#resume(one, one.until.pause, act);
      else act();
    });
  }
}

it("no two replicas may act for the same member at the same time, and they do act", () => {
  let acted = 0;
  fc.assert(
    fc.property(
      fc.array(trouble, { maxLength: 25 }),
      fc.nat({ max: 12_000 }),
      (troubles, apart) => {
        const replicas = new Replicas();
        for (const i of [0, 1, 2]) replicas.at(i * apart, () => replicas.start(i));
        for (const { at, who, what, ms } of troubles)
          replicas.at(at, () => {
            const one = replicas.all[who];
            if (one === undefined) return;
            const { ceded, isBlind } = one.claims;
            if (what === "restart") replicas.start(who);
            else if (what === "blind" || what === "see")
              one.claims = { ceded, isBlind: what === "blind" };
            else if (what === "cede")
              one.claims = { isBlind, ceded: replicas.members.slice(0, 1 + (ms % 3)) };
            else if (what === "back") one.claims = { isBlind, ceded: [] };
            else one.until[what] = at + ms;
          });
        // Once there is no trouble, and every dead replica's Lease has lapsed, each member has a replica that acts for it.
        replicas.at(150_000, () => {
          const { all, members } = replicas;
          const unowned = members.filter(
            (member) => !all.some((one) => mayAct(one.claim, one.claims, member, 150_000, TIMES)),
          );
          expect(unowned).toEqual([]);
        });
        replicas.run(150_000);
        acted += replicas.acted;
      },
    ),
    { numRuns: 60 },
  );
  expect(acted).toBeGreaterThan(10_000);
});
