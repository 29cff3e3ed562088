import fc from "fast-check";
import { expect, it } from "vitest";
import { divideByWeights, divideFurther, type Weight } from "./webster.ts";

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
      .toSorted(
        (a, b) =>
          claim(b) - claim(a) ||
          (shares.get(a.name) ?? 0) - (shares.get(b.name) ?? 0) ||
          (a.name < b.name ? -1 : 1),
      );
    if (winner !== undefined) shares.set(winner.name, (shares.get(winner.name) ?? 0) + 1);
  }
  return shares;
}

it("divides exactly, by the definition, whatever the order of the weights", () => {
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

it("goes on from a division to where dividing at once would have ended, and moves only the difference", () => {
  fc.assert(
    fc.property(fc.nat(400), fc.nat(400), weightLists, fc.uuid(), (before, after, weights, uid) => {
      fc.pre(weights.some(({ weight }) => weight > 0));
      const first = divideByWeights(before, weights, uid);
      const holdings = weights.map((one) => ({ ...one, seats: first.get(one.name) ?? 0 }));
      const further = divideFurther(after, holdings, uid);
      expect(further).toEqual(divideByWeights(after, weights, uid));
      for (const [name, seats] of further)
        expect(Math.sign(seats - (first.get(name) ?? 0)) * Math.sign(after - before)).not.toBe(-1);
    }),
  );
});

it("takes away exactly what is too much, from any holdings, those without a weight first", () => {
  const holdings = fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[a-z]{1,3}$/),
      weight: fc.oneof(fc.constant(0), fc.nat(1000)),
      seats: fc.oneof(fc.nat(9), fc.nat(2_000_000_000)),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(holdings, fc.nat(1000), (given, part) => {
      const held = given.reduce((all, { seats }) => all + seats, 0);
      const total = Math.floor((held * part) / 1000);
      const shares = divideFurther(total, given);
      expect([...shares.values()].reduce((all, seats) => all + seats, 0)).toBe(total);
      for (const { name, seats } of given) expect(shares.get(name)).toBeLessThanOrEqual(seats);
    }),
  );
});
