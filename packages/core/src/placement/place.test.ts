import { plainMoment } from "@lifeboat/base";
import type { Placement } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { countedMessage, verdictsOf, whatHelps } from "./explain.ts";
import { findTarget } from "./find-target.ts";
import { EVICTED_FROM } from "../well-known.ts";
import {
  type BindingGiven,
  divided,
  duplicated,
  makeBinding,
  makeCluster,
  NOW,
  placeOn,
  sharesOf,
  viewOf,
} from "./makers.suite.ts";
import { place } from "./place.ts";

const ODD = "00000000-0000-0000-0000-000000000000";
const EVEN = "7d1b0a52-3c1e-4a53-9f0e-2b7a3f6a9d10";
const taint = (
  key: string,
  effect: "NoSchedule" | "NoExecute" | "PreferNoExecute" | "PreferNoSchedule",
  value = "",
) => ({
  key,
  effect,
  ...(value !== "" && { value }),
  timeAdded: "2025-12-31T23:59:00Z",
});
const three = [1, 2, 3].map((i) => makeCluster(`m${i}`, { pods: 100 }));

describe("dividing", () => {
  it.each([
    [3, { m1: 1, m2: 1 }, { m1: 2, m2: 1 }, { m1: 1, m2: 2 }],
    [5, { m1: 1, m2: 1, m3: 1 }, { m1: 2, m2: 2, m3: 1 }, { m1: 1, m2: 2, m3: 2 }],
    [2, { m1: 1, m2: 1, m3: 1 }, { m1: 1, m2: 1 }, { m2: 1, m3: 1 }],
    [7, { m1: 2, m2: 1, m3: 1 }, { m1: 3, m2: 2, m3: 2 }, { m1: 3, m2: 2, m3: 2 }],
    [9, { m1: 1, m2: 2 }, { m1: 3, m2: 6 }, { m1: 3, m2: 6 }],
    [9, { m1: 1, m2: 3 }, { m1: 2, m2: 7 }, { m1: 2, m2: 7 }],
    [10, { m1: 6, m2: 3 }, { m1: 7, m2: 3 }, { m1: 7, m2: 3 }],
    [12, { m1: 3, m2: 2, m3: 1 }, { m1: 6, m2: 4, m3: 2 }, { m1: 6, m2: 4, m3: 2 }],
  ])("gives %i replicas by the weights %j", (replicas, weights, even, odd) => {
    const given = { placement: divided("static", weights), replicas };
    expect(sharesOf(placeOn(three, given))).toEqual(even);
    expect(sharesOf(placeOn(three, { ...given, uid: EVEN }))).toEqual(even);
    expect(sharesOf(placeOn(three, { ...given, uid: ODD }))).toEqual(odd);
  });

  const rooms = (room: Readonly<Record<string, number>>) =>
    Object.entries(room).map(([name, pods]) => makeCluster(name, { pods }));

  it.each([
    [
      "scales up by the room there is",
      "dynamic",
      10,
      { m1: 10, m2: 30 },
      { m1: 4, m2: 2 },
      { m1: 5, m2: 5 },
    ],
    [
      "scales down in proportion",
      "dynamic",
      6,
      { m1: 10, m2: 30 },
      { m1: 5, m2: 5 },
      { m1: 3, m2: 3 },
    ],
    ["fills a gap on what is left", "dynamic", 6, { m1: 9 }, { m1: 3 }, { m1: 6 }],
    [
      "moves nothing when nothing is missing",
      "dynamic",
      6,
      { m1: 9, m2: 90 },
      { m1: 6 },
      { m1: 6 },
    ],
    [
      "first takes the fewest clusters",
      "Aggregated",
      8,
      { m1: 5, m2: 6, m3: 4 },
      {},
      { m1: 4, m2: 4 },
    ],
    ["fills clusters in use first", "Aggregated", 5, { m1: 3, m2: 90 }, { m1: 3 }, { m1: 5 }],
    [
      "takes another cluster when those are full",
      "Aggregated",
      9,
      { m1: 3, m2: 90 },
      { m1: 3 },
      { m1: 3, m2: 6 },
    ],
  ] as const)("%s", (_what, preference, replicas, room, clusters, expected) => {
    const decision = placeOn(rooms(room), { placement: divided(preference), replicas, clusters });
    expect(decision.reason).toBe("Placed");
    expect(sharesOf(decision)).toEqual(expected);
  });

  it("reports how much room there is when it is not enough, and leaves the result alone", () => {
    const decision = placeOn(rooms({ m1: 2, m2: 1 }), {
      placement: divided("dynamic"),
      replicas: 9,
      clusters: { m1: 2 },
    });
    expect(decision).toMatchObject({
      reason: "Unschedulable",
      message: "Clusters available replicas 3 are not enough to schedule.",
      clusters: [{ name: "m1", replicas: 2 }],
    });
  });

  it("scales fixed weights by the difference alone, and divides all replicas again when the policy is edited", () => {
    const placement = divided("static", { m1: 1, m2: 1, m3: 1 });
    const given = { placement, replicas: 7, clusters: { m1: 5, m2: 1 } };
    expect(sharesOf(placeOn(three, given))).toEqual({ m1: 5, m2: 1, m3: 1 });
    expect(sharesOf(placeOn(three, { ...given, applied: divided("static", { m1: 5 }) }))).toEqual({
      m1: 3,
      m2: 2,
      m3: 2,
    });
  });

  it("divides all replicas again when a person asks for it", () => {
    const decision = placeOn(rooms({ m1: 0, m2: 6 }), {
      placement: divided("dynamic"),
      replicas: 6,
      clusters: { m1: 6 },
      spec: { rescheduleTriggeredAt: "2026-01-01T00:00:00Z" },
      status: { lastScheduledTime: "2025-12-31T00:00:00Z" },
    });
    expect(sharesOf(decision)).toEqual({ m1: 3, m2: 3 });
  });

  it("subtracts what was promised and does not show yet", () => {
    const reserved = new Map([["m1", new Map([["pods", 10]])]]);
    const decision = placeOn(
      rooms({ m1: 12, m2: 8 }),
      { placement: divided("dynamic"), replicas: 5 },
      { reserved },
    );
    expect(sharesOf(decision)).toEqual({ m1: 1, m2: 4 });
  });

  it("counts requests, nodes by grade, and what others estimate", () => {
    const cluster = (name: string) =>
      makeCluster(name, {
        spec: {
          resourceModels: [
            { grade: 0, ranges: [{ name: "cpu", min: "0", max: "2" }] },
            { grade: 1, ranges: [{ name: "cpu", min: "2", max: "9223372036854775807" }] },
          ],
        },
        status: {
          apiEnablements: [
            { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
          ],
          resourceSummary: {
            allocatable: { cpu: "9", pods: "100", "gpu.io/one": "50" },
            allocated: { cpu: "1" },
            allocatableModelings: [
              { grade: 0, count: 2 },
              { grade: 1, count: 2 },
            ],
          },
        },
      });
    const given = {
      placement: divided("dynamic"),
      replicas: 99,
      spec: { replicaRequirements: { resourceRequest: { cpu: "1500m", "gpu.io/one": "1" } } },
    };
    // 8 cpu free: one on each of two nodes with 2 or more, and two on nodes that share the other 4.
    expect(placeOn([cluster("m1")], given).message).toContain("replicas 4 are");
    expect(placeOn([cluster("m1")], given, { estimates: new Map([["m1", 3]]) }).message).toContain(
      "replicas 3 are",
    );
  });
});

describe("filters", () => {
  const fleet = [
    makeCluster("a", { labels: { tier: "gold" } }),
    makeCluster("b", { spec: { taints: [taint("k", "NoSchedule", "v")] } }),
    makeCluster("c", { spec: { taints: [taint("p", "PreferNoExecute")] } }),
    makeCluster("d", { status: { apiEnablements: [] } }),
    makeCluster("e", { deleting: true }),
    makeCluster("f", {
      status: {
        ...makeCluster("x").status,
        conditions: [
          {
            type: "StaleCopiesRemoved",
            status: "False",
            reason: "",
            message: "",
            lastTransitionTime: "",
          },
        ],
      },
    }),
    makeCluster("g"),
  ];
  const fitting = (placement: Placement, clusters: Record<string, number> = {}) =>
    placeOn(fleet, { placement: { ...duplicated, ...placement }, clusters }).clusters.map(
      ({ name }) => name,
    );

  it.each([
    ["clusters without fault", {}, ["a", "g"]],
    ["labels", { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } }, ["a"]],
    [
      "names, and never excluded ones",
      { clusterAffinity: { clusterNames: ["a", "g"], exclude: ["a"] } },
      ["g"],
    ],
    [
      "a taint that is tolerated",
      { clusterTolerations: [{ key: "k", operator: "Equal", value: "v" }] },
      ["a", "b", "g"],
    ],
    ["no taint with another value", { clusterTolerations: [{ key: "k", value: "w" }] }, ["a", "g"]],
    [
      "all taints but PreferNoExecute",
      { clusterTolerations: [{ operator: "Exists" }] },
      ["a", "b", "g"],
    ],
  ] as [string, Placement, string[]][])("accept %s", (_what, placement, expected) => {
    expect(fitting(placement)).toEqual(expected);
  });

  it("leave what runs where it is, except on a cluster that is deleted or no longer meant", () => {
    const everywhere = { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 };
    expect(fitting({}, everywhere)).toEqual(["a", "b", "c", "d", "f", "g"]);
    expect(fitting({ clusterAffinity: { exclude: ["b"] } }, everywhere)).not.toContain("b");
  });

  it("let a toleration end with its seconds", () => {
    const cluster = makeCluster("a", { spec: { taints: [taint("k", "NoExecute")] } });
    const tolerating = (tolerationSeconds: number): Placement => ({
      clusterTolerations: [
        { key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds },
      ],
    });
    expect(placeOn([cluster], { placement: tolerating(61) }).reason).toBe("Placed");
    expect(placeOn([cluster], { placement: tolerating(60) }).reason).toBe("NoClusterFit");
  });

  it("never tolerate a drain", () => {
    const cluster = makeCluster("a", {
      spec: { taints: [taint("lifeboat.dev/drain", "NoExecute")] },
    });
    const placement = { clusterTolerations: [{ operator: "Exists" }] };
    expect(placeOn([cluster], { placement }).reason).toBe("NoClusterFit");
  });

  it("keep a workload from where it fell ill, but not from where a cluster failed", () => {
    const gracefulEvictionTasks = [{ fromCluster: "a", reason: "TaintUntolerated", producer: "x" }];
    const on = (given: BindingGiven) => placeOn([makeCluster("a")], given).reason;
    expect(on({ annotations: { [EVICTED_FROM]: '["a"]' } })).toBe("NoClusterFit");
    expect(on({ spec: { gracefulEvictionTasks } })).toBe("Placed");
  });

  it("count their reasons and name what would help", () => {
    const placement = { clusterAffinity: { exclude: ["a", "g"] } };
    const decision = placeOn(fleet, { placement });
    expect(countedMessage(decision.explanation)).toBe(
      "0/7 clusters are available: 1 cluster(s) are being deleted, 1 cluster(s) did not have the API resource, " +
        "1 cluster(s) had untolerated taint {k=v:NoSchedule}, 1 cluster(s) had untolerated taint {p:PreferNoExecute}, " +
        "1 cluster(s) still had stale copies to remove, 2 cluster(s) did not match the placement cluster affinity constraint.",
    );
    expect(decision.message).toContain("It would help to: widen the cluster affinity");
    expect(whatHelps(decision.explanation)[0]).toContain("widen the cluster affinity");
    const verdicts = verdictsOf(viewOf(fleet, makeBinding()).fleet, decision.explanation);
    expect(verdicts[1]).toMatchObject({ cluster: "b", fits: false, filter: "TaintToleration" });
    expect(placeOn([], {}).message).toBe("0/0 clusters are available: no cluster exists.");
  });

  it("give no more replicas to a cluster that only keeps what it has", () => {
    const clusters = [
      makeCluster("a", { pods: 99, spec: { taints: [taint("k", "NoSchedule")] } }),
      makeCluster("b", { pods: 9 }),
    ];
    for (const placement of [divided("dynamic"), divided("Aggregated"), divided("static")]) {
      const given = { placement, clusters: { a: 3 } };
      expect(sharesOf(placeOn(clusters, { ...given, replicas: 5 }))).toEqual({ a: 3, b: 2 });
      expect(sharesOf(placeOn(clusters, { ...given, replicas: 2 }))).toEqual({ a: 2 });
      expect(placeOn(clusters.slice(0, 1), { ...given, replicas: 5 })).toMatchObject({
        reason: "Unschedulable",
        clusters: [{ name: "a", replicas: 3 }],
      });
    }
  });
});

