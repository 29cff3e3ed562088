/** How fast a server is read. */
import { describe, expect, it } from "vitest";
import { Intake } from "./intake.ts";
import { MEMBER_LIMITS, TRUSTED_LIMITS } from "./response-limits.ts";

/** 1000 bytes per second after 4000 at once. */
const slow = () => new Intake({ ...MEMBER_LIMITS, bytesPerSecond: 1000, burstBytes: 4000 });

describe("the rate", () => {
  it("lets a burst through, then spreads what follows", () => {
    const intake = slow();
    expect(intake.take(4000, 0).pauseMs).toBe(0);
    expect(intake.take(500, 0).pauseMs).toBe(500);
    expect(intake.take(0, 500).pauseMs).toBe(0);
    expect(intake.take(1000, 500).pauseMs).toBe(1000);
  });

  it("fills up again, to one burst at most", () => {
    const intake = slow();
    intake.take(4000, 0);
    expect(intake.take(4000, 1_000_000).pauseMs).toBe(0);
    expect(intake.take(1, 1_000_000).pauseMs).toBe(1);
  });

  it("is sustained when the bucket stays empty, and reported once per five seconds", () => {
    const intake = slow();
    intake.take(4000, 0);
    const told: number[] = [];
    for (let now = 0; now <= 12_000; now += 100)
      if (intake.take(200, now).sustained) told.push(now);
    expect(told).toEqual([5000, 10_000]);
  });

  it("is not sustained by bursts with pauses between them", () => {
    const intake = slow();
    for (let now = 0; now < 100_000; now += 5000)
      expect(intake.take(4500, now).sustained).toBe(false);
  });

  it("does not count for a server that is trusted", () => {
    const intake = new Intake(TRUSTED_LIMITS);
    for (let i = 0; i < 10; i++) expect(intake.take(1e12, 0).pauseMs).toBe(0);
  });
});

describe("large responses", () => {
  it("have four places, given on in order", async () => {
    const intake = slow();
    const entered: number[] = [];
    const leaves: (() => void)[] = [];
    const all = Array.from({ length: 7 }, async (_, i) => {
      const leave = await intake.enterLarge();
      entered.push(i);
      leaves.push(leave);
    });
    await Promise.all(all.slice(0, 4));
    expect(entered).toEqual([0, 1, 2, 3]);
    leaves[2]?.();
    leaves[2]?.();
    await all[4];
    expect(entered).toEqual([0, 1, 2, 3, 4]);
    for (const leave of leaves) leave();
    await Promise.all(all);
    for (const leave of leaves) leave();
    await intake.enterLarge();
  });
});
