import { describe, expect, it } from "vitest";
import { matchesCluster } from "./cluster-affinity.ts";
import { precision, precisionOf } from "./resource-selector.ts";

describe("matchesCluster", () => {
  const cluster = {
    metadata: { name: "eu-1", labels: { tier: "gold" } },
    spec: { provider: "p1", region: "eu", zones: ["a", "b"] },
  };
  const field = (key: string, operator: string, ...values: string[]) => ({
    fieldSelector: { matchExpressions: [{ key, operator, values }] },
  });

  it.each([
    ["no affinity", undefined, true],
    ["an empty one", {}, true],
    ["its name", { clusterNames: ["us-1", "eu-1"] }, true],
    ["another name", { clusterNames: ["us-1"] }, false],
    ["its name, excluded as well", { clusterNames: ["eu-1"], exclude: ["eu-1"] }, false],
    ["its label", { labelSelector: { matchLabels: { tier: "gold" } } }, true],
    [
      "another label and its name",
      { labelSelector: { matchLabels: { tier: "x" } }, clusterNames: ["eu-1"] },
      false,
    ],
    ["its provider", field("provider", "In", "p1"), true],
    ["another region", field("region", "In", "us"), false],
    ["not another region", field("region", "NotIn", "us"), true],
    ["one of its zones", field("zone", "In", "b", "c"), true],
    ["none of its zones", field("zone", "NotIn", "b", "c"), false],
    ["an unknown field", field("colour", "In", "red"), false],
    ["an unknown operator", field("region", "Exists"), false],
    [
      "nonsense",
      { clusterNames: 7, exclude: "eu-1", labelSelector: [], fieldSelector: null },
      true,
    ],
  ])("answers an affinity for %s", (_what, affinity, expected) => {
    expect(matchesCluster(cluster, affinity)).toBe(expected);
  });

  it("takes a cluster without zones for outside of all zones", () => {
    const bare = { metadata: { name: "x" } };
    expect(matchesCluster(bare, field("zone", "In", "a"))).toBe(false);
    expect(matchesCluster(bare, field("zone", "NotIn", "a"))).toBe(true);
    expect(matchesCluster(bare, field("region", "NotIn", "eu"))).toBe(true);
  });
});

describe("precisionOf", () => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name: "web", labels: { app: "web" } },
  };
  const kind = { apiVersion: "apps/v1", kind: "Deployment" };

  it.each([
    ["nothing", [], precision.none],
    ["all of the kind", [kind], precision.all],
    ["another kind", [{ ...kind, kind: "Pod" }], precision.none],
    ["another version", [{ ...kind, apiVersion: "apps/v2" }], precision.none],
    ["another namespace", [{ ...kind, namespace: "prod" }], precision.none],
    ["its labels", [{ ...kind, labelSelector: { matchLabels: { app: "web" } } }], precision.labels],
    ["an empty selector", [{ ...kind, labelSelector: {} }], precision.labels],
    ["other labels", [{ ...kind, labelSelector: { matchLabels: { app: "x" } } }], precision.none],
    ["its name", [{ ...kind, namespace: "default", name: "web" }], precision.name],
    [
      "its name, and labels that do not count then",
      [{ ...kind, name: "web", labelSelector: { matchLabels: { app: "x" } } }],
      precision.name,
    ],
    [
      "the most precise of several",
      [kind, { ...kind, name: "web" }, { ...kind, name: "other" }],
      precision.name,
    ],
  ])("sees %s", (_what, selectors, expected) => {
    expect(precisionOf(object, selectors)).toBe(expected);
  });
});