describe("17.8: a divided workload that is scaled to 0", () => {
  const three = ["a", "b", "c"].map((name) => makeCluster(name, { pods: 10 }));
  const request = { replicaRequirements: { resourceRequest: { cpu: "0" } } };

  it.each([
    ["static", divided("static")],
    ["dynamic", divided("dynamic")],
    ["aggregated", divided("Aggregated")],
  ])("stays where it is, with no replicas (%s)", (_style, placement) => {
    const given = { placement, replicas: 0, clusters: { a: 2, b: 1 }, spec: request };
    const decision = placeOn(three, given);
    expect(decision).toMatchObject({ reason: "Placed", clusters: [{ name: "a" }, { name: "b" }] });
    expect(placeOn(three, { ...given, clusters: { a: 0, b: 0 } }).clusters).toEqual(
      decision.clusters,
    );
  });

  it("goes to every cluster that could get a share when it is new", () => {
    const given = { replicas: 0, spec: request };
    expect(sharesOf(placeOn(three, { ...given, placement: divided("dynamic") }))).toEqual({
      a: 0,
      b: 0,
      c: 0,
    });
    const weighted = divided("static", { a: 1, c: 2 });
    expect(sharesOf(placeOn(three, { ...given, placement: weighted }))).toEqual({ a: 0, c: 0 });
  });

  it("is divided as usual when it grows again", () => {
    const given = { placement: divided("static"), replicas: 3, spec: request };
    expect(sharesOf(placeOn(three, { ...given, clusters: { a: 0, b: 0, c: 0 } }))).toEqual({
      a: 1,
      b: 1,
      c: 1,
    });
  });
});

