/**
 * Somebody who watches the plane from outside over all its lives, and compares what was told with what was written.
 *
 * Revisions are told in order, none twice, none left out; after a cut the watch resumes where it was. A relist after
 * history was lost is allowed and starts the account anew.
 */
import { type AnyObject, type Resource, works } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import type { Simulation } from "../simulation.ts";
import { WORKS } from "./truth.ts";

const RETRY_MS = 500;

export class WatchJudge {
  readonly #simulation: Simulation;
  readonly #told: number[] = [];
  #from: number;
  readonly #start: number;
  readonly #faults: string[] = [];

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    const { rows } = simulation.ledger;
    const onPlane = rows.filter(({ server }) => server === "plane");
    this.#start = Math.max(
      0,
      ...onPlane.map(({ row }) => row.revision),
      ...simulation.ledger.versions("plane").values(),
    );
    this.#from = this.#start;
    this.#watch();
  }

  /** What was told wrongly, or not at all. */
  faults(): readonly string[] {
    const written = this.#simulation.ledger.rows
      .filter(({ server, table }) => server === "plane" && table === WORKS)
      .map(({ row }) => row.revision)
      .filter((revision) => revision > this.#start);
    const told = new Set(this.#told);
    const missing = written.filter((revision) => !told.has(revision));
    const known = new Set(written);
    const invented = this.#told.filter((revision) => !known.has(revision));
    return [
      ...this.#faults,
      ...missing.map((revision) => `the change at ${revision} was not told`),
      ...invented.map((revision) => `a change at ${revision} was told that nobody wrote`),
    ];
  }

  #watch(): void {
    const { plane, clock } = this.#simulation;
    const client: Client | undefined = plane.admin;
    const again = (): void => void clock.after(RETRY_MS, () => this.#watch());
    if (client === undefined) {
      again();
      return;
    }
    let over = false;
    const next = (): void => {
      if (over) return;
      over = true;
      again();
    };
    client.watch(
      works as unknown as Resource,
      { resourceVersion: String(this.#from) },
      {
        event: (event) => {
          // What a dead server still has to say is never heard.
          if (!over && event.type !== "BOOKMARK") this.#tell(event.object);
        },
        end: next,
      },
    );
    plane.onDeath(next);
  }

  #tell({ metadata }: AnyObject): void {
    const revision = Number(metadata.resourceVersion);
    if (revision <= this.#from) this.#faults.push(`${revision} was told after ${this.#from}`);
    this.#told.push(revision);
    this.#from = revision;
  }
}
