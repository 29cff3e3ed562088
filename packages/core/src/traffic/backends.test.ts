/** What is published of an ingress' backends: every row is a situation of one Service in clusters a and b. */
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { type BackendsView, decideBackends } from "./backends.ts";
import { publishedBackends, type PublishedBackends, readyClusters } from "./published.ts";
import {
  clusterNamed,
  type CopyState,
  copiesOf,
  ingressOf,
  leavingFrom,
  pathTo,
  servedBy,
  viewOf,
} from "./traffic.suite.ts";

const NOW = instantOf(5_000_000);
const A = { ip: "10.0.0.1" };
const B = { ip: "10.0.0.2" };
const service = (
  works: Readonly<Record<string, CopyState>> = { a: A, b: B },
  tasks: Parameters<typeof copiesOf>[3] = [],
) => {
  const placed = Object.keys(works).filter(
    (name) => !tasks.some((one) => one.fromCluster === name),
  );
  return copiesOf("Service", Object.fromEntries(placed.map((name) => [name, 0])), works, tasks);
};
const deployment = (
  result: Readonly<Record<string, number>>,
  works: Readonly<Record<string, CopyState>>,
  tasks: Parameters<typeof copiesOf>[3] = [],
) => copiesOf("Deployment", result, works, tasks);

function named<T extends { readonly metadata: object }>(object: T, name: string): T {
  return { ...object, metadata: { ...object.metadata, name } };
}

function statesOf(view: BackendsView): string {
  return Object.entries(decideBackends(view, NOW).services["web"]?.clusters ?? {})
    .map(([name, { state }]) => `${name} ${state}`)
    .join(", ");
}

