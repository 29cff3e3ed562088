/** The default rate over ten minutes of simulated time, through the whole plane: as many as that need many workloads. */
import { expect, it } from "vitest";
import { CrowdedFleet } from "./rate.suite.ts";

it("is 0.5 per second by default, within one in a hundred over ten minutes", async () => {
  const crowd = await CrowdedFleet.open(3, 310);
  try {
    expect(await crowd.evicted()).toBe(0);
    await crowd.fail(1);
    const counts: number[] = [];
    for (let minute = 1; minute <= 10; minute++) {
      await crowd.fleet.advance("60s");
      counts.push(await crowd.evicted());
    }
    expect(counts[9]).toBeGreaterThanOrEqual(297);
    expect(counts[9]).toBeLessThanOrEqual(303);
    // Evenly, too: each minute has its thirty.
    for (const [i, count] of counts.entries()) {
      expect(count - (counts[i - 1] ?? 0)).toBeGreaterThanOrEqual(29);
      expect(count - (counts[i - 1] ?? 0)).toBeLessThanOrEqual(31);
    }
  } finally {
    await crowd.fleet.close();
  }
});
