import { addMs, type Instant, instantOf, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { CandidateTaint } from "../candidate.ts";
import type { TolerationRule } from "../rules.ts";
import { toleranceOf } from "./taints.ts";

const NOW = instantOf(1_700_000_000_000);
const effects = fc.constantFrom("", "NoSchedule", "NoExecute", "PreferNoExecute");
const tolerations = fc.record({
  key: fc.constantFrom("", "a", "b", "lifeboat.dev/drain"),
  exists: fc.boolean(),
  value: fc.constantFrom("", "x", "y"),
  effect: effects,
  seconds: fc.option(fc.constantFrom(-1, 0, 5, 10, 60), { nil: undefined }),
});
const taints = fc.record({
  key: fc.constantFrom("a", "b", "lifeboat.dev/drain"),
  value: fc.constantFrom("", "x", "y"),
  effect: effects,
  timeAdded: fc.option(fc.constantFrom(0, 5000, 10_000, 30_000), { nil: undefined }),
});

/** What tolerating means, one toleration and one taint at a time. */
function tolerates(one: TolerationRule, taint: CandidateTaint, now: Instant): boolean {
  if (taint.effect === "PreferNoExecute") return false;
  if (taint.key === "lifeboat.dev/drain" && taint.effect === "NoExecute") return false;
  if (one.effect !== "" && one.effect !== taint.effect) return false;
  if (one.key === "" ? !one.exists : one.key !== taint.key) return false;
  if (!one.exists && one.value !== taint.value) return false;
  if (one.seconds === undefined || taint.timeAdded === undefined) return true;
  return now < addMs(taint.timeAdded, one.seconds * 1000);
}

it("tolerates what any of the tolerations tolerates", () => {
  fc.assert(
    fc.property(fc.array(tolerations, { maxLength: 6 }), taints, (rules, given) => {
      const timeAdded = given.timeAdded === undefined ? undefined : addMs(NOW, -given.timeAdded);
      const taint = { ...given, text: "", timeAdded };
      const expected = rules.some((one) => tolerates(one, taint, NOW));
      expect(toleranceOf(rules, plainMoment(NOW))(taint)).toBe(expected);
    }),
    { numRuns: 200 },
  );
});
