/** What the story of traffic tells is what the objects and the requests say. */
import type { Cluster, MultiClusterIngress } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import type { RequestCounts } from "./requests.ts";
import {
  isServedByAll,
  trafficMilestones,
  trafficTable,
  type TrafficView,
} from "./traffic-view.ts";

const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function cluster(name: string, names: "True" | "False", actions: readonly string[]): Cluster {
  const type = "ServiceDomainNameResolutionReady";
  const condition = { type, status: names, reason: "", message: "", lastTransitionTime: "" };
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push" },
    status: { conditions: [condition], remedyActions: actions },
  };
}

function requests(m2: { recent: number; lastSentAt: number }, failed = 0): RequestCounts {
  const byCluster = new Map([
    ["m1", { total: 90, recent: 9, lastSentAt: 5000 }],
    ["m2", { total: 10, ...m2 }],
  ]);
  return { byCluster, answered: 100, failed };
}

function view(changes: {
  readonly names?: "True" | "False";
  readonly actions?: readonly string[];
  readonly blocked?: readonly string[];
  readonly m2?: { recent: number; lastSentAt: number };
}): TrafficView {
  const { names = "True", actions = [], blocked = [] } = changes;
  const ingress: MultiClusterIngress = {
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: { ...metadata, name: "web", namespace: "demo" },
    spec: {},
    status: { trafficBlockClusters: blocked },
  };
  return {
    clusters: [cluster("m1", "True", []), cluster("m2", names, actions)],
    ingress,
    requests: requests(changes.m2 ?? { recent: 4, lastSentAt: 5000 }),
    at: 6000,
  };
}

const BLOCKED = { names: "False", actions: ["TrafficControl"], blocked: ["m2"] } as const;

describe("what is told", () => {
  it.each<[string, TrafficView, boolean, readonly string[]]>([
    ["nothing before the report", view({}), false, []],
    ["the report", view({ names: "False" }), false, ["sick"]],
    ["the Remedy", view({ names: "False", actions: ["TrafficControl"] }), false, ["sick", "acts"]],
    ["the block, while requests still come", view(BLOCKED), false, ["sick", "acts", "blocked"]],
    [
      "that requests have left",
      view({ ...BLOCKED, m2: { recent: 0, lastSentAt: 4041 } }),
      false,
      ["sick", "acts", "blocked", "left"],
    ],
    ["nothing while it is still sick", view(BLOCKED), true, []],
    [
      "the recovery, before requests come",
      view({ m2: { recent: 0, lastSentAt: 3999 } }),
      true,
      ["well", "rests", "open"],
    ],
    ["that it answers again", view({}), true, ["well", "rests", "open", "back"]],
  ])("%s", (_name, seen, isOver, expected) => {
    const told = trafficMilestones(seen, { cluster: "m2", since: 4000, isOver });
    expect(told.map(({ id }) => id)).toEqual(expected);
  });

  it("when the last request came, since the report", () => {
    const seen = view({ ...BLOCKED, m2: { recent: 0, lastSentAt: 4041 } });
    const told = trafficMilestones(seen, { cluster: "m2", since: 4000, isOver: false });
    expect(told.at(-1)?.text).toBe("m2 gets no request; the last one came 41 ms after the report");
  });
});

it("the table shows every cluster and what failed", () => {
  const seen = { ...view(BLOCKED), requests: requests({ recent: 0, lastSentAt: 1 }, 2) };
  expect(trafficTable(seen)).toEqual([
    "CLUSTER  NAMES           TRAFFIC  ANSWERS  LAST SECOND",
    "m1       resolve         serving  90       9",
    "m2       do not resolve  blocked  10       0",
    "102 requests, 2 failed",
  ]);
  expect(isServedByAll(seen)).toBe(false);
  expect(isServedByAll(view({}))).toBe(true);
});
