/** A bug for the simulation to find: what it breaks, where it is put in, and where its oracle sees it. */
import type { Disturbance } from "@lifeboat/sim";
import type { Seed } from "../seeding/seed.ts";

/** A scenario by its name: a golden one, one of scenarios/ or one of the corpus; whole, or with something wrong at a write. */
export type Where =
  | string
  | { readonly scenario: string; readonly write: number; readonly by: Disturbance };

export type SimMutant = Seed & {
  /** Which oracle must speak. */
  readonly oracle: string;
  /** The row of docs/promises.md. */
  readonly promise: string;
  readonly breaks: string;
  /** Where it does, tried one after the other. */
  readonly caughtIn: readonly Where[];
};

/** Of the oracle that compares a disturbed run with an undisturbed one. */
export const SAME_END = "same-end";

export function nameOfWhere(where: Where): string {
  return typeof where === "string" ? where : `${where.scenario}: ${where.by} write ${where.write}`;
}
