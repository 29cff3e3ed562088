/** What a member reports of the pods behind a Service, and what is read of it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completeReport, MAX_ENDPOINTS, needsOf, readGroups, readSlice } from "./endpoints.ts";

const READY = { ready: true, serving: true, terminating: false };
const LEAVING = { ready: false, serving: true, terminating: true };
const UNREADY = { ready: false, serving: false, terminating: false };
const GONE = { ready: false, serving: false, terminating: true };

const at = (address: string, conditions: object = READY, nodeName = "n1"): object => ({
  addresses: [address],
  conditions,
  nodeName,
});

let number = 0;
const slice = (endpoints: readonly object[], more: object = {}) => {
  number += 1;
  return readSlice({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `web-${number}`,
      namespace: "default",
      uid: String(number),
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "kubernetes.io/service-name": "web" },
    },
    addressType: "IPv4",
    ports: [{ name: "http", protocol: "TCP", port: 8080 }],
    endpoints,
    ...more,
  });
};
const service = (spec: object = {}, target = "Pods") => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", annotations: { "lifeboat.dev/traffic-target": target } },
  spec: { type: "ClusterIP", ports: [{ name: "http", port: 80 }], ...spec },
});
const report = (slices: Parameters<typeof completeReport>[0]["slices"], spec: object = {}) =>
  completeReport({
    manifest: service(spec),
    status: undefined,
    before: undefined,
    ...(slices && { slices }),
  });

describe("the pods of a Service", () => {
  it("are told apart by what they may get", () => {
    const slices = [
      slice([at("10.0.0.3"), at("10.0.0.1")]),
      slice([at("10.0.0.2", LEAVING), at("10.0.0.4", UNREADY), at("10.0.0.5", GONE)]),
    ];
    expect(report(slices)).toEqual({
      endpoints: [
        {
          ports: { "80": 8080 },
          addresses: ["10.0.0.1", "10.0.0.3"],
          draining: ["10.0.0.2"],
          unready: ["10.0.0.4", "10.0.0.5"],
        },
      ],
    });
  });

  it("without conditions are ready, and a pod in two slices counts as the better of both", () => {
    const slices = [slice([{ addresses: ["10.0.0.1"] }]), slice([at("10.0.0.1", UNREADY)])];
    expect(report(slices)).toMatchObject({
      endpoints: [{ ports: { "80": 8080 }, addresses: ["10.0.0.1"] }],
    });
  });

  it("that serve other ports are a group of their own; UDP and ports that no pod has are none", () => {
    const ports = [
      { name: "http", port: 80, targetPort: "web" },
      { name: "admin", port: 81 },
      { name: "dns", port: 53, protocol: "UDP" },
    ];
    const slices = [
      slice([at("10.0.0.1")]),
      slice([at("10.0.0.2")], { ports: [{ name: "http", port: 9090 }] }),
      slice([at("10.0.0.3")], { ports: [{ name: "dns", port: 53, protocol: "UDP" }] }),
      slice([at("10.0.0.4")], { ports: null }),
    ];
    expect(report(slices, { ports })).toEqual({
      endpoints: [
        { ports: { "80": 8080 }, addresses: ["10.0.0.1"] },
        { ports: { "80": 9090 }, addresses: ["10.0.0.2"] },
      ],
    });
  });

  it("with two addresses are reached by IPv4; without one by IPv6", () => {
    const six = slice([at("2001:db8::1")], { addressType: "IPv6" });
    expect(report([six, slice([at("10.0.0.1")])])).toMatchObject({
      endpoints: [{ addresses: ["10.0.0.1"] }],
    });
    expect(report([six, slice([])])).toMatchObject({ endpoints: [{ addresses: ["2001:db8::1"] }] });
  });

  it("are reported up to a bound, those that get requests first", () => {
    const many = Array.from({ length: 60 }, (_, i) => at(`10.0.1.${i}`, UNREADY));
    const some = Array.from({ length: 50 }, (_, i) => at(`10.0.2.${i}`));
    const { endpoints } = report([slice(many), slice(some)]) as {
      endpoints: { addresses: string[]; unready: string[] }[];
    };
    expect(endpoints[0]?.addresses).toHaveLength(50);
    expect(endpoints[0]?.unready).toHaveLength(MAX_ENDPOINTS - 50);
  });

  it.each([
    ["names", at("pod.example.com")],
    ["nothing", {}],
    ["numbers", { addresses: [7] }],
    ["commands", at("10.0.0.1;disable server")],
  ])("are addresses in numbers, not %s", (_what, endpoint) => {
    expect(report([slice([endpoint])])).toEqual({
      endpoints: [{ ports: { "80": 8080 }, addresses: [] }],
    });
  });

  it("stay as they were reported until the slices are known", () => {
    const before = { endpoints: [{ ports: { "80": 8080 }, addresses: ["10.0.0.1"] }] };
    const view = { manifest: service(), status: undefined, before };
    expect(completeReport(view)).toEqual(before);
    expect(completeReport({ ...view, slices: [] })).toEqual({ endpoints: [] });
    expect(completeReport({ ...view, before: undefined })).toBeUndefined();
  });

  it("are not asked for by another word, nor by another kind", () => {
    expect(needsOf(service(), undefined)).toEqual({ slices: true, nodes: false });
    for (const other of [
      service({}, "pods"),
      service({}, ""),
      service({ type: "ExternalName" }),
      { ...service(), kind: "ConfigMap" },
      { ...service(), apiVersion: "serving.knative.dev/v1" },
    ])
      expect(needsOf(other, undefined)).toEqual({ slices: false, nodes: false });
  });

  it("are reported beside the address of the load balancer", () => {
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    const slices = [slice([at("10.0.0.1")])];
    const view = { manifest: service(), status, before: undefined, slices };
    expect(completeReport(view)).toMatchObject({ ...status, endpoints: [{}] });
  });
});

describe("the nodes of a Service with the policy Local", () => {
  const status = { nodePorts: [{ port: 80, nodePort: 30_080 }], nodes: {} };
  const addresses: Readonly<Record<string, string>> = {
    n1: "192.0.2.1",
    n2: "192.0.2.2",
    n3: "192.0.2.3",
  };
  const view = { manifest: service({ type: "NodePort" }, ""), status, before: undefined };
  const addressOf = (node: string): string | undefined => addresses[node];

  it("are those with a ready pod of it; one where all terminate drains", () => {
    const slices = [
      slice([
        at("10.0.0.1", READY, "n1"),
        at("10.0.0.2", LEAVING, "n1"),
        at("10.0.0.3", LEAVING, "n2"),
        at("10.0.0.4", UNREADY, "n3"),
        at("10.0.0.5", READY, "unknown"),
      ]),
    ];
    expect(needsOf(view.manifest, status)).toEqual({ slices: true, nodes: true });
    expect(completeReport({ ...view, slices, addressOf })).toEqual({
      nodePorts: status.nodePorts,
      nodes: { addresses: ["192.0.2.1"], draining: ["192.0.2.2"], unready: ["192.0.2.3"] },
    });
  });

  it("stay as they were reported until slices and nodes are known", () => {
    const before = { nodes: { addresses: ["192.0.2.9"] } };
    const unknown = completeReport({ ...view, before, slices: [] });
    expect(unknown).toMatchObject(before);
    expect(completeReport({ ...view, before, addressOf })).toMatchObject(before);
  });
});

describe("whatever a member gives", () => {
  it("throws nothing, and what is reported is read as it is, within bounds", () => {
    const anything = fc.anything({ maxDepth: 4 });
    fc.assert(
      fc.property(fc.array(anything), anything, anything, (endpoints, ports, conditions) => {
        const some = [...endpoints, { addresses: ["10.0.0.1"], conditions }] as readonly object[];
        const slices = [slice(some, { ports }), slice(some)];
        const { endpoints: groups = [] } = (report(slices) ?? {}) as { endpoints?: unknown[] };
        expect(readGroups(groups)).toEqual(groups);
        const size = (one: unknown): number =>
          Object.values(one as object).reduce(
            (sum: number, list: unknown) => sum + (Array.isArray(list) ? list.length : 0),
            0,
          );
        expect(groups.reduce<number>((sum, one) => sum + size(one), 0)).toBeLessThanOrEqual(
          MAX_ENDPOINTS,
        );
      }),
    );
  });

  it("is read without what is no address and no port", () => {
    fc.assert(fc.property(fc.array(fc.anything()), (values) => void readGroups(values)));
    expect(
      readGroups([
        { ports: { "80": 0, "81": 8081, x: 3 }, addresses: ["10.0.0.1", "a b", 7, "10.0.0.1"] },
        { ports: {}, addresses: ["10.0.0.2"] },
        null,
      ]),
    ).toEqual([{ ports: { "81": 8081 }, addresses: ["10.0.0.1"] }]);
  });
});
