/** How fast workloads may move, by how much of the fleet has failed: the table of seed 001 through the whole plane (D6). */
import { evacuations } from "@lifeboat/api";
import { afterEach, expect, it } from "vitest";
import { CrowdedFleet } from "./rate.suite.ts";

let crowd: CrowdedFleet;
afterEach(() => crowd.fleet.close());

it.each([
  { members: 3, failed: 1, perSecond: 0.5, reason: "FleetHealthy" },
  { members: 3, failed: 2, perSecond: 0, reason: "FleetTooUnhealthy" },
  { members: 12, failed: 6, perSecond: 0.5, reason: "FleetHealthy" },
  { members: 12, failed: 7, perSecond: 0.1, reason: "FleetUnhealthy" },
  { members: 12, failed: 12, perSecond: 0, reason: "EverythingFailed" },
])(
  "$failed of $members clusters failed: $reason",
  async ({ members, failed, perSecond, reason }) => {
    crowd = await CrowdedFleet.open(members, 40);
    expect(await crowd.evicted()).toBe(0);
    await crowd.fail(failed);
    await crowd.fleet.advance("60s");
    const evicted = await crowd.evicted();
    // One is due at once, then one every 1 / rate seconds.
    expect(evicted).toBeGreaterThanOrEqual(Math.floor(perSecond * 60));
    expect(evicted).toBeLessThanOrEqual(perSecond === 0 ? 0 : perSecond * 60 + 1);
    const record = await crowd.fleet.plane.get(evacuations, { namespace: "", name: "m1-1" });
    expect(record.status?.phase).toBe(perSecond === 0 ? "Braked" : "Running");
    expect(record.status?.rate).toMatchObject({ perSecond, reason });
  },
);

it("17.14: keeps releases apart at more than one per second, also when tokens are reserved together", async () => {
  crowd = await CrowdedFleet.open(3, 40, { resourceEvictionRate: 5 });
  await crowd.fail(1);
  const evicted: number[] = [];
  for (let i = 0; i < 80; i++) {
    await crowd.fleet.advance("100ms");
    evicted.push(await crowd.evicted());
  }
  // At 5 per second, one every 200 ms; a write may take a moment longer than the one before it.
  const steps = evicted.map((count, i) => count - (evicted[i - 1] ?? 0));
  expect(Math.max(...steps)).toBe(1);
  expect(evicted.at(-1)).toBeGreaterThanOrEqual(30);
});
