/** Which writer a result comes from: the control plane, or a person. */
import { describe, expect, it } from "vitest";
import { evict, rollBack } from "./evict.ts";
import { makeBinding, NOW } from "./makers.suite.ts";
import { digestOfResult, isEditedByHand, signAgain, signResult } from "./own-result.ts";

const two = [
  { name: "eu-1", replicas: 2 },
  { name: "eu-2", replicas: 1 },
];
const placed = signResult(makeBinding({ clusters: two }));
const recorded = digestOfResult(placed);
const edited = { ...placed, spec: { ...placed.spec, clusters: two.slice(0, 1) } };
const order = {
  cluster: "eu-1",
  reason: "r",
  message: "",
  producer: "p",
  purgeMode: "Gracefully" as const,
  state: {},
  inject: false,
};

describe("a result", () => {
  it("is the control plane's own as it was placed, in whatever order", () => {
    const turned = { ...placed, spec: { ...placed.spec, clusters: two.toReversed() } };
    expect([placed, turned].map((one) => isEditedByHand(one, "another"))).toEqual([false, false]);
  });

  it("is its own after an eviction and after taking that back", () => {
    const evicted = evict(placed, order, NOW);
    expect(isEditedByHand(evicted, recorded)).toBe(false);
    expect(digestOfResult(evicted)).not.toBe(recorded);
    expect(isEditedByHand(rollBack(evicted, "eu-1"), "another")).toBe(false);
  });

  it("is a person's when clusters or replicas are others than were signed and recorded", () => {
    const shifted = { ...placed, spec: { ...placed.spec, clusters: [{ ...two[0], name: "x" }] } };
    const scaled = {
      ...placed,
      spec: { ...placed.spec, clusters: two.map((one) => ({ ...one, replicas: 7 })) },
    };
    expect([edited, shifted, scaled].map((one) => isEditedByHand(one, recorded))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("is no order about this failure when the edit is older than the record", () => {
    expect(isEditedByHand(edited, digestOfResult(edited))).toBe(false);
  });

  it("has no known writer when it was never signed, or what was recorded is not known", () => {
    const unsigned = makeBinding({ clusters: two });
    expect(isEditedByHand(unsigned, "another")).toBe(false);
    expect(signAgain(unsigned)).toBe(unsigned);
    expect(isEditedByHand(edited, undefined)).toBe(false);
  });
});
