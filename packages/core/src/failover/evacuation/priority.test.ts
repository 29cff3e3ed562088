/** Where the priority of a workload comes from. */
import { expect, it } from "vitest";
import { makeBinding } from "./makers.suite.ts";
import { priorityOf } from "./priority.ts";

const policy = (name: string): object => ({
  spec: { schedulePriority: { priorityClassName: name } },
});
const CLASSES = new Map<string, object>([
  ["high", { value: 1000 }],
  ["low", { value: -5 }],
  ["odd", { value: "many" }],
]);

it.each([
  ["the class of the policy", {}, policy("high"), 1000],
  ["a negative one", {}, policy("low"), -5],
  ["the binding before the class", { schedulePriority: { priority: 7 } }, policy("high"), 7],
  ["none: the class is not there", {}, policy("gone"), 0],
  ["none: the class is broken", {}, policy("odd"), 0],
  ["none: the policy names none", {}, { spec: {} }, 0],
  ["none: the policy is gone", {}, undefined, 0],
])("%s", (_name, spec, claiming, expected) => {
  expect(priorityOf(makeBinding(spec), claiming, (name) => CLASSES.get(name))).toBe(expected);
});
