import { addMs, deepFreeze, instantOf } from "@lifeboat/base";
import { expect, test } from "vitest";
import {
  type Condition,
  findCondition,
  hasCondition,
  type NewCondition,
  removeCondition,
  setCondition,
} from "./conditions.ts";

const NOW = instantOf(Date.parse("2026-01-02T03:04:05Z"));
const LATER = addMs(NOW, 60_000);
const READY: NewCondition = { type: "Ready", status: "True", reason: "Ok", message: "" };
const HEALTHY: NewCondition = { type: "Healthy", status: "False", reason: "Bad", message: "m" };

const both = setCondition(setCondition(undefined, READY, NOW), HEALTHY, NOW);

test("a new condition goes to the end and gets the current time", () => {
  expect(both).toEqual([
    { ...READY, lastTransitionTime: "2026-01-02T03:04:05Z" },
    { ...HEALTHY, lastTransitionTime: "2026-01-02T03:04:05Z" },
  ]);
});

test("a changed status moves the transition time and keeps the place", () => {
  const changed = setCondition(both, { ...READY, status: "Unknown", reason: "Lost" }, LATER);
  expect(changed.map((condition) => condition.type)).toEqual(["Ready", "Healthy"]);
  expect(findCondition(changed, "Ready")?.lastTransitionTime).toBe("2026-01-02T03:05:05Z");
});

test("a changed reason, message or generation keeps the transition time", () => {
  const changed = setCondition(both, { ...READY, message: "new", observedGeneration: 2 }, LATER);
  expect(findCondition(changed, "Ready")).toEqual({
    ...READY,
    message: "new",
    observedGeneration: 2,
    lastTransitionTime: "2026-01-02T03:04:05Z",
  });
});

test("setting what is there already answers the same list", () => {
  expect(setCondition(both, HEALTHY, LATER)).toBe(both);
});

test("lists are frozen, and the one that came in is left alone", () => {
  const before: readonly Condition[] = deepFreeze([...both]);
  const after = setCondition(before, { ...READY, status: "False" }, LATER);
  expect(Object.isFrozen(after)).toBe(true);
  expect(Object.isFrozen(after[0])).toBe(true);
  expect(before).toEqual(both);
});

test("an absent condition has no status", () => {
  expect(hasCondition(both, "Ready")).toBe(true);
  expect(hasCondition(both, "Healthy", "False")).toBe(true);
  expect(hasCondition(undefined, "Ready", "Unknown")).toBe(false);
});

test("removing answers the rest, or the same list when there was nothing to remove", () => {
  expect(removeCondition(both, "Ready").map((condition) => condition.type)).toEqual(["Healthy"]);
  expect(removeCondition(both, "Other")).toBe(both);
});
