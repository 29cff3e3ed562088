/** Whatever a wall clock does: nothing is counted twice, and nothing stands still. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { STEADY_TOLERANCE_MS, SteadyTime } from "./steady-time.ts";
import { type Instant, instantOf } from "./time.ts";

const START = 1_000_000_000;
/** A moment after everything: what is left then shows what was counted. */
const FAR_MS = 1e9;

type Act =
  | { readonly act: "pass"; readonly ms: number }
  | { readonly act: "step"; readonly ms: number }
  | { readonly act: "write" }
  | { readonly act: "look" };

interface Written {
  readonly text: Instant;
  readonly at: number;
  /** How far the clock jumped since the last look before it was written. */
  moved: number;
}

const spans = fc.oneof(fc.nat(2000), fc.nat(20_000), fc.nat(1_000_000));
const acts = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant("pass" as const), ms: spans }),
    fc.record({
      act: fc.constant("step" as const),
      ms: fc.oneof(
        spans,
        spans.map((ms) => -ms),
      ),
    }),
    fc.constant<Act>({ act: "write" }),
    fc.constant<Act>({ act: "look" }),
  ),
  { maxLength: 60 },
);

/** What `check` gets at each look: what is counted since a written time, and what has passed in truth. */
function live(
  given: readonly Act[],
  check: (counted: number, passed: number, moved: number) => void,
): void {
  let passed = 0;
  let offset = START;
  let unseen = 0;
  const written: Written[] = [];
  const time = new SteadyTime({
    now: () => instantOf(offset + passed),
    monotonic: () => passed,
  });
  for (const one of [...given, { act: "look" } as const]) {
    if (one.act === "pass") passed += one.ms;
    else if (one.act === "write")
      written.push({ text: instantOf(offset + passed), at: passed, moved: unseen });
    else if (one.act === "step") {
      offset += one.ms;
      unseen += Math.abs(one.ms);
      for (const record of written) record.moved += Math.abs(one.ms);
    } else {
      unseen = 0;
      const { now, due } = time.moment();
      for (const { text, at, moved } of written)
        check(FAR_MS - (due(text, FAR_MS) - now), passed - at, moved);
    }
  }
}

it("never counts more than has passed, nor less by more than the clock was moved", () => {
  const apart = acts.map((given) =>
    given.flatMap((one): readonly Act[] => (one.act === "step" ? [{ act: "look" }, one] : [one])),
  );
  fc.assert(
    fc.property(apart, (given) => {
      live(given, (counted, passed, moved) => {
        expect(counted).toBeLessThanOrEqual(passed + STEADY_TOLERANCE_MS);
        expect(counted).toBeGreaterThanOrEqual(passed - STEADY_TOLERANCE_MS - moved);
      });
    }),
    { numRuns: 200 },
  );
});

it("counts exactly what has passed when the clock only jumps forward and is looked at before and after", () => {
  const looked = acts.map((given) =>
    given.flatMap((one): readonly Act[] => {
      if (one.act !== "step") return [one, { act: "look" }];
      return [{ act: "look" }, { act: "step", ms: Math.abs(one.ms) + 2000 }, { act: "look" }];
    }),
  );
  fc.assert(
    fc.property(looked, (given) => {
      live(given, (counted, passed) =>
        expect(Math.abs(counted - passed)).toBeLessThanOrEqual(STEADY_TOLERANCE_MS),
      );
    }),
    { numRuns: 200 },
  );
});
