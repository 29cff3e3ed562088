/**
 * What an oracle is: a promise with a sentence, and a function that judges the truth by it.
 *
 *   always     judged at every change of any disk that it cares about, by that change and what was before
 *   request    judged at every write that a controller asks a server for, before it takes effect
 *   converged  judged once faults are over and time to converge has passed, and again after the quiet time
 *
 * 1. An oracle answers what is wrong, in words; nothing when the promise holds.
 * 2. What an oracle remembers is made by `start` and belongs to one run.
 * 3. An oracle looks at the change and at what it can find by a key; it never walks everything per change.
 */
import type { Committed } from "../disk/ledger.ts";
import type { Write } from "../network/sim-client.ts";
import type { Truth } from "./truth.ts";

export interface Violation {
  readonly oracle: string;
  readonly promise: string;
  readonly says: string;
}

/** Judges one change; called in the order of writing. */
export type Judge = (change: Committed) => readonly string[];

export interface AlwaysOracle {
  readonly name: string;
  readonly promise: string;
  /** Whose changes it hears of. */
  readonly on: "plane" | "members" | "both";
  /** The tables it hears of, as `group/plural`; absent: all. */
  readonly tables?: readonly string[];
  /** Begins to judge a run. */
  readonly start: (truth: Truth) => Judge;
}

export interface RequestOracle {
  readonly name: string;
  readonly promise: string;
  readonly judge: (write: Write, truth: Truth) => readonly string[];
}

export interface ConvergedOracle {
  readonly name: string;
  readonly promise: string;
  readonly judge: (truth: Truth, members: readonly string[]) => readonly string[];
}

/** Judges the changes of one run by all oracles that care about them. */
export class Jury {
  readonly #truth: Truth;
  readonly #seats: readonly Seat[];
  /** By server kind and table, made when the first change of them comes. */
  readonly #bench = new Map<string, readonly Seat[]>();

  constructor(truth: Truth, oracles: readonly AlwaysOracle[]) {
    this.#truth = truth;
    this.#seats = oracles.map((oracle) => ({ oracle, judge: oracle.start(this.#truth) }));
  }

  judge(change: Committed): readonly Violation[] {
    const found: Violation[] = [];
    for (const { oracle, judge } of this.#seatsFor(change))
      for (const says of judge(change))
        found.push({ oracle: oracle.name, promise: oracle.promise, says });
    return found;
  }

  #seatsFor({ server, table }: Committed): readonly Seat[] {
    const side = server === "plane" ? "plane" : "members";
    const key = `${side} ${table}`;
    const known = this.#bench.get(key);
    if (known !== undefined) return known;
    const seats = this.#seats.filter(
      ({ oracle: { on, tables } }) =>
        (on === "both" || on === side) && (tables?.includes(table) ?? true),
    );
    this.#bench.set(key, seats);
    return seats;
  }
}

interface Seat {
  readonly oracle: AlwaysOracle;
  readonly judge: Judge;
}
