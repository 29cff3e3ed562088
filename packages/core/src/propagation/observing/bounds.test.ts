import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reportProblem } from "./bounds.ts";

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { in: nested(depth - 1) };
}

describe("reportProblem", () => {
  it("lets pass what objects report", () => {
    for (const status of [
      undefined,
      null,
      {},
      { replicas: 3 },
      { conditions: [{ type: "Ready" }] },
    ])
      expect(reportProblem(status)).toBeUndefined();
    expect(reportProblem({ text: "x".repeat(200_000) })).toBeUndefined();
    expect(reportProblem(nested(64))).toBeUndefined();
  });

  it("stops what is long, by one text or by many small parts", () => {
    const large = "The status is larger than 256 KiB.";
    expect(reportProblem({ text: "x".repeat(262_144) })).toBe(large);
    expect(reportProblem({ list: Array.from({ length: 40_000 }, () => 0) })).toBe(large);
    expect(reportProblem(Object.fromEntries([["x".repeat(262_144), 1]]))).toBe(large);
  });

  it("stops what is deep", () => {
    expect(reportProblem(nested(65))).toBe("The status is nested more than 64 levels deep.");
    expect(reportProblem(nested(5000))).toContain("levels deep");
  });

  it("never thinks that a status is smaller than its JSON, but for characters that are escaped", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b") });
    const json = fc.jsonValue({ stringUnit: fc.constantFrom("a", "b") });
    fc.assert(
      fc.property(json, text, (value, filler) => {
        const whole = { value, filler: filler + "x".repeat(262_144 - 20) };
        if (JSON.stringify(whole).length > 262_144) expect(reportProblem(whole)).toBeDefined();
      }),
    );
  });
});
