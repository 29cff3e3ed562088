import type { Cluster, MultiClusterIngress } from "@lifeboat/api";
import { formatTime, instantOf } from "@lifeboat/base";
import { describe, expect, it, test } from "vitest";
import { type BackendView, backendServices, decideIngress } from "./index.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const LATER = instantOf(NOW + 60_000);

const cluster = (name: string, blocked = false): Cluster =>
  ({
    metadata: { name },
    status: blocked ? { remedyActions: ["Other", "TrafficControl"] } : {},
  }) as never;
const backend = (name: string, items: Record<string, boolean>, more: object = {}): BackendView => ({
  name,
  binding: {
    status: {
      aggregatedStatus: Object.entries(items).map(([clusterName, applied]) => ({
        clusterName,
        applied,
      })),
    },
  },
  ...more,
});
const to = (name: string) => ({ service: { name, port: { number: 80 } } });
const ingress = (status?: object): MultiClusterIngress =>
  ({ spec: { defaultBackend: to("web") }, ...(status && { status }) }) as never;

const blockedOf = (
  backends: readonly BackendView[],
  clusters: readonly Cluster[],
  ready?: ReadonlySet<string>,
) => {
  const { status } = decideIngress({ ingress: ingress(), backends, clusters, ready }, NOW);
  const condition = status?.conditions?.find(({ type }) => type === "AllBackendsBlocked");
  return { blocked: status?.trafficBlockClusters ?? [], all: condition?.status };
};

describe("the backends of an ingress", () => {
  it("are the Services of the rules and the default, once each, sorted", () => {
    const spec = {
      defaultBackend: to("z"),
      rules: [
        {
          http: {
            paths: [
              { pathType: "Prefix", backend: to("b") },
              { pathType: "Prefix", backend: to("a") },
            ],
          },
        },
        { host: "x", http: { paths: [{ pathType: "Prefix", backend: to("b") }] } },
        { host: "y" },
        {
          http: {
            paths: [{ pathType: "Prefix", backend: { resource: { kind: "Bucket", name: "c" } } }],
          },
        },
      ],
    };
    expect(backendServices({ spec })).toEqual(["a", "b", "z"]);
  });

  test.each([
    [
      "where they are applied, sorted",
      [backend("web", { m2: true, m1: true, m3: false })],
      undefined,
      ["m1", "m2"],
    ],
    ["nowhere, without a binding", [{ name: "web" }], undefined, []],
    [
      "kept, while a copy is reported that is not applied now",
      [backend("web", { m1: false })],
      ["m1"],
      ["m1"],
    ],
    ["gone with the report", [backend("web", {})], ["m1"], []],
    [
      "not in a cluster that does not exist",
      [backend("web", { gone: true, m1: true })],
      ["gone"],
      ["m1"],
    ],
    [
      "only where a MultiClusterService provides them",
      [
        backend(
          "web",
          { m1: true, m2: true },
          { exposure: { spec: { types: [], providerClusters: [{ name: "m2" }] } } },
        ),
      ],
      undefined,
      ["m2"],
    ],
  ] as const)("are %s", (_, backends, before, clusters) => {
    const status = before && { serviceLocations: [{ name: "web", clusters: before }] };
    const view = {
      ingress: ingress(status),
      backends: backends as readonly BackendView[],
      clusters: ["m1", "m2", "m3"].map((name) => cluster(name)),
    };
    expect(decideIngress(view, NOW).status?.serviceLocations).toEqual([{ name: "web", clusters }]);
  });
});

