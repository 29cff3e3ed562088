import { expect, test } from "vitest";
import { decideNamespaceConditions } from "./namespace-conditions.ts";

const T1 = "2026-01-01T00:00:01Z";
const T2 = "2026-01-01T00:00:02Z";
const pods = { resource: "pods", count: 2, finalizers: ["x/hold", "x/hold"] };
const widgets = { resource: "widgets.ex.io", count: 1, finalizers: [] };

const shown = (conditions: ReturnType<typeof decideNamespaceConditions>) =>
  conditions
    .filter(({ type }) => type.endsWith("Remaining"))
    .map(({ status, lastTransitionTime, message }) => `${status} ${lastTransitionTime} ${message}`);

test("what remains is named with its count and its finalizers", () => {
  expect(shown(decideNamespaceConditions([], [widgets, pods], T1))).toEqual([
    `True ${T1} Some resources are remaining: pods. has 2 resource instances, widgets.ex.io has 1 resource instances`,
    `True ${T1} Some content in the namespace has finalizers remaining: x/hold in 2 resource instances`,
  ]);
});

test("times move only with the status, and nothing new is the same array", () => {
  const first = decideNamespaceConditions([], [pods], T1);
  expect(decideNamespaceConditions(first, [pods], T2)).toBe(first);
  const fewer = decideNamespaceConditions(first, [{ ...pods, count: 1 }], T2);
  expect(fewer).not.toBe(first);
  expect(shown(fewer)[0]).toContain(`True ${T1}`);
  expect(shown(decideNamespaceConditions(fewer, [], T2))[0]).toBe(
    `False ${T2} All content successfully removed`,
  );
});

test("conditions of others stay", () => {
  const other = {
    type: "Mine",
    status: "True",
    lastTransitionTime: T1,
    reason: "R",
    message: "m",
  } as const;
  expect(decideNamespaceConditions([other], [], T2)).toContainEqual(other);
});
