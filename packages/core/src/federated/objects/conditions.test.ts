/** What a binding reports about its federated StatefulSet. */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { makeBinding } from "../../placement/makers.suite.ts";
import { type FederatedRecord, NO_RECORD, withFederated } from "../record.ts";
import { type ConditionsView, federatedConditions } from "./conditions.ts";

const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "" };
const set = (annotations: Record<string, string> = {}): AnyObject => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { ...metadata, name: "store", annotations },
  spec: { serviceName: "etcd" },
});
const LB = { "federation.kubernetes.io/statefulset-lb-needed": "true" };
const service = (name: string, parts: Record<string, unknown>): AnyObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { ...metadata, name },
  ...parts,
});
const addressed = (name: string) =>
  service(name, { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } });
const headless = service("etcd", { spec: { clusterIP: "None" } });
const THREE: FederatedRecord = {
  ...NO_RECORD,
  shares: new Map([
    ["c1", 2],
    ["c2", 1],
  ]),
  clusters: ["c1", "c2"],
  replicas: 3,
};

function bound(record: FederatedRecord, replicas = 3): ResourceBinding {
  const given = makeBinding({ replicas, annotations: { "lifeboat.dev/federated-shares": "{}" } });
  const resource = { ...given.spec.resource, kind: "StatefulSet", name: "store" };
  return withFederated({ ...given, spec: { ...given.spec, resource } }, record);
}

function reported(type: string, view: Partial<ConditionsView> = {}): string {
  const all = federatedConditions({
    binding: bound(THREE),
    set: set(LB),
    headless,
    services: [],
    ...view,
  });
  const found = all.find((one) => one.type === type);
  return found === undefined ? "" : `${found.status} ${found.reason} ${found.message}`;
}

describe("addresses", () => {
  it.each([
    ["all have one", ["store-c1-0", "store-c1-1", "store-c2-0"], "True Addressed"],
    ["a cluster gives none", ["store-c1-0", "store-c1-1"], "False AddressesMissing 1 pods"],
    ["none has one", [], "False AddressesMissing 3 pods have no address yet, in c1, c2."],
  ])("%s", (_what, names, expected) => {
    const services = names.map(addressed);
    expect(reported("PodServicesAddressed", { services })).toContain(expected);
  });

  it("a Service without an address is no address", () => {
    const services = ["store-c1-0", "store-c1-1"].map(addressed);
    const waiting = service("store-c2-0", { status: { loadBalancer: {} } });
    const view = { services: [...services, waiting] };
    expect(reported("PodServicesAddressed", view)).toContain("AddressesMissing 1 pods");
    expect(reported("PodServicesAddressed", view)).toContain("in c2.");
  });

  it("are not expected of ClusterIP, not without a headless Service, and not where none are asked for", () => {
    const type = { ...LB, "federation.kubernetes.io/service-type": "ClusterIP" };
    expect(reported("PodServicesAddressed", { set: set(type) })).toContain("True ClusterIP");
    expect(reported("PodServicesAddressed", { headless: undefined })).toContain("ServiceMissing");
    expect(reported("PodServicesAddressed", { set: set() })).toBe("");
    expect(reported("NamesUnique", { set: set() })).toBe("");
  });
});

describe("names", () => {
  it("that another thing has are reported", () => {
    expect(reported("NamesUnique")).toContain("True Unique");
    const clash = { name: "store.ns", winner: "Service ns/store", loser: "StatefulSet ns/store" };
    expect(reported("NamesUnique", { lostNames: [clash, clash] })).toBe(
      "False NamesTaken The name store.ns of StatefulSet ns/store is that of Service ns/store, which DNS answers for it. So have 1 other names.",
    );
  });

  it.each([
    [headless, "True Found"],
    [undefined, "False ServiceMissing"],
    [service("etcd", { spec: { clusterIP: "10.0.0.1" } }), "False NotHeadless"],
  ])("need a headless Service", (given, expected) => {
    expect(reported("HeadlessServiceFound", { headless: given })).toContain(expected);
  });
});

describe("identities", () => {
  const leaving = { cluster: "c1", ordinal: 1, number: 4, since: instantOf(0) };
  it.each([
    ["complete", THREE, 3, "True Complete"],
    [
      "a replica leaves",
      { ...THREE, leaving, departures: 4 },
      2,
      "store-c1-1 leaves; the annotation lifeboat.dev/let-go: store-c1-1/4 on the StatefulSet confirms it",
    ],
    [
      "a majority is kept",
      { ...THREE, held: { reason: "MajorityKept", living: 3, removed: 2 } },
      1,
      "2 of the 3 living replicas would go; a majority is 2",
    ],
    ["a dead cluster", THREE, 2, "False SurplusWaits"],
    ["a share outside the placement", { ...THREE, clusters: ["c1"] }, 3, "False PlacementHeld"],
  ] as const)("%s", (_what, record, replicas, expected) => {
    const binding = bound(record, replicas);
    expect(reported("IdentitiesAssigned", { binding })).toContain(expected);
  });
});

it("how far an update has come is reported where it is known", () => {
  expect(reported("RolloutComplete")).toBe("");
  const rollout = { reason: "BudgetSpent" as const, message: "3 of 5", held: new Set(["c1"]) };
  expect(reported("RolloutComplete", { rollout })).toBe("False BudgetSpent 3 of 5");
  const over = { reason: "UpToDate" as const, message: "m", held: new Set<string>() };
  expect(reported("RolloutComplete", { rollout: over })).toBe("True UpToDate m");
});
