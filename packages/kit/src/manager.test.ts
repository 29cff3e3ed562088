import { createRandom, instantOf, InvariantError, sleep, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import { silentLog } from "./log.ts";
import { createManager } from "./manager.ts";
import { silentMetrics } from "./metrics.ts";
import type { Service } from "./ports.ts";

function setUp() {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const ports = { clock, random: createRandom(1), log: silentLog, metrics: silentMetrics };
  const events: string[] = [];
  /** A service that runs until its signal aborts, and then takes its time. */
  const steady = (name: string, stopMs: number): Service => ({
    name,
    run: async (signal) => {
      events.push(`start ${name}`);
      await sleep(clock, 1e9, signal);
      await sleep(clock, stopMs);
      events.push(`end ${name}`);
    },
  });
  return { clock, ports, events, steady, stop: new AbortController() };
}

test("services start in order and stop in reverse order, one after the other", async () => {
  const { clock, ports, events, steady, stop } = setUp();
  const services = [steady("a", 10), steady("b", 30), steady("c", 20)];
  const run = createManager(ports, services).run(stop.signal);
  await clock.settle();
  stop.abort();
  await clock.advance(1000);
  await run;
  expect(events).toEqual(["start a", "start b", "start c", "end c", "end b", "end a"]);
});

test("a service that fails is started again after growing pauses, and the others run on", async () => {
  const { clock, ports, events, steady, stop } = setUp();
  const times: number[] = [];
  const failing: Service = {
    name: "failing",
    run: () => {
      times.push(clock.monotonic());
      return Promise.reject(new Error("no"));
    },
  };
  const run = createManager(ports, [failing, steady("a", 0)]).run(stop.signal);
  await clock.advance(10_000);
  expect(times.length).toBeGreaterThan(4);
  expect(times.length).toBeLessThan(12);
  expect(events).toEqual(["start a"]);
  stop.abort();
  await clock.settle();
  await run;
});

test("a service that simply ends is started again too", async () => {
  const { clock, ports, stop } = setUp();
  let starts = 0;
  const ending: Service = { name: "ending", run: async () => void (starts += 1) };
  void createManager(ports, [ending]).run(stop.signal);
  await clock.advance(1000);
  expect(starts).toBeGreaterThan(1);
});

test("an InvariantError stops all services and comes out", async () => {
  const { clock, ports, events, steady, stop } = setUp();
  const wrong: Service = {
    name: "wrong",
    run: async () => {
      await sleep(clock, 50);
      throw new InvariantError("counts differ");
    },
  };
  const run = createManager(ports, [steady("a", 5), wrong]).run(stop.signal);
  run.catch(() => undefined);
  await clock.advance(1000);
  await expect(run).rejects.toThrow("counts differ");
  expect(events).toEqual(["start a", "end a"]);
});

test("a service that does not stop is left behind after its time", async () => {
  const { clock, ports, events, steady, stop } = setUp();
  const run = createManager(ports, [steady("a", 0), steady("stuck", 1e9)], {
    stopTimeoutMs: 100,
  }).run(stop.signal);
  await clock.settle();
  stop.abort();
  await clock.advance(200);
  await run;
  expect(events).toContain("end a");
});
