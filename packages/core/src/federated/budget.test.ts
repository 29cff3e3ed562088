import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { makeBinding, makeCluster } from "../placement/makers.suite.ts";
import { FEDERATED_QUORUM } from "../well-known.ts";
import { budgetViewOf, disruptionBudget, refuseTakingDown } from "./budget.ts";
import { NO_RECORD, withFederated } from "./record.ts";

const counts = (given: Record<string, number>) => new Map(Object.entries(given));
const view = (
  shares: Record<string, number>,
  ready: Record<string, number>,
  serving: readonly string[],
  isQuorum = true,
) => ({
  record: { ...NO_RECORD, shares: counts(shares) },
  ready: counts(ready),
  serving: new Set(serving),
  isQuorum,
});
const FIVE = { a: 2, b: 2, c: 1 };

describe("the disruption budget", () => {
  it.each([
    ["all up", FIVE, FIVE, ["a", "b", "c"], { up: 5, majority: 3, allowed: 2 }],
    ["a dead cluster", FIVE, FIVE, ["b", "c"], { up: 3, majority: 3, allowed: 0 }],
    ["a pod that is not ready", FIVE, { ...FIVE, b: 1 }, ["a", "b", "c"], { up: 4, allowed: 1 }],
    ["lost", FIVE, FIVE, ["c"], { up: 1, majority: 3, allowed: 0 }],
    ["four", { a: 2, b: 2 }, { a: 2, b: 2 }, ["a", "b"], { majority: 3, allowed: 1 }],
    ["more ready than there should be", { a: 1 }, { a: 9 }, ["a"], { up: 1, allowed: 0 }],
    ["nothing", {}, {}, [], { total: 0, up: 0, majority: 1, allowed: 0 }],
  ] as const)("%s", (_what, shares, ready, serving, expected) => {
    expect(disruptionBudget(view(shares, ready, serving))).toMatchObject(expected);
  });

  it.each([
    ["a minority", FIVE, FIVE, ["a", "b", "c"], "a", true, undefined],
    [
      "a majority",
      { a: 3, b: 2 },
      { a: 3, b: 2 },
      ["a", "b"],
      "a",
      true,
      "5 of its 5 pods are up, 3 of them in a, and 3 must stay up",
    ],
    [
      "what another disruption left",
      FIVE,
      FIVE,
      ["b", "c"],
      "c",
      true,
      "3 of its 5 pods are up, 1 of them in c, and 3 must stay up",
    ],
    ["a cluster that is down already", FIVE, FIVE, ["b", "c"], "a", true, undefined],
    ["no quorum", { a: 3, b: 2 }, { a: 3, b: 2 }, ["a", "b"], "a", false, undefined],
  ] as const)("taking down %s", (_what, shares, ready, serving, cluster, isQuorum, expected) => {
    const refusal = refuseTakingDown(view(shares, ready, serving, isQuorum), "store", cluster);
    if (expected === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(expected);
  });

  it("what a person or a failure empties is not up", () => {
    const cluster = (name: string, status: "True" | "False", taints: string[] = []): Cluster =>
      makeCluster(name, {
        spec: { taints: taints.map((effect) => ({ key: "k", effect })) as never },
        status: {
          conditions: [{ type: "Ready", status, reason: "r", message: "", lastTransitionTime: "" }],
        },
      });
    const clusters = new Map([
      ["a", cluster("a", "True", ["NoExecute"])],
      ["b", cluster("b", "True", ["NoSchedule"])],
      ["c", cluster("c", "False")],
    ]);
    const given = makeBinding({ clusters: FIVE, annotations: { [FEDERATED_QUORUM]: "true" } });
    const record = { ...NO_RECORD, shares: counts(FIVE) };
    const status = {
      aggregatedStatus: Object.entries(FIVE).map(([clusterName, readyReplicas]) => ({
        clusterName,
        status: { readyReplicas },
      })),
    };
    const binding = withFederated({ ...given, status }, record);
    const found = budgetViewOf(binding, (name) => clusters.get(name));
    expect(found && disruptionBudget(found)).toEqual({ total: 5, up: 2, majority: 3, allowed: 0 });
    expect(budgetViewOf(makeBinding(), () => undefined)).toBeUndefined();
  });
});
