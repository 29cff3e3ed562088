import { describe, expect, it } from "vitest";
import { type ClockStep, NO_STEPS, plainMoment, SteadyTime } from "./steady-time.ts";
import { addMs, type Instant, instantOf } from "./time.ts";

const SECOND = 1000;
const MINUTE = 60_000;
const START = instantOf(1_000_000_000);

/** A machine whose clocks are set by hand. */
function machine(start = START): {
  readonly time: SteadyTime;
  readonly seen: ClockStep[];
  readonly now: () => Instant;
  readonly pass: (ms: number) => void;
  readonly step: (ms: number) => void;
  readonly leftOf: (since: Instant, afterMs: number) => number;
} {
  let monotonic = 5;
  let offset = start - monotonic;
  const seen: ClockStep[] = [];
  const clock = { now: () => instantOf(offset + monotonic), monotonic: () => monotonic };
  const time = new SteadyTime(clock, (step) => seen.push(step));
  return {
    time,
    seen,
    now: clock.now,
    pass: (ms) => (monotonic += ms),
    step: (ms) => (offset += ms),
    leftOf: (since, afterMs) => {
      const { now, due } = time.moment();
      return due(since, afterMs) - now;
    },
  };
}

it("is plain arithmetic while the clock does not jump", () => {
  const { time, pass, now, seen } = machine();
  pass(10 * MINUTE);
  const since = addMs(now(), -MINUTE);
  expect(time.moment()).toMatchObject({ now: now() });
  expect(time.moment().due(since, 5 * MINUTE)).toBe(since + 5 * MINUTE);
  expect(plainMoment(now()).due(since, 5)).toBe(since + 5);
  expect([time.steps, seen]).toEqual([0, []]);
});

it("takes for no step what is within half a second", () => {
  const { time, step, leftOf, now } = machine();
  const since = now();
  step(500);
  time.look();
  expect(time.steps).toBe(0);
  step(1);
  expect(leftOf(since, MINUTE)).toBe(MINUTE);
  expect(time.steps).toBe(1);
});

it("takes many small jumps for a step once they add up to one", () => {
  const { time, step, now, leftOf } = machine();
  const since = now();
  for (let i = 0; i < 100; i++) {
    step(300);
    time.look();
  }
  expect(leftOf(since, MINUTE)).toBeGreaterThanOrEqual(MINUTE - SECOND);
});

it("takes for no step that the process stood still between reading one clock and the other", () => {
  let monotonic = 0;
  let pauseMs = 0;
  const clock = {
    now: () => instantOf(START + monotonic),
    monotonic: () => {
      const read = monotonic;
      monotonic += pauseMs;
      return read;
    },
  };
  const time = new SteadyTime(clock);
  pauseMs = 5 * SECOND;
  time.look();
  time.look();
  expect(time.steps).toBe(0);
});

describe("after a step forward", () => {
  it("has as much time left as before it", () => {
    const { pass, step, now, leftOf, time, seen } = machine();
    const since = now();
    pass(MINUTE);
    time.look();
    step(10 * MINUTE);
    expect(leftOf(since, 5 * MINUTE)).toBe(4 * MINUTE);
    pass(4 * MINUTE - 1);
    expect(leftOf(since, 5 * MINUTE)).toBe(1);
    expect(seen).toMatchObject([{ seen: START + 11 * MINUTE, byMs: 10 * MINUTE }]);
  });

  it("counts what was written after it, also before anybody looked", () => {
    const { pass, step, now, leftOf, time } = machine();
    pass(MINUTE);
    time.look();
    pass(SECOND);
    step(10 * MINUTE);
    pass(SECOND);
    const since = now();
    pass(2 * SECOND);
    expect(leftOf(since, MINUTE)).toBe(58 * SECOND);
    pass(MINUTE);
    expect(leftOf(since, MINUTE)).toBe(-2 * SECOND);
  });

  it("counts a time that the clock skipped from the step", () => {
    const { pass, step, now, leftOf, time } = machine();
    time.look();
    const skipped = addMs(now(), 5 * MINUTE);
    step(10 * MINUTE);
    expect(leftOf(skipped, MINUTE)).toBe(MINUTE);
    pass(MINUTE);
    expect(leftOf(skipped, MINUTE)).toBe(0);
  });
});

