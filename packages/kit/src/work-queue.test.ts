import { instantOf, InvariantError, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import { WorkQueue } from "./work-queue.ts";

function setUp() {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  return { clock, queue: new WorkQueue(clock) };
}

/** Collects keys as they come, marking each done at once. */
function collect(queue: WorkQueue): string[] {
  const taken: string[] = [];
  void (async () => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      taken.push(key);
      queue.done(key);
    }
  })();
  return taken;
}

test("a key added three times is handed out once", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  queue.add("b");
  queue.add("a");
  const taken = collect(queue);
  await clock.settle();
  expect(taken).toEqual(["a", "b"]);
});

test("a key added while it is processed is handed out once more, after done", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  expect(await queue.take()).toBe("a");
  queue.add("a");
  queue.add("a");
  expect(queue.depth).toBe(0);
  queue.done("a");
  const taken = collect(queue);
  await clock.settle();
  expect(taken).toEqual(["a"]);
});

test("takers that wait get keys in the order in which they came", async () => {
  const { queue } = setUp();
  const first = queue.take();
  const second = queue.take();
  queue.add("a");
  queue.add("b");
  expect([await first, await second]).toEqual(["a", "b"]);
});

test("a delayed key comes at its time, and the earliest of two delays wins", async () => {
  const { clock, queue } = setUp();
  const taken = collect(queue);
  queue.addAfter("a", 100);
  queue.addAfter("a", 50);
  queue.addAfter("a", 70);
  queue.addAfter("b", 60);
  expect(queue.delayed).toBe(2);
  await clock.advance(49);
  expect(taken).toEqual([]);
  await clock.advance(1);
  expect(taken).toEqual(["a"]);
  await clock.advance(1000);
  expect(taken).toEqual(["a", "b"]);
});

test("a cancelled delay does not come, and a later one can be set", async () => {
  const { clock, queue } = setUp();
  const taken = collect(queue);
  queue.addAfter("a", 10);
  queue.cancelDelay("a");
  queue.addAfter("a", 100);
  await clock.advance(99);
  expect(taken).toEqual([]);
  await clock.advance(1);
  expect(taken).toEqual(["a"]);
});

test("the pause doubles from 5 ms to 30 s and starts again after forget", () => {
  const { queue } = setUp();
  const pauses = Array.from({ length: 20 }, () => queue.addAfterFailure("a"));
  expect(pauses.slice(0, 4)).toEqual([5, 10, 20, 40]);
  expect(pauses.at(-1)).toBe(30_000);
  queue.forget("a");
  expect(queue.addAfterFailure("a")).toBe(5);
  expect(queue.addAfterFailure("b", 2000)).toBe(2000);
});

test("the pause of a key that failed two thousand times is the cap", () => {
  const { queue } = setUp();
  for (let i = 0; i < 2000; i++) queue.addAfterFailure("a");
  expect(queue.addAfterFailure("a")).toBe(30_000);
});

test("shutting down with drain hands out what waits, and no more", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  queue.add("b");
  queue.addAfter("c", 10);
  const end = queue.shutDown({ drain: true });
  queue.add("d");
  const taken = collect(queue);
  await end;
  await clock.advance(100);
  expect(taken).toEqual(["a", "b"]);
  expect(await queue.take()).toBeUndefined();
});

test("shutting down without drain waits only for the keys in work", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  queue.add("b");
  const waiting = await queue.take();
  let ended = false;
  void queue.shutDown({ drain: false }).then(() => {
    ended = true;
  });
  await clock.settle();
  expect(ended).toBe(false);
  queue.done(waiting as string);
  await clock.settle();
  expect(ended).toBe(true);
  expect(await queue.take()).toBeUndefined();
});

test("a waiting taker ends when the queue is shut down", async () => {
  const { queue } = setUp();
  const waiting = queue.take();
  await queue.shutDown({ drain: true });
  expect(await waiting).toBeUndefined();
});

test("done without take is a bug", () => {
  const { queue } = setUp();
  expect(() => queue.done("a")).toThrow(InvariantError);
});

test("a queue at rest holds no timer", async () => {
  const { clock, queue } = setUp();
  queue.addAfter("a", 10);
  queue.cancelDelay("a");
  expect(clock.nextDue()).toBeUndefined();
});