describe("17.13: between clusters with the same room the least loaded is taken", () => {
  const one = (by: "cluster" | "region"): Placement => ({
    spreadConstraints: [{ spreadByField: by, minGroups: 1, maxGroups: 1 }],
  });
  const used = (name: string, pods: number, region = "") =>
    makeCluster(name, {
      spec: { region },
      status: {
        apiEnablements: makeCluster(name).status?.apiEnablements ?? [],
        resourceSummary: { allocatable: { pods: "10" }, allocated: { pods: String(pods) } },
      },
    });
  const reserved = (pods: Readonly<Record<string, number>>) =>
    new Map(Object.entries(pods).map(([name, count]) => [name, new Map([["pods", count]])]));

  it.each([
    ["no cluster has been counted", ["a", "b", "c"].map((name) => makeCluster(name))],
    ["every cluster is full", ["a", "b", "c"].map((name) => used(name, 10))],
  ])("when %s", (_when, clusters) => {
    const taken = new Map<string, number>();
    for (let i = 0; i < 9; i++) {
      const promised = reserved(Object.fromEntries(taken));
      const [target] = placeOn(
        clusters,
        { placement: one("cluster") },
        { reserved: promised },
      ).clusters;
      taken.set(target?.name ?? "", (taken.get(target?.name ?? "") ?? 0) + 1);
    }
    expect(Object.fromEntries(taken)).toEqual({ a: 3, b: 3, c: 3 });
  });

  it("by what runs there already", () => {
    const clusters = [used("a", 12), used("b", 11), used("c", 13)];
    expect(sharesOf(placeOn(clusters, { placement: one("cluster") }))).toHaveProperty("b");
  });

  it("also between regions, where room beyond the need counts for nothing", () => {
    const clusters = [used("a", 5, "r1"), used("b", 2, "r2"), used("c", 3, "r3")];
    expect(sharesOf(placeOn(clusters, { placement: one("region") }))).toHaveProperty("b");
  });

  it("and a node takes as many pods as it allows, not 110", () => {
    const spec = { resourceModels: [{ grade: 0, ranges: [{ name: "cpu", min: "0", max: "4" }] }] };
    const summary = {
      allocatable: { pods: "500", cpu: "4000" },
      allocatableModelings: [{ grade: 0, count: 2 }],
    };
    const cluster = makeCluster("big", {
      spec,
      status: {
        apiEnablements: makeCluster("big").status?.apiEnablements ?? [],
        nodeSummary: { totalNum: 2, readyNum: 2 },
        resourceSummary: summary,
      },
    });
    const request = { replicaRequirements: { resourceRequest: { cpu: "1m" } } };
    const given = { placement: divided("dynamic"), replicas: 400, spec: request };
    expect(placeOn([cluster], given).reason).toBe("Placed");
    expect(placeOn([cluster], { ...given, replicas: 501 }).reason).toBe("Unschedulable");
  });
});

