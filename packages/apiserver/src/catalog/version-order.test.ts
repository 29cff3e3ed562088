import { expect, test } from "vitest";
import { compareVersions } from "./version-order.ts";

test("stable versions come before beta, beta before alpha, and others last", () => {
  const shuffled = [
    "foo10",
    "v1beta1",
    "v12alpha1",
    "v10",
    "v2",
    "foo1",
    "v1",
    "v3beta1",
    "v11alpha2",
    "v1beta2",
  ];
  expect(shuffled.toSorted(compareVersions)).toEqual([
    "v10",
    "v2",
    "v1",
    "v3beta1",
    "v1beta2",
    "v1beta1",
    "v12alpha1",
    "v11alpha2",
    "foo1",
    "foo10",
  ]);
});

test("equal versions compare equal", () => {
  expect(compareVersions("v1", "v1")).toBe(0);
  expect(compareVersions("x", "x")).toBe(0);
});
