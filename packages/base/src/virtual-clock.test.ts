import { describe, expect, it } from "vitest";
import { drainPromises } from "./adapters/drain.ts";
import { sleep } from "./clock.ts";
import { formatTime, instantOf } from "./time.ts";
import { VirtualClock } from "./virtual-clock.ts";

const createClock = (): VirtualClock => new VirtualClock(instantOf(0), drainPromises);

describe("VirtualClock", () => {
  it("fires timers in order of due time, then of scheduling", async () => {
    const clock = createClock();
    const fired: string[] = [];
    clock.after(20, () => fired.push("late"));
    clock.after(10, () => fired.push("first"));
    clock.after(10, () => fired.push("second"));
    await clock.advance(30);
    expect(fired).toEqual(["first", "second", "late"]);
  });

  it("shows a timer the time it was due at, not the end of the advance", async () => {
    const clock = createClock();
    const seen: number[] = [];
    clock.after(5, () => seen.push(clock.monotonic()));
    await clock.advance(100);
    expect(seen).toEqual([5]);
    expect(clock.now()).toBe(100);
  });

  it("lets promise chains of arbitrary length end before time moves on", async () => {
    const clock = createClock();
    const seen: number[] = [];
    const chain = async (): Promise<void> => {
      await sleep(clock, 10);
      for (let i = 0; i < 50; i++) await Promise.resolve();
      seen.push(clock.monotonic());
    };
    const running = chain();
    clock.after(11, () => seen.push(-1));
    await clock.advance(20);
    await running;
    expect(seen).toEqual([10, -1]);
  });

  it("fires timers that were scheduled while advancing, when they fall due on the way", async () => {
    const clock = createClock();
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.monotonic());
      clock.after(10, again);
    };
    clock.after(10, again);
    await clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
  });

  it("never fires a cancelled timer", async () => {
    const clock = createClock();
    const cancel = clock.after(10, () => expect.unreachable());
    cancel();
    await clock.advance(20);
    expect(clock.nextDue()).toBeUndefined();
  });

  it("stops advancing as soon as the condition holds", async () => {
    const clock = createClock();
    let count = 0;
    const tick = (): void => {
      count += 1;
      clock.after(1000, tick);
    };
    clock.after(1000, tick);
    expect(await clock.advanceUntil(() => count === 3, 60_000)).toBe(true);
    expect(clock.monotonic()).toBe(3000);
    expect(await clock.advanceUntil(() => false, 5000)).toBe(false);
  });

  it("wakes a sleeper early when its signal aborts", async () => {
    const clock = createClock();
    const abort = new AbortController();
    const slept = sleep(clock, 1000, abort.signal);
    abort.abort();
    expect(await slept).toBe(false);
    expect(await sleep(clock, 1000, abort.signal)).toBe(false);
    expect(clock.nextDue()).toBeUndefined();
  });

  it("starts where it is told to", () => {
    const clock = new VirtualClock(instantOf(Date.UTC(2026, 0, 1)), drainPromises);
    expect(formatTime(clock.now())).toBe("2026-01-01T00:00:00Z");
  });
});
