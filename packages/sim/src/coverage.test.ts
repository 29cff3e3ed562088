/** What is shown of cells: all of them, in eighty columns. */
import { describe, expect, it } from "vitest";
import { CELLS, coverageTable, rowsOfFault } from "./coverage.ts";
import { scenarioOf } from "./generate/search.ts";
import { phases } from "./phase.ts";

describe("the table of cells", () => {
  it("is at most eighty columns wide, whatever was counted", () => {
    const many = new Map([["F1 × healthy", 123_456]]);
    for (const cells of [new Map<string, number>(), many])
      for (const line of coverageTable(cells).split("\n"))
        expect(line.length).toBeLessThanOrEqual(80);
  });

  it("says which cells were never reached, and that none was when all were", () => {
    const reached = coverageTable(new Map([["F1 × healthy", 1]]));
    expect(reached).toContain("F1 in 2 3 4 5 6 7 8 9 10 11 12");
    const rows = [...reached.matchAll(/^(F\d+) /gm)].map(([, id]) => id ?? "");
    const all = rows.flatMap((row) => phases.map((phase) => [`${row} × ${phase}`, 1] as const));
    expect(coverageTable(new Map(all))).toContain("Every cell was reached.");
    expect(new Set(all.map(([cell]) => cell)).size).toBe(CELLS);
  });

  it("has a row for every fault that is drawn", () => {
    const table = coverageTable(new Map());
    for (let seed = 1; seed <= 100; seed++)
      for (const fault of scenarioOf(seed).faults)
        for (const row of rowsOfFault(fault)) expect(table).toMatch(new RegExp(`^${row} `, "m"));
  });
});
