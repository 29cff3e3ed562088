import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNewer, nextSerial, SERIAL_UNIT_MS } from "./serial.ts";

describe("serials", () => {
  it("grow with every zone, over restarts, and when the clock is set back while the process runs", () => {
    const steps = fc.array(
      fc.record({
        passes: fc.integer({ min: SERIAL_UNIT_MS, max: 10_000_000 }),
        restarts: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 42 }), steps, (start, all) => {
        let now = start;
        let known: number | undefined = nextSerial(undefined, now);
        let last = known;
        for (const { passes, restarts } of all) {
          now += passes;
          if (restarts) known = undefined;
          const next = nextSerial(known, now);
          expect(isNewer(next, last)).toBe(true);
          known = last = next;
        }
      }),
    );
    expect(nextSerial(100, 0)).toBe(101);
    expect(nextSerial(0xffffffff, 0)).toBe(0);
  });
});
