/** What moves, what stays behind, and what an object looks like on the other side. */
import type { AnyObject, Resource } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { carriedObject, carriedStatus, replaceUids } from "./carried.ts";
import { mayBeThere, takeInventory, whyItStays } from "./inventory.ts";

function resource(apiVersion: string, kind: string, plural = `${kind.toLowerCase()}s`): Resource {
  const [group = "", version = group] = apiVersion.includes("/")
    ? apiVersion.split("/")
    : ["", apiVersion];
  return { group, version, plural, kind, namespaced: true };
}

function object(apiVersion: string, kind: string, metadata: object, rest: object = {}): AnyObject {
  return {
    apiVersion,
    kind,
    metadata: { uid: "u", resourceVersion: "1", creationTimestamp: "t", name: "x", ...metadata },
    ...rest,
  };
}

const CLUSTER = "cluster.karmada.io/v1alpha1";

describe("of a control plane", () => {
  it.each([
    ["v1", "Event", {}],
    ["lifeboat.dev/v1alpha1", "SimulatedMember", {}],
    ["certificates.k8s.io/v1", "CertificateSigningRequest", {}],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", { name: "works.work.karmada.io" }],
    ["v1", "Namespace", { name: "kube-system" }],
    ["v1", "ConfigMap", { namespace: "kube-public" }],
    ["rbac.authorization.k8s.io/v1", "ClusterRole", { name: "system:node" }],
    ["rbac.authorization.k8s.io/v1", "ClusterRole", { name: "view" }],
    ["v1", "Service", { namespace: "default", name: "kubernetes" }],
    ["v1", "ConfigMap", { namespace: "shop", name: "kube-root-ca.crt" }],
    ["coordination.k8s.io/v1", "Lease", { namespace: "lifeboat-system" }],
    ["v1", "ConfigMap", { namespace: "lifeboat-system", name: "settings" }],
    ["v1", "Secret", { namespace: "lifeboat-system" }],
    ["admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {}],
  ])("%s %s %j stays behind", (apiVersion, kind, metadata) => {
    const one = object(apiVersion, kind, metadata);
    expect(whyItStays(resource(apiVersion, kind), one)).toMatch(/./);
  });

  it.each(["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"])(
    "a Secret of type %s stays behind",
    (type) => {
      const one = object("v1", "Secret", { namespace: "shop" }, { type });
      expect(whyItStays(resource("v1", "Secret"), one)).toMatch(/./);
    },
  );

  it.each([
    ["apps/v1", "Deployment", { namespace: "shop" }],
    ["v1", "Secret", { namespace: "karmada-cluster" }],
    ["coordination.k8s.io/v1", "Lease", { namespace: "karmada-cluster" }],
    ["v1", "ConfigMap", { namespace: "lifeboat-system", name: "default-policies" }],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", { name: "widgets.example.com" }],
    ["rbac.authorization.k8s.io/v1", "ClusterRole", { name: "shop-admin" }],
    [CLUSTER, "Cluster", {}],
  ])("%s %s %j moves", (apiVersion, kind, metadata) => {
    expect(
      whyItStays(resource(apiVersion, kind), object(apiVersion, kind, metadata)),
    ).toBeUndefined();
  });

  it("what others name is made first", () => {
    const kinds = [
      "work.karmada.io/v1alpha1 Work",
      `${CLUSTER} Cluster`,
      "apps/v1 Deployment",
      "v1 Namespace",
    ];
    const tables = kinds.map((text) => {
      const [apiVersion = "", kind = ""] = text.split(" ");
      return { resource: resource(apiVersion, kind), objects: [object(apiVersion, kind, {})] };
    });
    expect(takeInventory(tables).moved.map(({ resource: { kind } }) => kind)).toEqual([
      "Namespace",
      "Deployment",
      "Cluster",
      "Work",
    ]);
  });

  it("only what a server or a manager makes by itself may be there", () => {
    const may = (apiVersion: string, kind: string, name: string): unknown =>
      mayBeThere({
        resource: resource(apiVersion, kind),
        object: object(apiVersion, kind, { name }),
      });
    expect(may("v1", "Namespace", "shop")).toBe("kept");
    expect(may("v1", "ServiceAccount", "default")).toBe("kept");
    expect(may("policy.karmada.io/v1alpha1", "ClusterTaintPolicy", "default-not-ready")).toBe(
      "replaced",
    );
    expect(may("policy.karmada.io/v1alpha1", "ClusterTaintPolicy", "mine")).toBeUndefined();
    expect(may(CLUSTER, "Cluster", "m1")).toBeUndefined();
  });
});

describe("an object on the other side", () => {
  const A = "aaaaaaaa-0000-4000-8000-000000000001";
  const B = "bbbbbbbb-0000-4000-8000-000000000002";
  const uids = new Map([[A, B]]);

  it("keeps its life span and finds its owner, without what the server gave it", () => {
    const job = object(
      "batch/v1",
      "Job",
      { namespace: "shop", uid: A, generation: 3, ownerReferences: [{ uid: A }, { uid: "gone" }] },
      {
        spec: { ttlSecondsAfterFinished: 5, selector: { matchLabels: {} } },
        status: { succeeded: 1 },
      },
    );
    const carried = carriedObject({ resource: resource("batch/v1", "Job"), object: job }, uids);
    expect(carried).toEqual({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: {
        name: "x",
        namespace: "shop",
        annotations: { "lifeboat.dev/origin": JSON.stringify({ uid: A, generation: 3 }) },
        ownerReferences: [{ uid: B }],
      },
      spec: { ttlSecondsAfterFinished: 5 },
    });
  });

  it("of a Work keeps its content, whatever it holds", () => {
    const spec = { workload: { manifests: [{ note: A }] } };
    const work = object("work.karmada.io/v1alpha1", "Work", { annotations: { note: A } }, { spec });
    const moved = { resource: resource("work.karmada.io/v1alpha1", "Work"), object: work };
    expect(carriedObject(moved, uids)).toMatchObject({
      metadata: { annotations: { note: B } },
      spec,
    });
  });

  it("bears no origin where it is no template", () => {
    const secret = object("v1", "Secret", { namespace: "karmada-cluster" });
    const carried = carriedObject({ resource: resource("v1", "Secret"), object: secret }, uids);
    expect(carried.metadata.annotations).toBeUndefined();
  });

  it("replaces uids in keys, in texts and in lists, and leaves other texts", () => {
    expect(replaceUids({ [A]: [`x ${A},${A}`, 1, null, "y"] }, uids)).toEqual({
      [B]: [`x ${B},${B}`, 1, null, "y"],
    });
  });

  it("reports about its new generation what it reported about the present one", () => {
    const status = {
      observedGeneration: 7,
      conditions: [
        { type: "A", observedGeneration: 7 },
        { type: "B", observedGeneration: 6 },
      ],
      aggregatedStatus: [{ observedGeneration: 7 }],
    };
    const before = object("work.karmada.io/v1alpha1", "Work", { generation: 7 }, { status });
    const made = object("work.karmada.io/v1alpha1", "Work", { generation: 1 });
    const moved = { resource: resource("work.karmada.io/v1alpha1", "Work"), object: before };
    expect(carriedStatus(moved, made, uids)).toEqual({
      observedGeneration: 1,
      conditions: [
        { type: "A", observedGeneration: 1 },
        { type: "B", observedGeneration: 0 },
      ],
      aggregatedStatus: [{ observedGeneration: 7 }],
    });
  });
});
