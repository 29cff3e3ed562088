/**
 * Somebody who reads from the plane while it is written to, and compares what was answered with what was on disk (K1).
 *
 * A read must answer what was there at some moment between its beginning and its end: nothing older, and nothing that is not
 * on disk yet. Every so many-th write of a Work is looked at, a moment after it was asked for: on a slow disk it is under way
 * then.
 */
import { isRefused, works } from "@lifeboat/api";
import type { Simulation } from "../simulation.ts";
import { WORKS } from "./truth.ts";

const EVERY = 5;
const AFTER_MS = 1;

export class ReadJudge {
  readonly #simulation: Simulation;
  readonly faults: string[] = [];
  #count = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    const { writes, clock } = simulation;
    writes.onWrite(({ to, table, key }) => {
      if (to !== "plane" || table !== WORKS) return;
      this.#count += 1;
      if (this.#count % EVERY === 0) clock.after(AFTER_MS, () => void this.#look(key));
    });
  }

  async #look(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const oldest = this.#written(key);
    const read = await this.#read(namespace, name);
    const newest = this.#written(key);
    if (read === undefined || (read >= oldest && read <= newest)) return;
    // What went between.
    if (newest === 0 && read === oldest) return;
    this.faults.push(`Work ${key} was read at ${read} while ${oldest} to ${newest} was on disk`);
  }

  /** The version that is on disk; 0: none. */
  #written(key: string): number {
    return this.#simulation.ledger.find("plane", WORKS, key)?.revision ?? 0;
  }

  /** The version that is answered; undefined: none was. */
  async #read(namespace: string, name: string): Promise<number | undefined> {
    try {
      const work = await this.#simulation.plane.admin?.get(works, { namespace, name });
      return work === undefined ? undefined : Number(work.metadata.resourceVersion);
    } catch (error) {
      return isRefused(error, "NotFound") ? 0 : undefined;
    }
  }
}
