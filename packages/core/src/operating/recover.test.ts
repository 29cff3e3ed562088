import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { makeBinding, makeCluster } from "../placement/makers.suite.ts";
import { FEDERATED_QUORUM, FENCED } from "../well-known.ts";
import { NO_RECORD, readFederated, withFederated } from "../federated/record.ts";
import { decideRecovery } from "./recover.ts";

const FIVE = { a: 1, b: 2, c: 2 };

function binding(ready: Record<string, number> = FIVE, quorum = "true") {
  const given = makeBinding({
    replicas: 5,
    clusters: FIVE,
    annotations: { [FEDERATED_QUORUM]: quorum },
  });
  const resource = { ...given.spec.resource, kind: "StatefulSet", name: "store" };
  const aggregatedStatus = Object.entries(ready).map(([clusterName, readyReplicas]) => ({
    clusterName,
    status: { readyReplicas },
  }));
  const record = { ...NO_RECORD, shares: new Map(Object.entries(FIVE)), replicas: 5 };
  return withFederated(
    { ...given, spec: { ...given.spec, resource }, status: { aggregatedStatus } },
    record,
  );
}

/** `dead`, `off` (dead, and a person declared it), `gone`, else living. */
function fleet(states: Record<string, "dead" | "off" | "gone">) {
  return (name: string): Cluster | undefined => {
    const state = states[name];
    if (state === "gone") return undefined;
    const status = state === undefined ? "True" : "Unknown";
    const cluster = makeCluster(name, {
      status: {
        conditions: [{ type: "Ready", status, reason: "r", message: "", lastTransitionTime: "" }],
      },
    });
    if (state !== "off") return cluster;
    return { ...cluster, metadata: { ...cluster.metadata, annotations: { [FENCED]: "{}" } } };
  };
}

describe("recovering a quorum", () => {
  it.each([
    ["no quorum", binding(FIVE, "false"), {}, "no federated StatefulSet that forms a quorum"],
    ["another workload", makeBinding(), {}, "no federated StatefulSet that forms a quorum"],
    ["the majority is there", binding(), { c: "off" }, "3 of 5 pods of store are up"],
    [
      "it can come back",
      binding({ a: 1, b: 1, c: 2 }),
      { c: "off" },
      "clusters that answer have 3: get those pods ready",
    ],
    [
      "a lost cluster may still run",
      binding(),
      { b: "off", c: "dead" },
      "c may still run pods that are the majority. Switch it off, then: lifeboat fence c",
    ],
  ] as const)("is refused: %s", (_what, given, states, why) => {
    const plan = decideRecovery(given, fleet(states));
    expect(plan.outcome === "refused" ? plan.message : "").toContain(why);
  });

  it("gives up what is lost, in one write, and shows what remains to be done", () => {
    const plan = decideRecovery(binding(), fleet({ b: "off", c: "gone" }));
    if (plan.outcome === "refused") throw new Error(plan.message);
    expect(plan).toMatchObject({ lost: ["b", "c"], survivors: ["store-a-0"] });
    const text = plan.lines.join("\n");
    expect(text).toContain("1 of 5 pods of store are up, and a majority is 3");
    expect(text).toContain("b (2), c (2) for ever: 4 pods");
    expect(text).toContain("store-a-0");
    const record = readFederated(plan.binding);
    expect(Object.fromEntries(record?.shares ?? [])).toEqual({ a: 1 });
    expect(record?.forgotten).toEqual(new Set(["b", "c"]));
    expect(plan.binding.spec.clusters).toEqual([{ name: "a", replicas: 1 }]);
    expect(plan.binding.spec.replicas).toBe(5);
    expect(decideRecovery(plan.binding, fleet({ b: "off", c: "gone" })).outcome).toBe("refused");
  });

  it("with nothing left the set begins again", () => {
    const plan = decideRecovery(binding(), fleet({ a: "off", b: "off", c: "off" }));
    expect(plan.outcome === "recover" && plan.lines.join("\n")).toContain("No pod is left");
  });
});