describe("a backend", () => {
  const gone = { a: A, b: { ...B, going: true } };
  const graceful = [leavingFrom("b")];
  it.each<[string, BackendsView, string]>([
    ["serves where the Service is", viewOf(service(), []), "a serving, b serving"],
    [
      "serves where the Service and its workload are",
      viewOf(service(), [deployment({ a: 1, b: 1 }, { a: {}, b: {} })]),
      "a serving, b serving",
    ],
    [
      "drains where the Service is and its workload is not",
      viewOf(service(), [deployment({ a: 1 }, { a: {} })]),
      "a serving, b draining",
    ],
    ["drains where the Service is going", viewOf(service(gone), []), "a serving, b draining"],
    [
      "drains where the workload leaves and its substitute is healthy (D27)",
      viewOf(service(), [deployment({ a: 1 }, { a: {}, b: {} }, graceful)]),
      "a serving, b draining",
    ],
    [
      "serves while the substitute is not healthy",
      viewOf(service(), [deployment({ a: 1 }, { a: { healthy: false }, b: {} }, graceful)]),
      "a draining, b serving",
    ],
    [
      "serves while the substitute's cluster does not answer",
      viewOf(service(), [deployment({ a: 1 }, { a: {}, b: {} }, graceful)], {
        clusters: new Map([["a", clusterNamed("a", "False")]]),
      }),
      "a serving, b serving",
    ],
    [
      "drains at once where the workload leaves in mode Directly",
      viewOf(service(), [
        deployment({ a: 1 }, { a: { healthy: false }, b: {} }, [leavingFrom("b", "Directly")]),
      ]),
      "a serving, b draining",
    ],
    [
      "serves where the workload is placed again",
      viewOf(service(), [deployment({ a: 1, b: 1 }, { a: {}, b: {} }, graceful)]),
      "a serving, b serving",
    ],
    [
      "serves where one of two workloads stays",
      viewOf(service(), [
        deployment({ a: 1 }, { a: {}, b: {} }, graceful),
        deployment({ a: 1, b: 1 }, { a: {}, b: {} }),
      ]),
      "a serving, b serving",
    ],
    [
      "drains where the workload has left and its copy is still there",
      viewOf(service(), [deployment({ a: 1 }, { a: {}, b: {} })]),
      "a serving, b draining",
    ],
    [
      "gets no requests without a ready replica",
      viewOf(service(), [deployment({ a: 1, b: 1 }, { a: {}, b: { healthy: false } })]),
      "a serving, b draining",
    ],
    [
      "gets them all the same when no cluster has one",
      viewOf(service(), [
        deployment({ a: 1, b: 1 }, { a: { healthy: false }, b: { healthy: false } }),
      ]),
      "a serving, b serving",
    ],
    [
      "drains where the Service itself leaves",
      viewOf(service({ a: A, b: B }, graceful), []),
      "a serving, b draining",
    ],
    [
      "serves, though it leaves, while no other address is known",
      viewOf(service({ a: {}, b: B }), [deployment({ a: 1 }, { a: {}, b: {} }, graceful)]),
      "a serving, b serving",
    ],
  ])("%s", (_name, view, expected) => {
    expect(statesOf(view)).toBe(expected);
  });

  it.each<[string, BackendsView, string]>([
    [
      "its workload is not there, or has no ready replica",
      viewOf(service({ a: A, b: B, c: { ip: "10.0.0.3" } }), [
        deployment({ a: 1, b: 1 }, { a: {}, b: { healthy: false } }),
      ]),
      "a -, b idle, c gone",
    ],
    [
      "its workload leaves",
      viewOf(service(), [deployment({ a: 1 }, { a: {}, b: {} }, graceful)]),
      "a -, b leaves",
    ],
    [
      "its workload leaves, and has no ready replica",
      viewOf(service(), [deployment({ a: 1 }, { a: {}, b: { healthy: false } }, graceful)]),
      "a -, b idle",
    ],
    [
      "one workload leaves and another is not there",
      viewOf(service(), [
        deployment({ a: 1 }, { a: {}, b: {} }, graceful),
        deployment({ a: 1 }, { a: {} }),
      ]),
      "a -, b leaves",
    ],
    ["the Service is going", viewOf(service(gone), []), "a -, b gone"],
    [
      "nothing else is there: it is none that serves as a last resort",
      viewOf(service({ a: {}, b: B }), [deployment({ a: 1 }, { a: {}, b: {} }, graceful)]),
      "a -, b -",
    ],
    [
      "one that leaves can serve, and another is idle",
      viewOf(service({ a: {}, b: B, c: { ip: "10.0.0.3" } }), [
        deployment({ a: 1, c: 1 }, { a: {}, b: {}, c: { healthy: false } }, graceful),
      ]),
      "a -, b -, c idle",
    ],
  ])("drains for a cause: %s", (_name, view, expected) => {
    const published = decideBackends(view, NOW);
    const clusters = published.services["web"]?.clusters ?? {};
    const causes = Object.entries(clusters).map(([name, { cause }]) => `${name} ${cause ?? "-"}`);
    expect(causes.join(", ")).toBe(expected);
    // What is published is read back as it was written.
    const again = { ...view, ingress: ingressOf([pathTo("web")], { published }) };
    expect(decideBackends(again, instantOf(9_000_000)).generation).toBe(published.generation);
  });

  it("drains since the moment when it began, as long as it does", () => {
    const work = (b: CopyState) => [deployment({ a: 1, b: 1 }, { a: {}, b })];
    const since = (view: BackendsView, now: number, published?: PublishedBackends) => {
      const ingress = ingressOf([pathTo("web")], published && { published });
      const decided = decideBackends({ ...view, ingress }, instantOf(now));
      const clusters = decided.services["web"]?.clusters ?? {};
      return { decided, since: Object.values(clusters).map((one) => one.drainingSince) };
    };
    const idle = viewOf(service(), work({ healthy: false }));
    const first = since(idle, 5_000_000);
    expect(first.since).toEqual([undefined, "1970-01-01T01:23:20Z"]);
    const still = since(idle, 9_000_000, first.decided);
    expect(still.decided).toEqual(first.decided);
    const other = since(viewOf(service(), [deployment({ a: 1 }, { a: {} })]), 9e6, first.decided);
    expect(other.since).toEqual(first.since);
    const well = since(viewOf(service(), work({})), 9_000_000, first.decided);
    expect(well.since).toEqual([undefined, undefined]);
    expect(since(idle, 9_000_000, well.decided).since).toEqual([undefined, "1970-01-01T02:30:00Z"]);
    // Of what a control plane of before published it is not known.
    const before = servedBy({ a: {}, b: { addresses: [B.ip], state: "draining" } });
    expect(since(idle, 9_000_000, before).since).toEqual([undefined, undefined]);
  });

  it("is ready where it has an address and a replica could answer; of before the cause was published, where it drains, too", () => {
    const readyOf = (clusters: Parameters<typeof servedBy>[0]) => {
      const ready = readyClusters(ingressOf([pathTo("web")], { published: servedBy(clusters) }));
      return ready && [...ready].join(" ");
    };
    const drains = { state: "draining" } as const;
    expect(
      readyOf({
        serves: {},
        leaves: { ...drains, cause: "leaves" },
        idle: { ...drains, cause: "idle" },
        gone: { ...drains, cause: "gone" },
        before: drains,
        unreached: { addresses: [] },
      }),
    ).toBe("serves leaves before");
    expect(readyOf({ idle: { ...drains, cause: "idle" } })).toBeUndefined();
    expect(readyClusters(ingressOf([pathTo("web")]))).toBeUndefined();
  });

  it("names the workloads that stay behind it while another leaves", () => {
    const stays = deployment({ a: 1, b: 1 }, { a: {}, b: {} });
    const other = { ...stays, binding: named(stays.binding, "other-deployment") };
    const keptBy = (workloads: BackendsView["workloads"]) =>
      Object.values(
        decideBackends(viewOf(service(), workloads), NOW).services["web"]?.clusters ?? {},
      ).map((one) => one.keptBy);
    expect(keptBy([deployment({ a: 1 }, { a: {}, b: {} }, graceful), other])).toEqual([
      undefined,
      ["other-deployment"],
    ]);
    // Also before the substitute is healthy, and never when all leave or none does.
    const ill = deployment({ a: 1 }, { a: { healthy: false }, b: {} }, graceful);
    expect(keptBy([ill, other])[1]).toEqual(["other-deployment"]);
    expect(keptBy([ill])).toEqual([undefined, undefined]);
    expect(keptBy([stays, other])).toEqual([undefined, undefined]);
  });

  it("has the addresses that the member reported, and only what is one", () => {
    const bad = ["10.0.0.1\n server evil 1.2.3.4", "10.0.0.999", "$(id)", "a b"];
    for (const ip of bad)
      expect(decideBackends(viewOf(service({ a: { ip } }), []), NOW).services["web"]).toMatchObject(
        {
          clusters: { a: { addresses: [] } },
        },
      );
  });

  it("is at nodes of its cluster where the Service has node ports, and only on ports that are some", () => {
    const nodeAddresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3\n server evil"];
    const a = clusterNamed("a");
    const clusters = new Map([["a", { ...a, status: { ...a.status, nodeAddresses } }]]);
    const at = (nodePort: number) =>
      decideBackends(viewOf(service({ a: { nodePort } }), [], { clusters }), NOW).services["web"]
        ?.clusters["a"];
    expect(at(30_080)).toMatchObject({
      addresses: ["192.0.2.1", "192.0.2.2"],
      nodePorts: { "80": 30_080 },
    });
    for (const port of [0, -1, 70_000, 1.5]) expect(at(port)).toMatchObject({ addresses: [] });
    // What is published is read back as it was written: at rest nothing changes.
    const view = viewOf(service({ a: { nodePort: 30_080 } }), [], { clusters });
    const published = decideBackends(view, NOW);
    const again = { ...view, ingress: ingressOf([pathTo("web")], { published }) };
    expect(decideBackends(again, instantOf(9_000_000)).generation).toBe(published.generation);
  });

  it("weighs as many replicas as are placed in its cluster", () => {
    const view = viewOf(service(), [deployment({ a: 3, b: 1 }, { a: {}, b: {} })]);
    expect(decideBackends(view, NOW).services["web"]).toMatchObject({
      ports: [{ name: "http", port: 80 }],
      clusters: { a: { weight: 3 }, b: { weight: 1 } },
      bindings: ["web-deployment", "web-service"],
    });
  });

  it("states since when its cluster has not been Ready", () => {
    const clusters = new Map([["b", clusterNamed("b", "False")]]);
    const view = viewOf(service(), [], { clusters });
    expect(decideBackends(view, NOW).services["web"]?.clusters).toMatchObject({
      b: { unconfirmedSince: "2026-01-01T00:00:00Z", state: "serving" },
    });
  });
});

