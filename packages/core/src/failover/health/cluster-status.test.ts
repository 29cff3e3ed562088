/** What a Cluster's status reports, and what of it can wait. */
import type { Cluster } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { decideClusterStatus } from "./cluster-status.ts";
import { decideEnablements } from "./enablements.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const ready = {
  type: "Ready",
  status: "True",
  reason: "ClusterReady",
  message: "fine",
} as const;
const foreign = {
  type: "ServiceDomainNameResolutionReady",
  status: "False",
  reason: "",
  message: "",
  lastTransitionTime: "2025-01-01T00:00:00Z",
} as const;
const current: Cluster["status"] = {
  kubernetesVersion: "v1.36.4",
  nodeSummary: { totalNum: 1, readyNum: 1 },
  remedyActions: ["TrafficControl"],
  conditions: [foreign, { ...ready, lastTransitionTime: "2025-01-01T00:00:00Z" }],
};

describe("the status of a cluster", () => {
  it("is as it is when nothing new is known", () => {
    expect(decideClusterStatus(current, { conditions: [ready] }, NOW)).toEqual({ routine: true });
    expect(decideClusterStatus(undefined, { conditions: [] }, NOW)).toEqual({ routine: true });
  });

  it("keeps what others report, and what was not observed", () => {
    const down = { ...ready, status: "False", reason: "ClusterNotReachable" } as const;
    const plan = decideClusterStatus(current, { conditions: [down] }, NOW);
    expect(plan.routine).toBe(false);
    expect(plan.status).toEqual({
      ...current,
      conditions: [foreign, { ...down, lastTransitionTime: "2026-01-01T00:00:00Z" }],
    });
  });

  it("can wait when only numbers change, and not when something becomes known", () => {
    const nodeSummary = { totalNum: 2, readyNum: 1 };
    const numbers = decideClusterStatus(current, { conditions: [ready], nodeSummary }, NOW);
    expect(numbers).toMatchObject({ routine: true, status: { nodeSummary } });
    const resourceSummary = { allocatable: { cpu: "1" } };
    const news = decideClusterStatus(current, { conditions: [], resourceSummary }, NOW);
    expect(news).toMatchObject({ routine: false, status: { resourceSummary } });
  });
});

describe("the API of a cluster", () => {
  const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" };
  const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" };
  const deployments = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
  const metrics = {
    groupVersion: "metrics.k8s.io/v1beta1",
    resources: [{ name: "nodes", kind: "NodeMetrics" }],
  };

  it("is sorted on both levels and complete when everything was read", () => {
    const plan = decideEnablements({ resources: [pods, deployments, configMaps], failed: [] }, [
      metrics,
    ]);
    expect(plan.apiEnablements).toEqual([
      { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      {
        groupVersion: "v1",
        resources: [
          { name: "configmaps", kind: "ConfigMap" },
          { name: "pods", kind: "Pod" },
        ],
      },
    ]);
    expect(plan.condition).toMatchObject({ status: "True", reason: "Complete" });
  });

  it("keeps what was known of a group that could not be read", () => {
    const plan = decideEnablements(
      { resources: [pods], failed: ["metrics.k8s.io/v1beta1", "new.io/v1"] },
      [metrics],
    );
    expect(plan.apiEnablements.map(({ groupVersion }) => groupVersion)).toEqual([
      "metrics.k8s.io/v1beta1",
      "v1",
    ]);
    expect(plan.condition).toMatchObject({
      status: "False",
      reason: "Partial",
      message: "could not be read: metrics.k8s.io/v1beta1, new.io/v1",
    });
  });

  it("names only some of many unread groups", () => {
    const failed = Array.from({ length: 500 }, (_, i) => `g${i}.io/v1`);
    const { condition } = decideEnablements({ resources: [pods], failed });
    expect(condition.message).toMatch(/ and 490 more$/);
    expect(condition.message.length).toBeLessThan(200);
  });

  it("is cut off where a member claims to serve more than can be written", () => {
    const resources = Array.from({ length: 100_000 }, (_, i) => ({
      group: "",
      version: "v1",
      plural: `things-of-kind-${i}`,
      kind: `Thing${i}`,
    }));
    const plan = decideEnablements({ resources, failed: [] });
    expect(plan.condition).toMatchObject({ status: "False", reason: "Partial" });
    expect(JSON.stringify(plan.apiEnablements).length).toBeLessThan(1_000_000);
    const one = [{ group: "", version: "v1", plural: "x".repeat(1_000_000), kind: "X" }];
    expect(decideEnablements({ resources: one, failed: [] }).apiEnablements).toEqual([]);
  });

  it("is empty while nothing is known", () => {
    const plan = decideEnablements({ resources: [], failed: [] });
    expect(plan).toMatchObject({ apiEnablements: [], condition: { reason: "Empty" } });
  });
});
