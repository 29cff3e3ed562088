/** Pauses of clusters and namespaces: set, taken back, and kept apart. */
import type { EvacuationBudget } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isClusterPaused, isNamespacePaused, type PauseTarget, withPause } from "./pauses.ts";

const NONE: EvacuationBudget["spec"] = { paused: false };

describe("a pause", () => {
  it.each([
    [{ of: "all" }, { paused: true }],
    [
      { of: "cluster", name: "a" },
      { paused: false, pausedClusters: ["a"] },
    ],
    [
      { of: "namespace", name: "a" },
      { paused: false, pausedNamespaces: ["a"] },
    ],
  ] as const)("of %j is recorded, and taken back without a trace", (target, expected) => {
    const paused = withPause(NONE, target, true);
    expect(paused).toEqual(expected);
    expect(withPause(paused, target, true)).toBe(paused);
    expect(withPause(paused, target, false)).toEqual(NONE);
    expect(withPause(NONE, target, false)).toBe(NONE);
  });

  it("of a cluster is none of a namespace of that name", () => {
    const spec = withPause(NONE, { of: "cluster", name: "a" }, true);
    expect(isClusterPaused(spec, "a")).toBe(true);
    expect(isNamespacePaused(spec, "a")).toBe(false);
    expect(isClusterPaused(undefined, "a")).toBe(false);
    expect(isNamespacePaused({ paused: false, pausedNamespaces: [""] }, "")).toBe(false);
  });

  it("holds until it is taken back, whatever else people order", () => {
    const target = fc.oneof(
      fc.constant<PauseTarget>({ of: "all" }),
      fc.record({
        of: fc.constantFrom("cluster" as const, "namespace" as const),
        name: fc.constantFrom("a", "b"),
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(target, fc.boolean())), (orders) => {
        let spec = NONE;
        const expected = new Set<string>();
        const idOf = (one: PauseTarget): string => `${one.of} ${one.of === "all" ? "" : one.name}`;
        for (const [one, paused] of orders) {
          spec = withPause(spec, one, paused);
          if (paused) expected.add(idOf(one));
          else expected.delete(idOf(one));
        }
        const shown = [
          ...(spec.paused ? ["all "] : []),
          ...(spec.pausedClusters ?? []).map((name) => `cluster ${name}`),
          ...(spec.pausedNamespaces ?? []).map((name) => `namespace ${name}`),
        ];
        expect(new Set(shown)).toEqual(expected);
        expect(shown).toHaveLength(expected.size);
      }),
    );
  });
});