describe("pods and nodes that a member reports", () => {
  const group = { ports: { "80": 8080 }, addresses: ["10.1.0.1", "10.1.0.2"] };
  const published = (state: CopyState) =>
    decideBackends(viewOf(service({ a: state }), []), NOW).services["web"]?.clusters["a"];

  it("come before the address of the load balancer", () => {
    const draining = ["10.1.0.3"];
    expect(published({ ...A, status: { endpoints: [{ ...group, draining }] } })).toMatchObject({
      addresses: group.addresses,
      endpoints: [{ ...group, draining }],
    });
  });

  it("are none when there are none, whatever else is reported", () => {
    expect(published({ ...A, status: { endpoints: [] } })).toMatchObject({ addresses: [] });
    expect(published({ ...A, status: { endpoints: "none" } })).toMatchObject({
      addresses: [A.ip],
    });
  });

  it("are, with the policy Local, the nodes that answer and no others", () => {
    const nodes = { addresses: ["192.0.2.1"], unready: ["192.0.2.2"] };
    const clusters = new Map([
      ["a", { ...clusterNamed("a"), status: { nodeAddresses: ["192.0.2.9"] } } as never],
    ]);
    const of = (status: object) =>
      decideBackends(viewOf(service({ a: { nodePort: 30_080, status } }), [], { clusters }), NOW)
        .services["web"]?.clusters["a"];
    expect(of({ nodes })).toMatchObject({ ...nodes, nodePorts: { "80": 30_080 } });
    expect(of({ nodes: {} })).toMatchObject({ addresses: [] });
    expect(of({})).toMatchObject({ addresses: ["192.0.2.9"] });
  });

  it("do not let an eviction take the last one that is ready", () => {
    const ready = { status: { endpoints: [group] } };
    const unready = { status: { endpoints: [{ ...group, addresses: [], unready: ["10.1.0.9"] }] } };
    const view = (b: CopyState) =>
      viewOf(service({ a: ready, b }), [
        deployment({ b: 1 }, { a: {}, b: {} }, [leavingFrom("a")]),
      ]);
    expect(statesOf(view(unready))).toBe("a serving, b serving");
    expect(statesOf(view(ready))).toBe("a draining, b serving");
  });
});

describe("the generation", () => {
  const publish = (view: BackendsView): BackendsView => {
    const published = decideBackends(view, NOW);
    return { ...view, ingress: ingressOf([pathTo("web")], { published }) };
  };

  it("stays while nothing changes, and grows with every change", () => {
    const first = publish(viewOf(service(), []));
    const { generation } = publishedBackends(first.ingress);
    expect(decideBackends(first, instantOf(9_000_000)).generation).toBe(generation);
    const less = { ...first, services: new Map([["web", service({ a: A })]]) };
    expect(decideBackends(less, NOW).generation).toBe(generation + 1);
  });

  it("is none of before, also after the annotation was lost or is nonsense", () => {
    const view = viewOf(service(), []);
    const { generation } = decideBackends(view, NOW);
    expect(decideBackends(view, instantOf(NOW + 60_000)).generation).toBeGreaterThan(generation);
    for (const text of ["", "{", "[]", '{"generation":"x"}', '{"services":{"__proto__":1}}']) {
      const { ingress } = view;
      const metadata = { ...ingress.metadata, annotations: { "lifeboat.dev/backends": text } };
      expect(decideBackends({ ...view, ingress: { ...ingress, metadata } }, NOW).generation).toBe(
        generation,
      );
    }
  });
});
