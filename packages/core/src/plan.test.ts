import { expect, it } from "vitest";
import { defineReasons, type Plan } from "./plan.ts";

const reasons = defineReasons({
  Quiet: "Nothing is to be done.",
  Moved: "The workload was moved.",
});
type Reason = keyof typeof reasons;

it("closes the set of reasons, at run time too", () => {
  expect(Object.isFrozen(reasons)).toBe(true);
  const plan: Plan<never, Reason> = { commands: [], conditions: [], events: [], reason: "Quiet" };
  expect(reasons[plan.reason]).toBe("Nothing is to be done.");
  // @ts-expect-error a reason outside the set does not compile
  const wrong: Plan<never, Reason> = { ...plan, reason: "Loud" };
  expect(wrong.reason in reasons).toBe(false);
});