describe("blocked clusters", () => {
  const web = backend("web", { m1: true, m2: true });
  test.each([
    ["none", [cluster("m1"), cluster("m2")], [], "False"],
    ["one of two", [cluster("m1", true), cluster("m2")], ["m1"], "False"],
    ["one that has no backend", [cluster("m1"), cluster("m2"), cluster("m3", true)], [], "False"],
    [
      "all that have a backend: none (D16)",
      [cluster("m1", true), cluster("m2", true), cluster("m3")],
      [],
      "True",
    ],
  ] as const)("%s", (_, clusters, blocked, all) => {
    expect(blockedOf([web], clusters)).toEqual({ blocked, all });
  });

  describe("where the clusters that are not blocked are not Ready", () => {
    const away = (name: string, ms: number, blocked = false, status = "Unknown"): Cluster => {
      const ready = { type: "Ready", status, reason: "", message: "" };
      const lastTransitionTime = formatTime(instantOf(NOW - ms));
      const { remedyActions } = cluster(name, blocked).status ?? {};
      const conditions = [{ ...ready, lastTransitionTime }];
      return { metadata: { name }, status: { conditions, remedyActions } } as never;
    };
    test.each([
      ["for a moment", [cluster("m1", true), away("m2", 59_000)], ["m1"], "False"],
      ["for a minute", [cluster("m1", true), away("m2", 60_000)], [], "True"],
      [
        "for a minute, by their own report",
        [cluster("m1", true), away("m2", 60_000, false, "False")],
        [],
        "True",
      ],
      [
        "for a long time, but Ready now",
        [cluster("m1", true), away("m2", 60_000, false, "True")],
        ["m1"],
        "False",
      ],
      [
        "and a cluster without a backend is Ready",
        [cluster("m1", true), away("m2", 60_000), cluster("m3")],
        [],
        "True",
      ],
      ["nor is any other", [away("m1", 90_000, true), away("m2", 90_000)], ["m1"], "False"],
      [
        "and the blocked one is the one that is away",
        [away("m1", 90_000, true), cluster("m2")],
        ["m1"],
        "False",
      ],
    ] as const)("%s", (_, clusters, blocked, all) => {
      expect(blockedOf([web], clusters)).toEqual({ blocked, all });
    });

    it("it is reported, and decided again when the minute is over", () => {
      const view = {
        ingress: ingress(),
        backends: [web],
        clusters: [cluster("m1", true), away("m2", 40_000)],
      };
      const first = decideIngress(view, NOW);
      expect(first.checkAt).toBe(NOW + 20_000);
      const then = decideIngress(
        { ...view, ingress: ingress(first.status) },
        instantOf(NOW + 20_000),
      );
      expect(then.status).not.toHaveProperty("trafficBlockClusters");
      expect(then.events.map(({ reason }) => reason)).toEqual([
        "TrafficFlows",
        "OthersNotConfirmed",
      ]);
      expect(then.checkAt).toBeUndefined();
      const without = { ...view, clusters: [cluster("m1"), away("m2", 40_000)] };
      expect(decideIngress(without, NOW).checkAt).toBeUndefined();
    });
  });

  describe("where some clusters have a Service and no ready replica (D16)", () => {
    const three = backend("web", { m1: true, m2: true, m3: true });
    const dead = (name: string): Cluster =>
      ({
        metadata: { name },
        status: {
          conditions: [
            {
              type: "Ready",
              status: "Unknown",
              lastTransitionTime: formatTime(instantOf(NOW - 90_000)),
            },
          ],
        },
      }) as never;
    const m1 = cluster("m1", true);
    test.each([
      ["the blocked one alone is ready", [m1, cluster("m2"), cluster("m3")], ["m1"], [], "True"],
      ["another is ready", [m1, cluster("m2"), cluster("m3")], ["m1", "m3"], ["m1"], "False"],
      [
        "another is ready, and its cluster dead",
        [m1, cluster("m2"), dead("m3")],
        ["m1", "m3"],
        [],
        "True",
      ],
      ["the blocked one is not ready", [m1, cluster("m2"), cluster("m3")], ["m2"], ["m1"], "False"],
      ["none of the ingress is ready", [m1, cluster("m2"), cluster("m3")], ["m9"], ["m1"], "False"],
    ] as const)("%s", (_, clusters, ready, blocked, all) => {
      expect(blockedOf([three], clusters, new Set(ready))).toEqual({ blocked, all });
    });

    it("the reason is shown", () => {
      const reasonOf = (clusters: readonly Cluster[], ready: readonly string[]) =>
        decideIngress(
          { ingress: ingress(), backends: [three], clusters, ready: new Set(ready) },
          NOW,
        ).events.map(({ reason }) => reason);
      expect(reasonOf([m1, cluster("m2"), cluster("m3")], ["m1"])).toEqual(["OthersNotServing"]);
      expect(reasonOf([m1, cluster("m2"), dead("m3")], ["m1", "m3"])).toEqual([
        "OthersNotConfirmed",
      ]);
    });
  });

  it("are none where no backend is anywhere", () => {
    expect(blockedOf([backend("web", {})], [cluster("m1", true)])).toEqual({
      blocked: [],
      all: "False",
    });
  });
});

it("keeps what a provider writes, writes nothing at rest, and reports a backend that is gone", () => {
  const loadBalancer = { ingress: [{ ip: "10.0.0.1" }] };
  const view = {
    ingress: ingress({ loadBalancer }),
    backends: [backend("web", { m1: true, m2: true })],
    clusters: [cluster("m1", true), cluster("m2")],
  };
  const first = decideIngress(view, NOW);
  expect(first.status).toMatchObject({ loadBalancer, trafficBlockClusters: ["m1"] });
  expect(first.events).toMatchObject([{ message: "Traffic is taken away from m1." }]);
  const after = { ...view, ingress: ingress(first.status) };
  expect(decideIngress(after, LATER)).toEqual({ events: [] });
  const recovered = decideIngress({ ...after, clusters: [cluster("m1"), cluster("m2")] }, LATER);
  expect(recovered.status).not.toHaveProperty("trafficBlockClusters");
  expect(recovered.events).toMatchObject([{ message: "Traffic may go to m1 again." }]);
  const gone = decideIngress({ ...after, backends: [backend("web", {})] }, LATER);
  expect(gone.status?.conditions).toMatchObject([
    { type: "AllBackendsBlocked", status: "False" },
    {
      type: "BackendsLocated",
      status: "False",
      message: "A backend is in no cluster. In no cluster: web.",
    },
  ]);
});
