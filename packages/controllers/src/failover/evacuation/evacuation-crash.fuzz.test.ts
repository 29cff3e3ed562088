/**
 * A crash at writes all through a failover of five workloads, with all controllers and simulated members. Every write is
 * tried with `EVERY = 1`, which takes minutes; the simulation tries every write of smaller failovers.
 */
import { expect, it } from "vitest";
import { deployOn, evacuationFleet } from "./evacuation.suite.ts";
import { DyingPlane, failOverWithCrash } from "./evacuation-crash.suite.ts";

const COUNT = 5;
const EVERY = 3;
const TIMEOUT_MS = 3_600_000;

async function run(at: number, takesEffect: boolean): Promise<number> {
  const dying = new DyingPlane();
  const fleet = await evacuationFleet({ through: (context) => dying.through(context) });
  try {
    await deployOn(fleet, "a", COUNT, "m1");
    return await failOverWithCrash({ fleet, dying, at, takesEffect, count: COUNT, lasts: "40s" });
  } catch (error) {
    throw new Error(`at write ${at}, takes effect: ${takesEffect}`, { cause: error });
  } finally {
    await fleet.close();
  }
}

it.each([
  ["before it takes effect", false],
  ["after it took effect, its answer lost", true],
])(
  "a crash at any write, %s, ends in the same state",
  { timeout: TIMEOUT_MS },
  async (_when, takesEffect) => {
    const writes = await run(-1, false);
    expect(writes).toBeGreaterThan(30);
    const first = takesEffect ? 3 : 0;
    for (let at = first; at < writes; at += EVERY) await run(at, takesEffect);
  },
);