describe("PreferNoSchedule", () => {
  const one: Placement = {
    spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
  };
  const bearing = (name: string, keys: readonly string[], pods = 100) =>
    makeCluster(name, {
      pods,
      spec: { taints: keys.map((key) => taint(key, "PreferNoSchedule")) },
    });
  const many = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

  it.each<[string, ReturnType<typeof makeCluster>[], Partial<BindingGiven>, string]>([
    ["comes after a cluster without it", [bearing("a", ["k"]), makeCluster("b")], {}, "b"],
    ["comes after one with fewer", [bearing("a", ["k", "l"]), bearing("b", ["k"])], {}, "b"],
    ["takes work when there is nothing else", [bearing("a", ["k"])], {}, "a"],
    [
      "comes after a cluster with less room",
      [bearing("a", ["k"], 900), makeCluster("b", { pods: 90 })],
      {},
      "b",
    ],
    [
      "counts for nothing where it is tolerated",
      [bearing("a", ["k"]), makeCluster("b")],
      { placement: { ...one, clusterTolerations: [{ key: "k", operator: "Exists" }] } },
      "a",
    ],
    [
      "moves nothing that is there, however many there are",
      [bearing("a", many), makeCluster("b")],
      { clusters: { a: 1 } },
      "a",
    ],
  ])("%s", (_name, clusters, given, expected) => {
    const decision = placeOn(clusters, { placement: one, ...given });
    expect(decision.reason).toBe("Placed");
    expect(Object.keys(sharesOf(decision))).toEqual([expected]);
  });

  it("leaves out no cluster of a workload that goes to all", () => {
    const decision = placeOn([bearing("a", ["k"]), makeCluster("b")], { placement: duplicated });
    expect(Object.keys(sharesOf(decision))).toEqual(["a", "b"]);
  });
});