describe("after a step back", () => {
  it("has as much time left as before it", () => {
    const { pass, step, now, leftOf, time } = machine();
    const since = now();
    pass(MINUTE);
    time.look();
    step(-10 * MINUTE);
    expect(leftOf(since, 5 * MINUTE)).toBe(4 * MINUTE);
    pass(4 * MINUTE);
    expect(leftOf(since, 5 * MINUTE)).toBe(0);
  });

  it("counts what was written after it, also before anybody looked", () => {
    const { pass, step, now, leftOf, time } = machine();
    pass(20 * MINUTE);
    time.look();
    pass(SECOND);
    step(-10 * MINUTE);
    const since = now();
    pass(2 * SECOND);
    expect(leftOf(since, MINUTE)).toBe(58 * SECOND);
  });

  it("takes a time that the clock shows again for the later one, so that nothing is early", () => {
    const { pass, step, now, leftOf, time } = machine();
    pass(MINUTE);
    const since = now();
    time.look();
    pass(MINUTE);
    time.look();
    step(-2 * MINUTE);
    pass(MINUTE);
    expect(now()).toBe(since);
    expect(leftOf(since, 5 * MINUTE)).toBe(5 * MINUTE);
  });
});

describe("a time of the future", () => {
  it("counts from when it was first asked about", () => {
    const { pass, leftOf, now } = machine();
    const future = addMs(now(), 365 * 24 * 60 * MINUTE);
    expect(leftOf(future, 5 * MINUTE)).toBe(5 * MINUTE);
    pass(3 * MINUTE);
    expect(leftOf(future, 5 * MINUTE)).toBe(2 * MINUTE);
  });

  it("is not meant by a second that was rounded up", () => {
    const { leftOf, now } = machine();
    expect(leftOf(addMs(now(), SECOND), MINUTE)).toBe(61 * SECOND);
  });

  it("is remembered for the last thousand, so that memory is bounded", () => {
    const { pass, leftOf, now } = machine();
    const first = addMs(now(), 60 * MINUTE);
    leftOf(first, MINUTE);
    pass(SECOND);
    expect(leftOf(first, MINUTE)).toBe(59 * SECOND);
    for (let i = 1; i <= 1000; i++) leftOf(addMs(first, i * SECOND), MINUTE);
    expect(leftOf(first, MINUTE)).toBe(MINUTE);
  });
});

describe("the next process", () => {
  it("goes on counting where the one before it was, once it remembers its steps", () => {
    const first = machine();
    const since = first.now();
    first.pass(MINUTE);
    first.time.look();
    first.step(10 * MINUTE);
    first.time.look();
    const second = machine(first.now());
    expect(second.leftOf(since, 5 * MINUTE)).toBe(-6 * MINUTE);
    const { steps } = second.time;
    second.time.remember(first.time.log);
    expect(second.leftOf(since, 5 * MINUTE)).toBe(4 * MINUTE);
    expect(second.time.steps).not.toBe(steps);
  });

  it("waits no longer than a whole wait when the clock was set back while nobody ran", () => {
    const first = machine();
    const before = first.now();
    first.pass(MINUTE);
    first.time.look();
    first.step(10 * MINUTE);
    first.time.look();
    const after = first.now();
    first.pass(MINUTE);
    const second = machine(addMs(first.now(), -10 * MINUTE));
    second.time.remember(first.time.log);
    const own = second.now();
    for (const since of [before, after, own])
      expect(second.leftOf(since, 5 * MINUTE)).toBeLessThanOrEqual(5 * MINUTE);
    second.pass(2 * MINUTE);
    for (const since of [before, after, own])
      expect(second.leftOf(since, 5 * MINUTE)).toBe(3 * MINUTE);
  });

  it("adds its own steps to what it remembers, once", () => {
    const { time, now, pass, step, leftOf } = machine();
    const since = now();
    pass(MINUTE);
    time.look();
    step(10 * MINUTE);
    time.look();
    time.remember(NO_STEPS);
    expect(leftOf(since, 5 * MINUTE)).toBe(4 * MINUTE);
    time.remember(time.log);
    expect(time.log.steps).toHaveLength(1);
    expect(leftOf(since, 5 * MINUTE)).toBe(4 * MINUTE);
  });
});

it("counts what is older than the last 64 steps from the step that was forgotten last", () => {
  const { pass, step, now, leftOf, time } = machine();
  const since = now();
  for (let i = 0; i < 66; i++) {
    pass(MINUTE);
    time.look();
    step(10 * MINUTE);
    time.look();
  }
  expect(leftOf(since, 100 * MINUTE)).toBe(36 * MINUTE);
});
