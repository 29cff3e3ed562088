/** Every oracle is promised in docs/promises.md, and a seeded bug shows that it can speak. */
import { alwaysOracles, convergedOracles } from "@lifeboat/sim";
import { expect, it } from "vitest";
import { readText } from "../repository.ts";
import { simMutants } from "./mutants.ts";

const oracles = [...alwaysOracles, ...convergedOracles].map(({ name }) => name);

it("every oracle has a row among the promises", () => {
  const text = readText("docs/promises.md");
  expect(oracles.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

it("every invariant among the promises names an oracle that exists", () => {
  const [, rest = ""] = readText("docs/promises.md").split("## Invariants");
  const [text = ""] = rest.split("### Rules that oracles know");
  const rows = text.split("\n").filter((line) => /^\| ([A-Z]\d|L-|O-)/.test(line));
  expect(rows.length).toBeGreaterThan(oracles.length / 2);
  const known = new Set([...oracles, ...simMutants.map(({ oracle }) => oracle)]);
  for (const row of rows)
    expect(known, row).toContain(/`([a-z0-9-]+)`/.exec(row)?.[1] ?? "no oracle");
});

it("every oracle has a seeded bug", () => {
  const caught = new Set(simMutants.map(({ oracle }) => oracle));
  expect(oracles.filter((name) => !caught.has(name))).toEqual([]);
});

it("rules are known by oracles that exist", () => {
  const [, rest = ""] = readText("docs/promises.md").split("### Rules that oracles know");
  const [text = ""] = rest.split("### Not judged yet");
  const named = [...text.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(oracles.length / 3);
  const known = new Set([...oracles, ...simMutants.map(({ oracle }) => oracle)]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it("every seeded bug names a promise of its oracle", () => {
  const rows = readText("docs/promises.md").split("\n");
  const idsOf = (oracle: string): readonly string[] =>
    rows
      .filter((row) => row.includes(`| \`${oracle}\` `))
      .flatMap((row) => row.split("|")[1]?.trim().split(", ") ?? []);
  // That two runs end alike is no oracle and has no id; every other bug has both.
  const judged = simMutants.filter(({ oracle }) => oracle !== "same-end");
  const wrong = judged.filter(({ oracle, promise }) => !idsOf(oracle).includes(promise));
  expect(wrong.map(({ oracle, promise }) => `${promise} of ${oracle}`)).toEqual([]);
});