describe("no cluster fits", () => {
  const gold: Placement = { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } };

  it("keeps the result on a cluster that the placement still means (D8)", () => {
    const tainted = { labels: { tier: "gold" }, spec: { taints: [taint("k", "NoSchedule")] } };
    const clusters = [makeCluster("a", tainted), makeCluster("b")];
    const decision = placeOn(clusters, { placement: gold, clusters: { a: 1 } });
    expect(decision.reason).toBe("Placed");
    expect(sharesOf(decision)).toEqual({ a: 1 });
  });

  it("17.11: leaves a cluster that a person excluded by its labels or by an edit of the policy (D8)", () => {
    const clusters = [makeCluster("a"), makeCluster("b")];
    const given = { placement: gold, clusters: { a: 1 } };
    for (const binding of [given, { ...given, applied: {} }]) {
      const decision = placeOn(clusters, binding);
      expect(decision.reason).toBe("NoClusterFit");
      expect(sharesOf(decision)).toEqual({});
    }
  });

  it("leaves clusters that are being deleted, and those that are gone", () => {
    const labels = { tier: "gold" };
    const lacking = { apiEnablements: [] };
    const clusters = [
      makeCluster("a", { labels, status: lacking }),
      makeCluster("b", { labels, deleting: true }),
    ];
    const given = { placement: gold, clusters: { a: 1, b: 1, gone: 1 } };
    expect(sharesOf(placeOn(clusters, given))).toEqual({ a: 1 });
  });
});

describe("ordered groups of clusters", () => {
  const placement: Placement = {
    ...duplicated,
    clusterAffinities: [
      { affinityName: "first", clusterNames: ["a"] },
      { affinityName: "second", clusterNames: ["b"] },
    ],
  };
  const bad = makeCluster("a", { spec: { taints: [taint("k", "NoSchedule")] } });

  it("are tried in order, from the one in use forwards", () => {
    const good = [makeCluster("a"), makeCluster("b")];
    expect(placeOn(good, { placement })).toMatchObject({
      affinityName: "first",
      clusters: [{ name: "a" }],
    });
    expect(placeOn([bad, makeCluster("b")], { placement })).toMatchObject({
      affinityName: "second",
    });
    const status = { schedulerObservingAffinityName: "second" };
    expect(placeOn(good, { placement, status })).toMatchObject({ affinityName: "second" });
    expect(placeOn([bad], { placement })).toMatchObject({
      affinityName: "",
      reason: "NoClusterFit",
    });
    const gone = { schedulerObservingAffinityName: "third" };
    expect(placeOn(good, { placement, status: gone })).toMatchObject({ affinityName: "first" });
  });

  it("are tried from the first again for what is nowhere", () => {
    const bare = [makeCluster("a"), makeCluster("b", { spec: { taints: bad.spec.taints ?? [] } })];
    const status = { schedulerObservingAffinityName: "second" };
    expect(placeOn(bare, { placement, status })).toMatchObject({
      affinityName: "first",
      clusters: [{ name: "a" }],
    });
    // A group that is in use is not left for one before it.
    expect(placeOn(bare, { placement, status, clusters: { b: 1 } })).toMatchObject({
      affinityName: "second",
      clusters: [{ name: "b" }],
    });
  });

  describe("after an edit of the one in use", () => {
    const tainted = (name: string) =>
      makeCluster(name, { spec: { taints: bad.spec.taints ?? [] } });
    const fleet = [tainted("a"), tainted("b"), makeCluster("c")];
    const edit = (now: Placement, on: string) =>
      placeOn(fleet, {
        placement: now,
        applied: {
          ...duplicated,
          clusterAffinities: [
            { affinityName: "first", clusterNames: ["d"] },
            { affinityName: "second", clusterNames: ["a", "c"] },
          ],
        },
        status: { schedulerObservingAffinityName: "second" },
        clusters: { [on]: 1 },
      });

    it("are tried before it too, rather than nowhere", () => {
      expect(edit(placement, "a")).toMatchObject({
        reason: "Placed",
        affinityName: "first",
        clusters: [{ name: "a" }],
      });
    });

    it("keep what one of them means when none fits, and let go of what none means", () => {
      const wide: Placement = {
        ...placement,
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 2 }],
      };
      expect(edit(wide, "a")).toMatchObject({ reason: "NoClusterFit", clusters: [{ name: "a" }] });
      expect(edit(wide, "c")).toMatchObject({ reason: "NoClusterFit", clusters: [] });
    });
  });

  it("follow a result that a person put into another group", () => {
    const good = [makeCluster("a"), makeCluster("b"), makeCluster("c")];
    const status = { schedulerObservingAffinityName: "second" };
    const put = (...names: string[]) => {
      const clusters = Object.fromEntries(names.map((name) => [name, 1]));
      const { affinityName, clusters: result } = placeOn(good, { placement, status, clusters });
      return `${affinityName}: ${result.map(({ name }) => name).join()}`;
    };
    expect([put("a"), put("b"), put("c"), put("a", "b"), put("a", "c")]).toEqual([
      "first: a",
      "second: b",
      "second: b",
      "second: b",
      "second: b",
    ]);
  });
});

