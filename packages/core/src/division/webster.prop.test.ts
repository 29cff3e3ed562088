import fc from "fast-check";
import { expect, it } from "vitest";
import { divideByWeights, type Weight } from "./webster.ts";

const weightLists = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z]{1,3}$/),
    weight: fc.oneof(fc.nat(5), fc.nat(1000)),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 8 },
);

/** The definition, one seat at a time. */
function divideSlowly(total: number, weights: readonly Weight[]): Map<string, number> {
  const shares = new Map(weights.map(({ name }) => [name, 0]));
  const claim = ({ name, weight }: Weight) => weight / (2 * (shares.get(name) ?? 0) + 1);
  for (let seat = 0; seat < total; seat++) {
    const [winner] = weights
      .filter(({ weight }) => weight > 0)
      .toSorted((a, b) => claim(b) - claim(a) || (a.name < b.name ? -1 : 1));
    if (winner !== undefined) shares.set(winner.name, (shares.get(winner.name) ?? 0) + 1);
  }
  return shares;
}

it("divides exactly, as the definition says, whatever the order of the weights", () => {
  fc.assert(
    fc.property(fc.nat(300), weightLists, (total, weights) => {
      const shares = divideByWeights(total, weights);
      expect(shares).toEqual(divideSlowly(total, weights));
      const sum = [...shares.values()].reduce((all, share) => all + share, 0);
      expect(sum).toBe(weights.some(({ weight }) => weight > 0) ? total : 0);
      const reversed = divideByWeights(total, weights.toReversed());
      for (const [name, share] of shares) expect(reversed.get(name)).toBe(share);
    }),
  );
});

it("divides large totals exactly", () => {
  fc.assert(
    fc.property(fc.nat(2_147_483_647), weightLists, (total, weights) => {
      fc.pre(weights.some(({ weight }) => weight > 0));
      const shares = [...divideByWeights(total, weights).values()];
      expect(shares.reduce((all, share) => all + share, 0)).toBe(total);
    }),
  );
});
