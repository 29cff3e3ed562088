/** What the flags of `lifeboat member fail` mean. */
import { expect, test } from "vitest";
import { UsageError } from "../failure.ts";
import { faultOf } from "./member.ts";

const settings = (flags: Readonly<Record<string, string>>): Parameters<typeof faultOf>[0] => ({
  text: (name) => flags[name],
});

test.each([
  [{ mode: "api-down" }, { mode: "api-down" }],
  [{ mode: "slow" }, { mode: "slow" }],
  [
    { mode: "slow", delay: "1.5s" },
    { mode: "slow", delayMilliseconds: 1500 },
  ],
  [
    { mode: "errors", percent: "0" },
    { mode: "errors", errorPercent: 0 },
  ],
  [
    { mode: "errors", percent: "100" },
    { mode: "errors", errorPercent: 100 },
  ],
])("%j is the fault %j", (flags, fault) => {
  expect(faultOf(settings(flags))).toEqual(fault);
});

test.each([
  [{}, "--mode is needed: one of api-down, partition, slow, pods-not-ready, errors"],
  [{ mode: "fire" }, '--mode: "fire" is not valid: one of api-down'],
  [{ mode: "partition", delay: "1s" }, "--delay goes with --mode slow only"],
  [{ mode: "slow", percent: "1" }, "--percent goes with --mode errors only"],
  [{ mode: "slow", delay: "soon" }, '--delay: "soon" is not valid'],
  [{ mode: "slow", delay: "-1s" }, '--delay: "-1s" is not valid'],
  [{ mode: "errors", percent: "101" }, '--percent: "101" is not valid'],
  [{ mode: "errors", percent: "-1" }, '--percent: "-1" is not valid'],
  [{ mode: "errors", percent: "1.5" }, '--percent: "1.5" is not valid'],
])("%j is refused: %s", (flags, message) => {
  expect(() => faultOf(settings(flags))).toThrow(UsageError);
  expect(() => faultOf(settings(flags))).toThrow(message);
});