it("a result in a group that has a cluster in common with the one that is named stays in it", () => {
  const placement: Placement = {
    ...divided("static"),
    clusterAffinities: [
      { affinityName: "first", clusterNames: ["a", "b"] },
      { affinityName: "second", clusterNames: ["a", "c"] },
    ],
  };
  const status = { schedulerObservingAffinityName: "first" };
  const clusters = { a: 2, c: 1 };
  const fleet = ["a", "b", "c"].map((name) => makeCluster(name));
  expect(placeOn(fleet, { placement, status, clusters, replicas: 3 })).toMatchObject({
    affinityName: "second",
    clusters: [
      { name: "a", replicas: 2 },
      { name: "c", replicas: 1 },
    ],
  });
});

describe("spreading", () => {
  const by = (
    field: "cluster" | "region" | "zone" | "provider",
    minGroups: number,
    maxGroups = 0,
  ) => ({
    spreadByField: field,
    minGroups,
    maxGroups,
  });
  const regional = (...regions: string[]) =>
    regions.map((region, i) => makeCluster(`m${i + 1}`, { pods: 10, spec: { region } }));

  it("takes at most the maximum of clusters, those in use first, and refuses below the minimum", () => {
    const placement = { ...duplicated, spreadConstraints: [by("cluster", 1, 2)] };
    expect(Object.keys(sharesOf(placeOn(three, { placement })))).toEqual(["m1", "m2"]);
    expect(Object.keys(sharesOf(placeOn(three, { placement, clusters: { m3: 1 } })))).toEqual([
      "m1",
      "m3",
    ]);
    const wide = { ...duplicated, spreadConstraints: [by("cluster", 4)] };
    expect(placeOn(three, { placement: wide, clusters: { m1: 1 } })).toMatchObject({
      reason: "ConstraintsUnmet",
      message: "the number of feasible clusters is less than spreadConstraint.MinGroups",
      clusters: [{ name: "m1", replicas: 1 }],
    });
  });

  it("lets go of a cluster that is gone although the others are too few", () => {
    const placement = { ...duplicated, spreadConstraints: [by("cluster", 4)] };
    const decision = placeOn(three, { placement, clusters: { m1: 1, gone: 1 } });
    expect(decision.reason).toBe("ConstraintsUnmet");
    expect(sharesOf(decision)).toEqual({ m1: 1 });
  });

  it("takes a maximum of 0 for no maximum", () => {
    const placement = { ...duplicated, spreadConstraints: [by("cluster", 1, 0)] };
    expect(placeOn(three, { placement }).clusters).toHaveLength(3);
  });

  it("exchanges clusters without room, but none that holds replicas", () => {
    const clusters = [
      makeCluster("a", { pods: 5 }),
      makeCluster("b", { pods: 4 }),
      makeCluster("c", { pods: 50 }),
    ];
    const placement = { ...divided("dynamic"), spreadConstraints: [by("cluster", 1, 1)] };
    expect(sharesOf(placeOn(clusters, { placement, replicas: 20 }))).toEqual({ c: 20 });
    expect(placeOn(clusters, { placement, replicas: 20, clusters: { a: 4 } })).toMatchObject({
      reason: "ConstraintsUnmet",
      message: "no enough resource when selecting 1 clusters",
      clusters: [{ name: "a", replicas: 4 }],
    });
  });

  it("spreads over regions, even beyond the maximum of clusters", () => {
    const placement = {
      ...duplicated,
      spreadConstraints: [by("region", 2, 2), by("cluster", 1, 1)],
    };
    expect(Object.keys(sharesOf(placeOn(regional("r1", "r2", "r2"), { placement })))).toEqual([
      "m1",
      "m2",
    ]);
    expect(placeOn(regional("r1", "r1"), { placement }).reason).toBe("ConstraintsUnmet");
    expect(placeOn([...regional("r1"), makeCluster("z")], { placement }).message).toContain(
      "region",
    );
  });

  it("prefers the region with more room, and stays in the one it is in", () => {
    const placement = {
      ...duplicated,
      spreadConstraints: [by("region", 1, 1), by("cluster", 1, 2)],
    };
    const clusters = regional("r1", "r2", "r2");
    expect(Object.keys(sharesOf(placeOn(clusters, { placement })))).toEqual(["m2", "m3"]);
    expect(Object.keys(sharesOf(placeOn(clusters, { placement, clusters: { m1: 1 } })))).toEqual([
      "m1",
    ]);
  });

  it("takes as many regions as the minimum of clusters needs", () => {
    const placement = {
      ...duplicated,
      spreadConstraints: [by("region", 1, 3), by("cluster", 3, 3)],
    };
    expect(placeOn(regional("r1", "r1", "r2"), { placement }).clusters).toHaveLength(3);
    expect(placeOn(regional("r1", "r2"), { placement }).message).toContain(
      "cluster spreadConstraint.MinGroups",
    );
  });

  it("checks zones and providers, alone and beside regions", () => {
    const inZone = (name: string, region: string, ...zones: string[]) =>
      makeCluster(name, { spec: { region, zones, provider: "p" } });
    const clusters = [inZone("a", "r", "z1"), inZone("b", "r", "z1"), inZone("c", "r", "z2")];
    const zones = { ...duplicated, spreadConstraints: [by("zone", 2, 2), by("cluster", 2, 2)] };
    expect(Object.keys(sharesOf(placeOn(clusters, { placement: zones })))).toEqual(["a", "c"]);
    const providers = {
      ...duplicated,
      spreadConstraints: [by("region", 1), by("provider", 2), by("cluster", 1)],
    };
    expect(placeOn(clusters, { placement: providers })).toMatchObject({
      reason: "ConstraintsUnmet",
    });
  });

  it("copes with many groups", () => {
    const clusters = Array.from({ length: 60 }, (_, i) =>
      makeCluster(`m${i}`, { pods: 1, spec: { region: `r${i % 30}` } }),
    );
    const placement = {
      ...duplicated,
      spreadConstraints: [by("region", 15, 20), by("cluster", 40, 40)],
    };
    expect(placeOn(clusters, { placement }).clusters).toHaveLength(40);
    const narrow = { ...duplicated, spreadConstraints: [by("region", 15, 15), by("cluster", 40)] };
    expect(placeOn(clusters, { placement: narrow }).reason).toBe("ConstraintsUnmet");
  });

  it("ignores constraints with fixed weights, as their rules set what each cluster gets", () => {
    const placement = { ...divided("static"), spreadConstraints: [by("cluster", 9, 9)] };
    expect(sharesOf(placeOn(three, { placement, replicas: 3 }))).toEqual({ m1: 1, m2: 1, m3: 1 });
  });
});

