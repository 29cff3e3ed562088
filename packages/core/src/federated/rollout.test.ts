import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { disruptionBudget } from "./budget.ts";
import { NO_RECORD } from "./record.ts";
import { decideRollout, localPartition, type RolloutCopy } from "./rollout.ts";

const counts = (given: Record<string, number>) => new Map(Object.entries(given));
const record = (shares: Record<string, number>) => ({
  ...NO_RECORD,
  shares: counts(shares),
  numbers: new Map(Object.keys(shares).map((name, i) => [name, i + 1])),
});
const SIX = { a: 2, b: 2, c: 2 };

/** `new 2/2`: has the new template, both pods updated and ready. */
function copyOf(cluster: string, text: string): RolloutCopy {
  const [, age, updated, ready, flags = ""] =
    /^(old|new) (\d)\/(\d) ?(.*)$/.exec(text) ?? ([] as string[]);
  return {
    cluster,
    isLiving: !flags.includes("dead"),
    isCurrent: age === "new",
    isReported: !flags.includes("silent"),
    replicas: 2,
    updated: Number(updated),
    ready: Number(ready),
    partition: flags.includes("part") ? 1 : 0,
  };
}

function decide(copies: readonly string[], isQuorum = false) {
  const names = ["a", "b", "c"];
  const all = copies.map((text, i) => copyOf(names[i] ?? "", text));
  const budget = disruptionBudget({
    record: record(SIX),
    isQuorum,
    ready: new Map(all.map(({ cluster, ready }) => [cluster, ready])),
    serving: new Set(all.filter(({ isLiving }) => isLiving).map(({ cluster }) => cluster)),
  });
  const { reason, held, message } = decideRollout(record(SIX), all, budget);
  return { reason, held: [...held].toSorted().join(" "), message };
}

describe("a new pod template reaches", () => {
  it.each([
    ["the last cluster first", ["old 2/2", "old 2/2", "old 2/2"], "Updating", "a b"],
    ["not the next before a report", ["old 2/2", "old 2/2", "new 2/2 silent"], "Updating", "a b"],
    ["not the next before all are updated", ["old 2/2", "old 2/2", "new 1/2"], "Updating", "a b"],
    ["not the next before all are ready", ["old 2/2", "old 2/2", "new 2/1"], "Updating", "a b"],
    ["the next then", ["old 2/2", "old 2/2", "new 2/2"], "Updating", "a"],
    ["the first cluster last", ["old 2/2", "new 2/2", "new 2/2"], "Updating", ""],
    ["and it is over when that is ready", ["new 1/2", "new 2/2", "new 2/2"], "Updating", ""],
    ["all", ["new 2/2", "new 2/2", "new 2/2"], "UpToDate", ""],
    ["none after one that died", ["old 2/2", "old 2/2", "new 2/2 dead"], "RolloutStopped", "a b"],
    [
      "one whose pods are not ready before the others",
      ["old 2/1", "old 2/2", "old 2/2"],
      "Updating",
      "b c",
    ],
    ["none while an updated one is not well", ["old 2/2", "new 2/1", "new 2/2"], "Updating", "a"],
    ["not a dead one", ["old 2/2", "old 2/2", "old 2/2 dead"], "Updating", "a c"],
    ["a dead one when it is back", ["new 2/2", "new 2/2", "old 2/2"], "Updating", ""],
    ["nothing but dead ones", ["new 2/2", "new 2/2", "old 2/2 dead"], "ClusterDead", "c"],
    [
      "with a partition only what is above it",
      ["old 2/2", "old 2/2", "new 1/2 part"],
      "Updating",
      "a",
    ],
  ] as const)("%s", (_what, copies, reason, held) => {
    expect(decide(copies)).toMatchObject({ reason, held });
  });

  it("of a quorum nothing while the budget is spent; the message has the numbers", () => {
    const stopped = decide(["old 2/2", "old 2/2", "old 2/2 dead"], true);
    expect(stopped).toMatchObject({ reason: "BudgetSpent", held: "a b c" });
    expect(stopped.message).toContain("4 of 6 pods are up, and 4 must stay up");
    expect(decide(["old 2/2", "old 2/2", "old 2/2"], true).reason).toBe("Updating");
  });

  it("a cluster that a former template broke gets its cure", () => {
    expect(decide(["old 2/2", "old 2/2", "old 1/1"], true).held).toBe("a b");
    expect(decide(["old 2/1", "old 2/2", "new 2/2"]).held).toBe("b");
  });
});

it("whatever clusters report, at most one more is updated, and no quorum loses its majority", () => {
  const copy = fc.record({
    isLiving: fc.boolean(),
    isCurrent: fc.boolean(),
    isReported: fc.boolean(),
    ready: fc.nat(2),
    updated: fc.nat(2),
    partition: fc.constant(0),
    replicas: fc.constant(2),
  });
  fc.assert(
    fc.property(fc.tuple(copy, copy, copy), fc.boolean(), (given, isQuorum) => {
      const copies = given.map((one, i) => ({ ...one, cluster: "abc"[i] ?? "" }));
      const budget = disruptionBudget({
        record: record(SIX),
        isQuorum,
        ready: new Map(copies.map(({ cluster, ready }) => [cluster, ready])),
        serving: new Set(copies.filter((one) => one.isLiving).map(({ cluster }) => cluster)),
      });
      const { held } = decideRollout(record(SIX), copies, budget);
      const freed = copies.filter((one) => !one.isCurrent && !held.has(one.cluster));
      expect(freed.length).toBeLessThanOrEqual(1);
      for (const one of freed) {
        expect(one.isLiving).toBe(true);
        for (const other of copies)
          if (other.isCurrent)
            expect(other).toMatchObject({ isLiving: true, isReported: true, ready: 2, updated: 2 });
        if (isQuorum && one.ready === 2) expect(budget.up - 1).toBeGreaterThanOrEqual(4);
      }
      for (const one of copies) if (one.isCurrent) expect(held.has(one.cluster)).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

it("a global partition counts through all clusters", () => {
  const shares = record({ a: 4, b: 4, c: 3 });
  const at = (partition: number) =>
    ["a", "b", "c", "d"].map((name) => localPartition(shares, name, partition)).join(" ");
  expect(at(0)).toBe("0 0 0 0");
  expect(at(3)).toBe("3 0 0 0");
  expect(at(6)).toBe("4 2 0 0");
  expect(at(10)).toBe("4 4 2 0");
  expect(at(99)).toBe("4 4 3 0");
});
