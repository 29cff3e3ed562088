/**
 * Ready under any sequence of probes and restarts: it turns only after an unbroken run of the opposite that one process
 * has observed over the whole threshold, and then it does turn.
 */
import type { Condition } from "@lifeboat/api";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decideReady, extendStreak, observeAnswer, observeFailure, type Streak } from "./ready.ts";

const THRESHOLDS = { failureThresholdMs: 30_000, successThresholdMs: 20_000 };
const step = fc.record({
  afterMs: fc.integer({ min: 1, max: 25_000 }),
  good: fc.boolean(),
  restarts: fc.boolean(),
});

it("turns exactly when one process has seen the opposite for the whole threshold", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, startsReady) => {
      let now = 0;
      let streak: Streak | undefined;
      let current = conditionOf(startsReady);
      /** The model: since when this process has seen nothing but the opposite. */
      let oppositeSince: number | undefined;
      for (const { afterMs, good, restarts } of steps) {
        now += afterMs;
        const wasReady = current.status === "True";
        if (restarts) {
          streak = undefined;
          oppositeSince = undefined;
        }
        oppositeSince = good === wasReady ? undefined : (oppositeSince ?? now);
        streak = extendStreak(streak, good ? observeAnswer() : observeFailure(undefined), now);
        const plan = decideReady({ current, streak, ...THRESHOLDS });
        const isReady = (plan.condition?.status ?? current.status) === "True";
        const thresholdMs = good ? THRESHOLDS.successThresholdMs : THRESHOLDS.failureThresholdMs;
        const isDue = oppositeSince !== undefined && now - oppositeSince >= thresholdMs;
        expect(isReady).toBe(isDue ? good : wasReady);
        if (isReady !== wasReady) oppositeSince = undefined;
        current = conditionOf(isReady);
      }
    }),
    { numRuns: 200 },
  );
});

function conditionOf(ready: boolean): Condition {
  return {
    type: "Ready",
    status: ready ? "True" : "False",
    reason: "x",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
}