describe("waiting for a purge", () => {
  it.each([
    [4, { m1: 2, m2: 2 }],
    [3, { m1: 2, m2: 1 }],
    [5, { m1: 2, m2: 2 }],
  ])("keeps of what is there as many as are asked for: %i", (replicas, expected) => {
    for (const preference of ["static", "dynamic", "Aggregated"] as const) {
      const clusters = { m1: 2, m2: 2 };
      const given = { placement: divided(preference), replicas, clusters };
      const decision = placeOn(three, given, { waitForPurge: 2 });
      expect(decision.reason).toBe("AwaitingPurge");
      expect(sharesOf(decision)).toEqual(expected);
    }
  });

  it("places everything but what still has to go (D10)", () => {
    const given = { placement: divided("dynamic"), replicas: 8, clusters: { m1: 2 } };
    const decision = placeOn(three, given, { waitForPurge: 4 });
    expect(decision.reason).toBe("AwaitingPurge");
    expect(decision.clusters.reduce((all, { replicas = 0 }) => all + replicas, 0)).toBe(4);
    expect(
      sharesOf(
        placeOn(
          three,
          { placement: duplicated, replicas: 3, clusters: { m1: 2 } },
          { waitForPurge: 2 },
        ),
      ),
    ).toEqual({ m1: 3 });
    expect(placeOn(three, { placement: duplicated }, { waitForPurge: 1 })).toMatchObject({
      reason: "AwaitingPurge",
      clusters: [],
    });
  });
});

