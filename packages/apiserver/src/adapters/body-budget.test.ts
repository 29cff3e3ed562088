/** Which bodies are lost when room is short: by table, and against what must hold after any history. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BodyBudget, type BodyShare } from "./body-budget.ts";

type Given = readonly [holder: string, bytes: number, state?: "whole"];

interface Case {
  readonly name: string;
  readonly given: readonly Given[];
  readonly arrives: Given;
  /** By holder and bytes. */
  readonly lost: readonly string[];
}

const LIMITS = { totalBytes: 800, bytesPerHolder: 400 };

const CASES: readonly Case[] = [
  { name: "there is room", given: [["a", 300]], arrives: ["b", 300], lost: [] },
  {
    name: "a limit that is met exactly",
    given: [
      ["a", 400],
      ["b", 300],
    ],
    arrives: ["c", 100],
    lost: [],
  },
  {
    name: "the largest holder goes first, though its bodies are small",
    given: [
      ["many", 100],
      ["many", 110],
      ["many", 120],
      ["one", 250],
      ["other", 200],
    ],
    arrives: ["honest", 30],
    lost: ["many 120"],
  },
  {
    name: "the largest holder is found again after each loss",
    given: [
      ["a", 200],
      ["a", 180],
      ["b", 300],
    ],
    arrives: ["c", 190],
    lost: ["a 200"],
  },
  {
    name: "of one holder the largest body goes, and the small one stays",
    given: [
      ["a", 90],
      ["a", 300],
    ],
    arrives: ["a", 20],
    lost: ["a 300"],
  },
  {
    name: "of equal bodies the oldest goes",
    given: [
      ["a", 150],
      ["a", 150, "whole"],
    ],
    arrives: ["a", 150],
    lost: ["a 150"],
  },
  {
    name: "a body that alone is too large is itself lost",
    given: [],
    arrives: ["a", 401],
    lost: ["a 401"],
  },
  {
    name: "whole bodies stay, and the one that arrives is lost",
    given: [
      ["a", 200, "whole"],
      ["a", 190, "whole"],
    ],
    arrives: ["a", 20],
    lost: ["a 20"],
  },
  {
    name: "a larger holder whose bodies are all whole loses nothing",
    given: [
      ["a", 400, "whole"],
      ["b", 300],
    ],
    arrives: ["c", 150],
    lost: ["b 300"],
  },
];

describe("when one more body arrives", () => {
  test.each(CASES)("$name", ({ given, arrives, lost }) => {
    const budget = new BodyBudget<string>(LIMITS);
    for (const [holder, bytes, state] of given) {
      const share = budget.open(holder, `${holder} ${bytes}`);
      expect(budget.grow(share, bytes)).toEqual([]);
      if (state === "whole") budget.complete(share);
    }
    const [holder, bytes] = arrives;
    const share = budget.open(holder, `${holder} ${bytes}`);
    expect(budget.grow(share, bytes).map(({ body }) => body)).toEqual(lost);
  });
});

test("a flood of unfinished bodies costs no honest write", () => {
  const budget = new BodyBudget<string>({ totalBytes: 512, bytesPerHolder: 256 });
  for (let round = 0; round < 500; round++) {
    budget.grow(budget.open("greedy", "unfinished"), 3);
    const share = budget.open("honest", "write");
    expect(budget.grow(share, 1).map(({ body }) => body)).not.toContain("write");
    budget.complete(share);
    budget.release(share);
  }
  expect(budget.heldBytes).toBeLessThanOrEqual(256);
});

type Step =
  | { readonly do: "open"; readonly holder: string }
  | { readonly do: "grow"; readonly which: number; readonly bytes: number }
  | { readonly do: "complete"; readonly which: number }
  | { readonly do: "release"; readonly which: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("open" as const), holder: fc.constantFrom("a", "b", "c", "d") }),
    fc.record({ do: fc.constant("grow" as const), which: fc.nat(), bytes: fc.nat(300) }),
    fc.record({ do: fc.constant("grow" as const), which: fc.nat(), bytes: fc.nat(30) }),
    fc.record({ do: fc.constant("complete" as const), which: fc.nat() }),
    fc.record({ do: fc.constant("release" as const), which: fc.nat() }),
  ),
  { maxLength: 120 },
);

test("after any history the limits hold, sums are right, and no holder below its share loses a body", () => {
  fc.assert(
    fc.property(steps, (history) => {
      const budget = new BodyBudget<number>(LIMITS);
      const held = new Map<number, BodyShare<number>>();
      const whole = new Set<number>();
      let next = 0;
      const bytesOf = (holder: string): number =>
        [...held.values()].reduce((sum, s) => sum + (s.holder === holder ? s.bytes : 0), 0);
      const pick = (which: number): BodyShare<number> | undefined =>
        [...held.values()][which % Math.max(held.size, 1)];
      for (const step of history) {
        if (step.do === "open") {
          held.set(next, budget.open(step.holder, next));
          next += 1;
          continue;
        }
        const share = pick(step.which);
        if (share === undefined) continue;
        if (step.do === "complete") {
          budget.complete(share);
          whole.add(share.body);
        } else if (step.do === "release") {
          budget.release(share);
          budget.release(share);
          held.delete(share.body);
        } else if (!whole.has(share.body)) {
          const before = new Map(
            [...held.values()].map(({ holder }) => [
              holder,
              bytesOf(holder) + (holder === share.holder ? step.bytes : 0),
            ]),
          );
          const lost = budget.grow(share, step.bytes);
          for (const one of lost) {
            expect(whole.has(one.body)).toBe(false);
            expect(held.delete(one.body)).toBe(true);
          }
          if (whole.size === 0)
            for (const { holder } of lost)
              expect(before.get(holder)).toBeGreaterThan(
                Math.min((LIMITS.totalBytes * 7) / 8 / before.size, LIMITS.bytesPerHolder),
              );
        }
        let sum = 0;
        for (const { bytes } of held.values()) sum += bytes;
        expect(budget.heldBytes).toBe(sum);
        expect(sum).toBeLessThanOrEqual(LIMITS.totalBytes);
        for (const holder of "abcd") expect(bytesOf(holder)).toBeLessThanOrEqual(400);
      }
      for (const share of held.values()) budget.release(share);
      expect(budget.heldBytes).toBe(0);
    }),
    { numRuns: 300 },
  );
});
