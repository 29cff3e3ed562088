/** A crash at every write of the evacuation of three workloads; five with all controllers are in the fuzz test. */
import { expect, it } from "vitest";
import { bareFleet, bindMany } from "./evacuation.suite.ts";
import { DyingPlane, failOverWithCrash } from "./evacuation-crash.suite.ts";

const COUNT = 3;

async function run(at: number, takesEffect: boolean): Promise<number> {
  const dying = new DyingPlane();
  const fleet = await bareFleet({
    clusters: ["m1", "m2", "m3"],
    through: (context) => dying.through(context),
  });
  try {
    await bindMany(fleet, "a", COUNT, "m1");
    return await failOverWithCrash({ fleet, dying, at, takesEffect, count: COUNT, lasts: "12s" });
  } finally {
    await fleet.close();
  }
}

it(
  "a crash at any write ends in the same state, at no higher rate",
  { timeout: 60_000 },
  async () => {
    const writes = await run(-1, false);
    expect(writes).toBeGreaterThan(10);
    for (let at = 0; at < writes; at++) await run(at, at % 2 === 0);
  },
);
