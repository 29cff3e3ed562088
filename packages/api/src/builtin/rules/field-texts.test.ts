import { expect, it } from "vitest";
import {
  configKeyProblems,
  domainPrefixedPathProblems,
  envNameProblems,
  headerNameProblems,
  percentProblems,
  portNameProblems,
} from "./field-texts.ts";

it.each([
  {
    check: configKeyProblems,
    fine: ["a", ".x", "A-B_c.d", "a".repeat(253)],
    wrong: ["", ".", "..", "..a", "a/b", "a".repeat(254)],
  },
  { check: envNameProblems, fine: ["A", "a.b", "1", "a b"], wrong: ["", "a=b", "\u0007", "é"] },
  { check: headerNameProblems, fine: ["A", "X-a-1", "-"], wrong: ["", "a b", "a_b", "é"] },
  {
    check: portNameProblems,
    fine: ["http", "a-1", "1a"],
    wrong: ["", "A", "123", "a--b", "-a", "a-", "a".repeat(16)],
  },
  { check: percentProblems, fine: ["0%", "150%"], wrong: ["", "%", "1", "-1%", "1.5%"] },
  {
    check: domainPrefixedPathProblems,
    fine: ["a.b/c", "a/b/c"],
    wrong: ["a", "/a", "a/", "A/b", "a/b c"],
  },
])("$check.name accepts what it should and explains the rest", ({ check, fine, wrong }) => {
  for (const text of fine) expect(check(text), text).toEqual([]);
  for (const text of wrong) expect(check(text).length, text).toBeGreaterThan(0);
});

it("names every trouble of a key", () => {
  expect(configKeyProblems(`../${"a".repeat(300)}`)).toHaveLength(3);
});
