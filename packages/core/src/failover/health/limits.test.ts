/** The condition ResponsesWithinLimits: when it is there, what it reports, and that it does not flap. */
import type { Condition } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { CALM_MS, decideLimits, type Excess, extendExcess } from "./limits.ts";

const excess: Excess = { reason: "TooManyItems", message: "too many", since: 1000, last: 1000 };

function condition(status: Condition["status"]): Condition {
  return {
    type: "ResponsesWithinLimits",
    status,
    reason: "x",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
}

describe("the condition", () => {
  it.each<[string, Partial<Parameters<typeof decideLimits>[0]>, string | undefined]>([
    ["nothing ever exceeded", {}, undefined],
    ["an excess now", { excess }, "False"],
    ["an excess, still young", { excess, now: 1000 + CALM_MS - 1 }, "False"],
    ["an excess, long ago, nothing reported", { excess, now: 1000 + CALM_MS }, undefined],
    ["an excess, long ago", { excess, current: condition("False"), now: 1000 + CALM_MS }, "True"],
    [
      "reported by an earlier process, calm for a while",
      { current: condition("False"), now: CALM_MS - 1 },
      undefined,
    ],
    [
      "reported by an earlier process, calm for long",
      { current: condition("False"), now: CALM_MS },
      "True",
    ],
    ["within limits, as it was", { current: condition("True"), now: 10 * CALM_MS }, undefined],
    ["within limits, and exceeded again", { current: condition("True"), excess }, "False"],
  ])("%s", (_name, view, status) => {
    const got = decideLimits({
      current: undefined,
      excess: undefined,
      since: 0,
      now: 1000,
      ...view,
    });
    expect(got?.status).toBe(status);
    if (status === "False") expect(got).toMatchObject({ reason: "TooManyItems" });
  });
});

describe("excesses in a row", () => {
  it("keep the first reason, so that a member cannot have its Cluster written without end", () => {
    const second = { reason: "ResponseTooDeep", message: "deep" } as const;
    expect(extendExcess(excess, second, 2000)).toEqual({ ...excess, last: 2000 });
    const later = 1000 + CALM_MS;
    expect(extendExcess(excess, second, later)).toEqual({ ...second, since: later, last: later });
    expect(extendExcess(undefined, second, 5)).toEqual({ ...second, since: 5, last: 5 });
  });
});
