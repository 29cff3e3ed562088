import { describe, expect, it } from "vitest";
import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  domainPrefixedPath,
  envName,
  labelValue,
  percent,
  portName,
  qualifiedName,
  wildcardSubdomain,
} from "./names.ts";

describe("names", () => {
  it.each([
    {
      check: dnsLabel,
      fine: ["a", "a-b", "0", "a".repeat(63)],
      wrong: ["", "A", "-a", "a-", "a_b", "a".repeat(64)],
    },
    {
      check: dnsSubdomain,
      fine: ["a.b", "a-b.c", "a".repeat(253)],
      wrong: ["", "a..b", ".a", "a.", "A.b", "a".repeat(254)],
    },
    {
      check: wildcardSubdomain,
      fine: ["*.a", "*.a.b"],
      wrong: ["*", "*.", "*.*.a", "a.b", "**.a"],
    },
    {
      check: qualifiedName,
      fine: ["a", "A_b.c", "x.y/Z"],
      wrong: ["", "/a", "a/", "a/b/c", "X/y", "a b", "a".repeat(64)],
    },
    { check: labelValue, fine: ["", "a", "A.b_c-1"], wrong: ["-", "a ", "é", "a".repeat(64)] },
    {
      check: configKey,
      fine: ["a", ".x", "A-B_c.d"],
      wrong: ["", ".", "..", "..a", "a/b", "a".repeat(254)],
    },
    { check: envName, fine: ["A", "a.b", "1", "a b"], wrong: ["", "a=b", "\u0007", "é"] },
    {
      check: portName,
      fine: ["http", "a-1", "1a"],
      wrong: ["", "A", "123", "a--b", "-a", "a-", "a".repeat(16)],
    },
    { check: percent, fine: ["0%", "150%"], wrong: ["", "%", "1", "-1%", "1.5%"] },
    {
      check: domainPrefixedPath,
      fine: ["a.b/c", "a/b/c"],
      wrong: ["a", "/a", "a/", "A/b", "a/b c"],
    },
  ])("$check.name accepts what it should and explains the rest", ({ check, fine, wrong }) => {
    for (const name of fine) expect(check(name), name).toEqual([]);
    for (const name of wrong) expect(check(name).length, name).toBeGreaterThan(0);
  });

  it("says that dots are the trouble when a label would be a fine subdomain", () => {
    expect(dnsLabel("a.b")).toEqual(["must not contain dots"]);
  });

  it("answers enormous names at once", () => {
    const huge = "a-".repeat(1_000_000);
    const started = [dnsLabel(huge), dnsSubdomain(huge), qualifiedName(huge), labelValue(huge)];
    expect(started.every((messages) => messages.length > 0)).toBe(true);
  });
});
