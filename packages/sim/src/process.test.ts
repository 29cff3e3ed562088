/** A life and its clock: what is dead does nothing, what stands still is late. */
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { Process } from "./process.ts";

const START = Date.UTC(2026, 0, 1);

function begun(skewMs = 0) {
  const clock = new VirtualClock(instantOf(START), drainPromises);
  const process = new Process("p", clock, skewMs);
  const fired: string[] = [];
  const timer = (name: string, delayMs: number) =>
    process.clock.after(delayMs, () => fired.push(`${name} ${clock.monotonic()}`));
  return { clock, process, fired, timer };
}

describe("a process that stands still", () => {
  it("lets its timers fire late, in their order, when it goes on", async () => {
    const { clock, process, fired, timer } = begun();
    timer("first", 10);
    timer("second", 20);
    timer("later", 200);
    process.pause(100);
    expect(process.goesOnIn).toBe(100);
    await clock.advance(99);
    expect(fired).toEqual([]);
    await clock.advance(200);
    expect(fired).toEqual(["first 100", "second 100", "later 200"]);
    expect(process.goesOnIn).toBe(0);
  });

  it("can call off a timer that is late", async () => {
    const { clock, process, fired, timer } = begun();
    const cancel = timer("never", 10);
    process.pause(100);
    await clock.advance(50);
    cancel();
    await clock.advance(100);
    expect(fired).toEqual([]);
  });

  it("fires nothing when it dies meanwhile", async () => {
    const { clock, process, fired, timer } = begun();
    timer("never", 10);
    process.pause(100);
    await clock.advance(50);
    process.die();
    await clock.advance(100);
    expect(fired).toEqual([]);
  });
});

it("jumps with its wall clock and not with its timers", async () => {
  const { clock, process, fired, timer } = begun(1000);
  timer("on time", 10);
  expect(process.clock.now()).toBe(START + 1000);
  process.step(-5000);
  expect(process.clock.now()).toBe(START - 4000);
  await clock.advance(10);
  expect(fired).toEqual(["on time 10"]);
});
