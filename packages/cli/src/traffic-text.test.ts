import type { Cluster, MultiClusterIngress, Remedy } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { clusterTraffic, remedyLines, trafficLines } from "./traffic-text.ts";

const now = instantOf(Date.UTC(2026, 0, 1, 0, 5));
const since = "2026-01-01T00:00:00Z";

function cluster(name: string, ...sources: readonly object[]): Cluster {
  const held = sources.every((one) => "held" in one);
  const annotations = { "lifeboat.dev/remedy-sources": JSON.stringify(sources) };
  return {
    metadata: { name, ...(sources.length > 0 && { annotations }) },
    status: held ? {} : { remedyActions: ["TrafficControl"] },
  } as unknown as Cluster;
}

const ordered = { action: "TrafficControl", cause: "Order", remedies: ["upgrade"], since };
const sick = { action: "TrafficControl", cause: "Conditions", remedies: ["dns"], since };

function ingress(blocked: readonly string[], all = false): MultiClusterIngress {
  return {
    metadata: { namespace: "shop", name: "front" },
    status: {
      serviceLocations: [
        { name: "web", clusters: ["m1", "m2"] },
        { name: "gone", clusters: [] },
      ],
      trafficBlockClusters: blocked,
      conditions: all
        ? [{ type: "AllBackendsBlocked", status: "True", message: "Traffic goes on to all." }]
        : [],
    },
  } as unknown as MultiClusterIngress;
}

describe("lifeboat traffic", () => {
  it("shows where each ingress is served, what blocks a cluster and since when, and what is missing", () => {
    expect(
      trafficLines([ingress(["m1"])], [cluster("m1", ordered, sick), cluster("m2")], now),
    ).toEqual([
      "INGRESS     CLUSTER  STATE    SINCE  WHY",
      "shop/front  m1       blocked  5m     Remedy upgrade (a person's order); Remedy",
      "                                     dns (by conditions)",
      "shop/front  m2       serving",
      "shop/front  -        missing         Service gone is in no cluster",
    ]);
  });

  it("shows what drains, what no load balancer can reach, and what is not confirmed", () => {
    const published = {
      generation: 1,
      services: {
        web: {
          clusters: {
            m1: { addresses: ["10.0.0.1"], state: "draining" },
            m2: { addresses: [], state: "serving" },
            m3: { addresses: ["10.0.0.3"], state: "serving", unconfirmedSince: since },
          },
        },
      },
    };
    const { metadata } = ingress([]);
    const shown = {
      metadata: {
        ...metadata,
        annotations: { "lifeboat.dev/backends": JSON.stringify(published) },
      },
      status: { serviceLocations: [{ name: "web", clusters: ["m1", "m2", "m3"] }] },
    } as unknown as MultiClusterIngress;
    const lines = trafficLines(
      [shown],
      ["m1", "m2", "m3"].map((name) => cluster(name)),
      now,
    );
    expect(lines).toEqual([
      "INGRESS     CLUSTER  STATE      SINCE  WHY",
      "shop/front  m1       draining          Service web leaves, or has no ready",
      "                                       replica there",
      "shop/front  m2       unreached         Service web has no address there: no load",
      "                                       balancer, no node port, or no ready pod",
      "shop/front  m3       serving    5m     not confirmed since: the cluster is not",
      "                                       Ready",
    ]);
  });

  it("shows why a backend drains, also where a block is held or would be the last (D16)", () => {
    const drains = { addresses: ["10.0.0.1"], state: "draining" };
    const clusters = {
      m1: { addresses: ["10.0.0.1"], state: "serving" },
      m2: { ...drains, cause: "gone" },
      m3: { ...drains, cause: "idle" },
      m4: { ...drains, cause: "leaves", drainingSince: since },
      m5: { addresses: [], state: "serving" },
    };
    const published = { generation: 1, services: { web: { clusters } } };
    const names = Object.keys(clusters);
    const shown = {
      metadata: {
        namespace: "shop",
        name: "front",
        annotations: { "lifeboat.dev/backends": JSON.stringify(published) },
      },
      status: { serviceLocations: [{ name: "web", clusters: names }] },
    } as unknown as MultiClusterIngress;
    const held = { ...sick, held: true };
    const lines = trafficLines(
      [shown],
      [
        cluster("m1", ordered),
        cluster("m2", ordered),
        cluster("m3", held),
        cluster("m4"),
        cluster("m5", held),
      ],
      now,
    );
    expect(lines.join("\n").replaceAll(/\n +/g, " ")).toBe(
      [
        "INGRESS     CLUSTER  STATE      SINCE  WHY",
        "shop/front  m1       serving    5m     Remedy upgrade would block it, and with it the last backend",
        "shop/front  m2       draining   5m     Remedy upgrade would block it, and with it the last backend; Service web is not placed there with a workload",
        "shop/front  m3       draining   5m     held by the brake: Remedy dns; Service web has no ready replica there",
        "shop/front  m4       draining   5m     Service web leaves: its substitute is healthy",
        "shop/front  m5       unreached  5m     held by the brake: Remedy dns; Service web has no address there: no load balancer, no node port, or no ready pod",
      ].join("\n"),
    );
  });

  it("shows why a cluster serves that a Remedy would block", () => {
    const lines = trafficLines(
      [ingress([], true)],
      [cluster("m1", ordered), cluster("m2", { ...sick, held: true })],
      now,
    ).join("\n");
    expect(lines).toMatch(/m1 +serving +5m +Remedy upgrade would block it/);
    expect(lines).toMatch(/m2 +serving +5m +held by the brake: Remedy dns/);
    expect(lines).toContain("shop/front: Traffic goes on to all.");
  });

  it("shows clusters where there is no ingress", () => {
    expect(trafficLines([], [cluster("m1", sick)], now)).toEqual([
      "There is no MultiClusterIngress.",
      "m1 gets no traffic: Remedy dns (by conditions), for 5m",
    ]);
    expect(clusterTraffic([cluster("m1")], now)).toEqual([]);
  });
});

it("lists Remedies with when they act, on which clusters, and what is unknown or held", () => {
  const remedies = [
    {
      metadata: { name: "upgrade" },
      spec: { clusterAffinity: { clusterNames: ["m1"] }, actions: ["TrafficControl", "Dance"] },
    },
    {
      metadata: { name: "dns" },
      spec: {
        decisionMatches: [
          {
            clusterConditionMatch: {
              conditionType: "D",
              operator: "NotEqual",
              conditionStatus: "True",
            },
          },
        ],
        actions: ["TrafficControl"],
      },
    },
  ] as unknown as readonly Remedy[];
  const conditions = [{ type: "D", status: "False" }];
  const m2 = {
    ...cluster("m2", { ...sick, held: true }),
    status: { conditions },
  } as unknown as Cluster;
  const text = remedyLines(remedies, [cluster("m1", ordered), m2]).join("\n");
  expect(text).toMatch(/upgrade +TrafficControl, Dance +m1 +m1 +always/);
  expect(text).toMatch(/dns +TrafficControl +all clusters +m2 \(held\) +D is not/);
  expect(text).toContain("upgrade: no part of the control plane carries out Dance");
  expect(remedyLines([], [])).toEqual(["There is no Remedy."]);
});
