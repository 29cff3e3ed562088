/**
 * The program as the table of faults runs it: commands that run until a signal are stopped after a moment, and waiting takes no time.
 * Everything else is the real program.
 */
import type { Clock } from "@lifeboat/base";
import { vi } from "vitest";

/** Waits that are longer are limits of something else, and take their time. */
const SHORT_MS = 5000;

/** The machine's clock, but what waits goes on at once, and finds that the time has passed. */
function hurrying(real: Clock): Clock {
  let skippedMs = 0;
  return {
    now: () => real.now(),
    monotonic: () => real.monotonic() + skippedMs,
    after: (ms, callback) => {
      if (ms > SHORT_MS) return real.after(ms, callback);
      return real.after(0, () => {
        skippedMs += ms;
        callback();
      });
    },
  };
}

/** A command that follows something sees it a few times. */
const FOLLOWING_MS = 60;
/** One that ends by itself does, also on a slow machine. */
const ENDING_MS = 20_000;
let stopsAfterMs = FOLLOWING_MS;

/** Whether the next commands end by themselves, though they could be stopped. */
function endsByItself(doesEnd: boolean): void {
  stopsAfterMs = doesEnd ? ENDING_MS : FOLLOWING_MS;
}

function stopsSoon() {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), stopsAfterMs);
  return {
    signal: stop.signal,
    stop: () => stop.abort(),
    waitFor: () => undefined,
    release: () => clearTimeout(timer),
  };
}

/** Test files share loaded modules: those that have the real ones are loaded again, and so they are after this file (`unload`). */
export async function loadHostile() {
  vi.doMock("./stopping.ts", async (original) => ({
    ...(await original<object>()),
    stopOnSignal: stopsSoon,
  }));
  vi.doMock("@lifeboat/base/adapters", async (original) => {
    const real = await original<{ readonly createRealClock: () => Clock }>();
    return { ...real, createRealClock: () => hurrying(real.createRealClock()) };
  });
  vi.resetModules();
  const loaded = {
    ...(await import("./error-paths.suite.ts")),
    ...(await import("./error-calls.suite.ts")),
    ...(await import("./hostile-plane.suite.ts")),
  };
  const unload = (): void => {
    vi.doUnmock("./stopping.ts");
    vi.doUnmock("@lifeboat/base/adapters");
    vi.resetModules();
  };
  return { ...loaded, endsByItself, unload };
}
