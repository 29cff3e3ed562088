import { describe, expect, it } from "vitest";
import { makeBinding } from "../placement/makers.suite.ts";
import { FEDERATED_QUORUM } from "../well-known.ts";
import { decideForget } from "./forget.ts";
import { NO_RECORD, readFederated, withFederated } from "./record.ts";

const bound = (shares: Record<string, number>, annotations: Record<string, string> = {}) =>
  withFederated(makeBinding({ replicas: 5, clusters: shares, annotations }), {
    ...NO_RECORD,
    shares: new Map(Object.entries(shares)),
    replicas: 5,
  });

describe("a person gives up a share", () => {
  it("in one write of the record and the result", () => {
    const plan = decideForget(bound({ a: 2, b: 3 }), "b", new Set(["a", "b"]));
    expect(plan).toMatchObject({ outcome: "forget", share: 3 });
    if (plan.outcome === "refused") return;
    expect(plan.binding.spec.clusters).toEqual([{ name: "a", replicas: 2 }]);
    expect(plan.binding.spec.replicas).toBe(5);
    expect(readFederated(plan.binding)?.forgotten).toEqual(new Set(["b"]));
  });

  const QUORUM = { [FEDERATED_QUORUM]: "true" };
  it.each([
    ["no share there", bound({ a: 2 }), "b", ["a"], "has no share in cluster b"],
    ["not federated", makeBinding(), "a", ["a"], "no federated StatefulSet"],
    ["a majority of a quorum", bound({ a: 2, b: 3 }, QUORUM), "b", ["a", "b"], "a majority"],
    [
      "a majority of the living",
      bound({ a: 2, b: 1, c: 2 }, QUORUM),
      "a",
      ["a", "b"],
      "a majority",
    ],
    [
      "what the majority of all needs",
      bound({ a: 2, b: 2, c: 1 }, QUORUM),
      "c",
      ["b", "c"],
      "3 of the 5 replicas of web are in living clusters, 1 of them in c: 2 would be left, and a majority is 3",
    ],
  ] as const)("refused: %s", (_what, binding, cluster, living, why) => {
    const plan = decideForget(binding, cluster, new Set(living));
    expect(plan.outcome === "refused" ? plan.message : "").toContain(why);
  });

  it("a dead cluster's share of a quorum may go, however large", () => {
    expect(decideForget(bound({ a: 2, b: 3 }, QUORUM), "b", new Set(["a"])).outcome).toBe("forget");
  });
});