describe("findTarget", () => {
  const check = (
    given: Parameters<typeof makeBinding>[0],
    faulty: readonly string[],
    clusters = three,
  ) => findTarget(viewOf(clusters, makeBinding(given)), new Set(faulty), plainMoment(NOW));
  const minGroups = (n: number) => ({
    ...duplicated,
    spreadConstraints: [{ spreadByField: "cluster" as const, minGroups: n }],
  });

  it("asks for a new cluster for what has no replicas, whatever its policy divides", () => {
    const clusters = { m1: 0, m2: 0, m3: 0 };
    const binding = makeBinding({ placement: divided("dynamic"), replicas: 0, clusters });
    const { replicaRequirements: _none, ...spec } = binding.spec;
    const target = findTarget(
      viewOf(three, { ...binding, spec }),
      new Set(["m1"]),
      plainMoment(NOW),
    );
    expect(target.found).toBe(false);
  });

  it("names what is missing, and what would help", () => {
    const bad = makeCluster("m4", { spec: { taints: [taint("k", "NoSchedule")] } });
    const everywhere = { m1: 1, m2: 1, m3: 1 };
    const on = (placement: Placement, clusters = [...three, bad]) =>
      check({ placement, clusters: everywhere }, ["m1"], clusters);
    expect(on(duplicated)).toEqual({
      found: false,
      message:
        "a copy needs a cluster without one, of which 0 fit: 2/3 clusters are available: 1 cluster(s) had untolerated taint " +
        "{k:NoSchedule}. It would help to: remove the taint {k:NoSchedule} from the cluster, or tolerate it in the policy.",
    });
    expect(on(duplicated, three)).toMatchObject({
      message: "a copy needs a cluster without one, of which 0 fit: 2/2 clusters are available.",
    });
    const { message } = on(minGroups(3), three) as { message: string };
    expect(message).toContain("MinGroups");
  });

  it.each([
    [
      "Duplicated with a new cluster for the faulty one",
      { placement: duplicated, clusters: { m1: 1 } },
      ["m1"],
      true,
    ],
    [
      "Duplicated on all clusters",
      { placement: duplicated, clusters: { m1: 1, m2: 1, m3: 1 } },
      ["m1"],
      false,
    ],
    [
      "Duplicated with fewer new clusters than faulty ones",
      { placement: duplicated, clusters: { m1: 1, m2: 1 } },
      ["m1", "m2"],
      false,
    ],
    [
      "Duplicated with its minimum left",
      { placement: minGroups(2), clusters: { m1: 1, m2: 1, m3: 1 } },
      ["m1"],
      true,
    ],
    [
      "Duplicated below its minimum",
      { placement: minGroups(3), clusters: { m1: 1, m2: 1, m3: 1 } },
      ["m1"],
      false,
    ],
    [
      "Divided with room elsewhere",
      { placement: divided("dynamic"), replicas: 9, clusters: { m1: 9 } },
      ["m1"],
      true,
    ],
    [
      "Divided without room",
      { placement: divided("dynamic"), replicas: 900, clusters: { m1: 900 } },
      ["m1"],
      false,
    ],
    [
      "Divided on the faulty cluster alone",
      {
        placement: divided("static", {}, { clusterAffinity: { clusterNames: ["m1"] } }),
        replicas: 9,
        clusters: { m1: 9 },
      },
      ["m1"],
      false,
    ],
  ])("answers for %s", (_what, given, faulty, found) => {
    const answer = check(given, faulty);
    expect(answer.found).toBe(found);
    if (!answer.found) expect(answer.message).not.toBe("");
  });
});

it("never throws on what makes no sense", () => {
  const nonsense = [null, 7, "x", [], {}, [null], [{}], { a: [] }];
  for (const value of nonsense)
    for (const field of [
      "clusterAffinity",
      "clusterAffinities",
      "clusterTolerations",
      "spreadConstraints",
      "replicaScheduling",
    ]) {
      const binding = makeBinding({ placement: { [field]: value }, replicas: -3 });
      const view = viewOf([makeCluster("a")], binding);
      expect(place(view, plainMoment(NOW)).clusters.length).toBeLessThanOrEqual(1);
    }
  const taints = Array.from({ length: 10_000 }, (_, i) => taint(`k${i}`, "NoSchedule"));
  const hostile = Array.from({ length: 50 }, (_, i) =>
    makeCluster(`m${i}`, { spec: { taints: taints.slice(i) } }),
  );
  expect(placeOn(hostile, {}).message.length).toBeLessThan(3000);
  const contradictory = {
    ...duplicated,
    spreadConstraints: [{ spreadByField: "cluster" as const, minGroups: 5, maxGroups: 2 }],
  };
  const ten = Array.from({ length: 10 }, (_, i) => makeCluster(`m${i}`));
  expect(placeOn(ten, { placement: contradictory }).reason).toBe("ConstraintsUnmet");
});
