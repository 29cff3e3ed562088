import { expect, test } from "vitest";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { SharedSleep } from "./shared-sleep.ts";

function setUp() {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const stop = new AbortController();
  const sleeps = new SharedSleep();
  const ended: string[] = [];
  const wait = async (name: string, ms: number): Promise<void> => {
    const passed = await sleeps.sleep(clock, ms, stop.signal);
    ended.push(`${name} ${passed} ${clock.monotonic()}`);
  };
  return { clock, stop, ended, wait };
}

test("each waits for its own time; an abort ends all that still wait and all that come later", async () => {
  const { clock, stop, ended, wait } = setUp();
  void wait("short", 10);
  void wait("long", 1000);
  await clock.advance(100);
  stop.abort();
  void wait("late", 5);
  await clock.settle();
  expect(ended).toEqual(["short true 10", "long false 100", "late false 100"]);
});

test("a signal has one listener, and none once nobody waits", async () => {
  const { clock, stop, wait } = setUp();
  let listeners = 0;
  const { signal } = stop;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...given);
  };
  for (let i = 1; i <= 50; i++) void wait(`${i}`, i);
  expect(listeners).toBe(1);
  await clock.advance(50);
  expect(listeners).toBe(0);
});
