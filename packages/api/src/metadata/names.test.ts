import { describe, expect, it } from "vitest";
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
  utf8Length,
  wildcardSubdomainProblems,
} from "./names.ts";

describe("names", () => {
  it.each([
    {
      check: dnsLabelProblems,
      fine: ["a", "a-b", "0", "a".repeat(63)],
      wrong: ["", "A", "-a", "a-", "a_b", "a".repeat(64)],
    },
    {
      check: dns1035LabelProblems,
      fine: ["a", "a-0", "a".repeat(63)],
      wrong: ["", "0", "0a", "-a", "a-", "a.b", "a".repeat(64)],
    },
    {
      check: dnsSubdomainProblems,
      fine: ["a.b", "a-b.c", "a".repeat(253)],
      wrong: ["", "a..b", ".a", "a.", "A.b", "a".repeat(254)],
    },
    {
      check: wildcardSubdomainProblems,
      fine: ["*.a", "*.a.b", `*.${"a".repeat(251)}`],
      wrong: ["", "*", "*.", "*.*.a", "a.b", "**.a", `*.${"a".repeat(252)}`],
    },
    {
      check: labelKeyProblems,
      fine: ["a", "A_b.c", "x.y/Z"],
      wrong: ["", "/a", "a/", "a/b/c", "X/y", "a b", "a".repeat(64)],
    },
    {
      check: labelValueProblems,
      fine: ["", "a", "A.b_c-1"],
      wrong: ["-", "a ", "é", "a".repeat(64)],
    },
    { check: pathSegmentProblems, fine: ["a", "A:b", "...", ""], wrong: [".", "..", "a/b", "%"] },
  ])("$check.name accepts what it should and explains the rest", ({ check, fine, wrong }) => {
    for (const name of fine) expect(check(name), name).toEqual([]);
    for (const name of wrong) expect(check(name).length, name).toBeGreaterThan(0);
  });

  it("says that dots are the trouble when a label would be a fine subdomain", () => {
    expect(dnsLabelProblems("a.b")).toEqual(["must not contain dots"]);
  });

  it("names both troubles of a wildcard that is too long and malformed", () => {
    expect(wildcardSubdomainProblems("*".repeat(254))).toHaveLength(2);
  });

  it("counts bytes, as servers do", () => {
    expect(utf8Length("aé€😀")).toBe(1 + 2 + 3 + 4);
    expect(labelValueProblems("é".repeat(32))[0]).toBe("must be no more than 63 bytes");
  });

  it("answers enormous names at once", () => {
    const huge = "a-".repeat(1_000_000);
    const checks = [dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems, labelValueProblems];
    for (const check of checks) expect(check(huge).length).toBeGreaterThan(0);
  });
});
