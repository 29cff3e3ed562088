/** What people read of a search: the sum of its runs, in eighty columns. */
import { describe, expect, it } from "vitest";
import { type RunSummary, Tally } from "./report.ts";

const run: RunSummary = {
  isBroken: false,
  faults: 3,
  simulatedMs: 3_600_000,
  convergedAfterMs: 1000,
  cells: ["F1 × healthy"],
  cpuMs: 500,
};
const other: RunSummary = {
  ...run,
  isBroken: true,
  convergedAfterMs: 9000,
  cells: ["F2 × healthy"],
};

function tallyOf(runs: readonly RunSummary[]): Tally {
  const tally = new Tally();
  for (const each of runs) tally.add(each);
  return tally;
}

describe("a tally", () => {
  it("is the same whichever worker was faster", () => {
    const about = { wallMs: 60_000, workers: 4 };
    const runs = [run, other, run];
    expect(tallyOf(runs).table(about)).toBe(tallyOf(runs.toReversed()).table(about));
  });

  it("says what was run, how fast, and what was broken", () => {
    const table = tallyOf([run, other, run]).table({ wallMs: 60_000, workers: 4 });
    const said = (what: string): string =>
      new RegExp(`^${what} {2,}(.*)$`, "m").exec(table)?.[1] ?? "nothing";
    expect(said("scenarios")).toBe("3");
    expect(said("simulated time")).toBe("3.0 h, 0.000 years");
    expect(said("workers")).toBe("4");
    expect(said("wall time")).toBe("60.0 s");
    expect(said("CPU time of the runs")).toBe("1.5 s");
    expect(said("times real time, of a core")).toBe("7200");
    expect(said("scenarios per CPU minute")).toBe("120.0");
    expect(said("faults injected")).toBe("9");
    expect(said("cells reached")).toMatch(/^2 of /);
    expect(said("slowest convergence")).toBe("9 s");
    expect(said("violations")).toBe("1");
  });

  it("fits into a terminal, with everything counted and with nothing", () => {
    const big = { ...run, simulatedMs: 1e15, faults: 1e12, cpuMs: 1e9 };
    for (const tally of [new Tally(), tallyOf([big])])
      for (const line of tally.table({ wallMs: 1e9, workers: 128 }).split("\n"))
        expect(line.length).toBeLessThanOrEqual(80);
  });

  it("shows progress in one line of a terminal", () => {
    const line = tallyOf(Array.from({ length: 12_345 }, () => run)).progress("seed 1234567", 0.5);
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line).toContain("[########........]");
  });
});
