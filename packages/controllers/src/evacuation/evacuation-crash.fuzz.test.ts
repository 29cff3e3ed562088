/** A crash at every write of a failover of five workloads, with all controllers and simulated members. */
import { expect, it } from "vitest";
import { deployOn, evacuationFleet } from "./evacuation.suite.ts";
import { DyingPlane, failOverWithCrash } from "./evacuation-crash.suite.ts";

const COUNT = 5;

async function run(at: number, takesEffect: boolean): Promise<number> {
  const dying = new DyingPlane();
  const fleet = await evacuationFleet({ through: (context) => dying.through(context) });
  try {
    await deployOn(fleet, "a", COUNT, "m1");
    return await failOverWithCrash({ fleet, dying, at, takesEffect, count: COUNT, lasts: "30s" });
  } finally {
    await fleet.close();
  }
}

it(
  "a crash at any write ends in the same state, at no higher rate",
  { timeout: 3_600_000 },
  async () => {
    const writes = await run(-1, false);
    expect(writes).toBeGreaterThan(30);
    for (let at = 0; at < writes; at++)
      for (const takesEffect of [false, true]) await run(at, takesEffect);
  },
);
