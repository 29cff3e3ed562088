import { expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import { formatPreservedState, readPreservedState } from "./preserved-state.ts";
import { renderWork, type RenderView } from "./render.ts";
import { completionsByCluster } from "./shares.ts";

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    namespace: "default",
    name: "nginx",
    uid: "uid-1",
    generation: 3,
    resourceVersion: "7",
    labels: { app: "nginx" },
    annotations: { note: "kept" },
  },
  spec: { replicas: 9, selector: {} },
  status: { replicas: 9 },
};
const bindingMeta = {
  namespace: "default",
  name: "nginx-deployment",
  labels: { "resourcebinding.karmada.io/permanent-id": "rb-1" },
};
const binding = {
  metadata: bindingMeta,
  spec: {
    replicas: 5,
    clusters: [
      { name: "eu-1", replicas: 2 },
      { name: "us-1", replicas: 3 },
    ],
  },
};
const cluster = { metadata: { name: "eu-1" } };
const view = (changes: Partial<RenderView> = {}): RenderView => ({
  template: deployment,
  binding,
  cluster,
  clusterOverridePolicies: [],
  overridePolicies: [],
  workId: "work-1",
  ...changes,
});
const rendered = (changes: Partial<RenderView> = {}) => {
  const result = renderWork(view(changes));
  if (result.outcome !== "rendered") throw new Error(result.message);
  return result;
};
const bindingWith = (spec: object, metadata: object = {}): Fields => ({
  metadata: { ...bindingMeta, ...metadata },
  spec: { ...binding.spec, ...spec },
});

it("renders a Deployment and its Work, byte for byte", () => {
  const manifest = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "default",
      name: "nginx",
      labels: {
        app: "nginx",
        "karmada.io/managed": "true",
        "resourcebinding.karmada.io/permanent-id": "rb-1",
        "work.karmada.io/permanent-id": "work-1",
      },
      annotations: {
        note: "kept",
        "resourcebinding.karmada.io/name": "nginx-deployment",
        "resourcebinding.karmada.io/namespace": "default",
        "resourcetemplate.karmada.io/generation": "3",
        "resourcetemplate.karmada.io/managed-annotations":
          "note,resourcebinding.karmada.io/name,resourcebinding.karmada.io/namespace," +
          "resourcetemplate.karmada.io/generation,resourcetemplate.karmada.io/managed-annotations," +
          "resourcetemplate.karmada.io/managed-labels,resourcetemplate.karmada.io/uid," +
          "work.karmada.io/conflict-resolution,work.karmada.io/name,work.karmada.io/namespace",
        "resourcetemplate.karmada.io/managed-labels":
          "app,karmada.io/managed,resourcebinding.karmada.io/permanent-id,work.karmada.io/permanent-id",
        "resourcetemplate.karmada.io/uid": "uid-1",
        "work.karmada.io/conflict-resolution": "abort",
        "work.karmada.io/name": "nginx-687f7fb96f",
        "work.karmada.io/namespace": "karmada-es-eu-1",
      },
    },
    spec: { replicas: 2, selector: {} },
  };
  const result = rendered();
  expect(result.manifest).toEqual(manifest);
  expect(result.work).toEqual({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      namespace: "karmada-es-eu-1",
      name: "nginx-687f7fb96f",
      labels: {
        "resourcebinding.karmada.io/permanent-id": "rb-1",
        "work.karmada.io/permanent-id": "work-1",
      },
      annotations: {
        "resourcebinding.karmada.io/name": "nginx-deployment",
        "resourcebinding.karmada.io/namespace": "default",
        "work.karmada.io/conflict-resolution": "abort",
      },
      finalizers: ["karmada.io/execution-controller"],
    },
    spec: {
      workload: { manifests: [manifest] },
      suspendDispatching: false,
      preserveResourcesOnDeletion: false,
    },
  });
});

it("marks objects without a namespace by their ClusterResourceBinding", () => {
  const template = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } };
  const metadata = {
    name: "team-a-namespace",
    labels: { "clusterresourcebinding.karmada.io/permanent-id": "crb-1" },
  };
  const { work, manifest } = rendered({ template, binding: { metadata, spec: {} } });
  expect(work).toMatchObject({
    metadata: {
      name: "team-a-5cc7c7959b",
      labels: { "clusterresourcebinding.karmada.io/permanent-id": "crb-1" },
      annotations: { "clusterresourcebinding.karmada.io/name": "team-a-namespace" },
    },
  });
  expect(JSON.stringify(manifest)).not.toContain('"resourcebinding.karmada.io');
});

it.each([
  ["its replicas of a cluster", {}, 2],
  ["the template's when replicas mean nothing", { replicas: 0 }, 9],
  ["none when the cluster gets none", { clusters: [{ name: "eu-1" }] }, 0],
  ["the template's in a cluster of a dependent", { clusters: [] }, 9],
])("gives a copy %s", (_what, spec, replicas) => {
  expect(rendered({ binding: bindingWith(spec) }).manifest).toMatchObject({ spec: { replicas } });
});

it("takes the replicas of a script where there is one", () => {
  const revised = { ...deployment, spec: { size: 4 } };
  expect(rendered({ revised }).manifest["spec"]).toEqual({ size: 4 });
});

it.each([
  [{}, undefined, "abort"],
  [{ conflictResolution: "Overwrite" }, undefined, "overwrite"],
  [{ conflictResolution: "Overwrite" }, "abort", "abort"],
  [{ conflictResolution: "Abort" }, "overwrite", "overwrite"],
  [{}, "nonsense", "abort"],
])("resolves conflicts: policy %j, template %s: %s", (spec, own, expected) => {
  const annotations = own === undefined ? {} : { "work.karmada.io/conflict-resolution": own };
  const template = { ...deployment, metadata: { ...deployment.metadata, annotations } };
  const { work, manifest } = rendered({ template, binding: bindingWith(spec) });
  for (const object of [work, manifest])
    expect(object).toMatchObject({
      metadata: { annotations: { "work.karmada.io/conflict-resolution": expected } },
    });
});

it.each([
  [{ suspension: { dispatching: true } }, true],
  [{ suspension: { dispatchingOnClusters: { clusterNames: ["eu-1"] } } }, true],
  [{ suspension: { dispatchingOnClusters: { clusterNames: ["us-1"] } } }, false],
])("suspends as the binding asks: %j", (spec, suspendDispatching) => {
  const binding = bindingWith({ ...spec, preserveResourcesOnDeletion: true });
  expect(rendered({ binding }).work).toMatchObject({
    spec: { suspendDispatching, preserveResourcesOnDeletion: true },
  });
});

it("applies policies of all namespaces first and records what it applied", () => {
  const overriders = (value: string) => ({
    plaintext: [{ path: "/metadata/annotations/note", operator: "replace", value }],
  });
  const policy = (name: string, namespace?: string) => ({
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: { overrideRules: [{ overriders: overriders(name) }] },
  });
  const result = rendered({
    clusterOverridePolicies: [policy("wide")],
    overridePolicies: [policy("near", "default"), policy("elsewhere", "prod")],
  });
  expect(result.hasOverrides).toBe(true);
  expect(result.manifest).toMatchObject({ metadata: { annotations: { note: "near" } } });
  expect(result.work).toMatchObject({
    metadata: {
      annotations: {
        "policy.karmada.io/applied-overrides": JSON.stringify([
          { policyName: "near", overriders: overriders("near") },
        ]),
        "policy.karmada.io/applied-cluster-overrides": JSON.stringify([
          { policyName: "wide", overriders: overriders("wide") },
        ]),
      },
    },
  });
});

it.each([
  ["OverrideFailed", { path: "/spec/none/at/all", operator: "remove" }],
  ["IdentityOverridden", { path: "/metadata/name", operator: "replace", value: "other" }],
  ["IdentityOverridden", { path: "/metadata/namespace", operator: "remove" }],
  ["IdentityOverridden", { path: "/kind", operator: "replace", value: "Pod" }],
])("fails with %s for %j", (reason, operation) => {
  const policy = {
    metadata: { name: "p" },
    spec: { overrideRules: [{ overriders: { plaintext: [operation] } }] },
  };
  const result = renderWork(view({ clusterOverridePolicies: [policy] }));
  expect(result).toMatchObject({ outcome: "failed", reason });
});

it("lets a policy leave the choice of node ports to the member", () => {
  const template = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "default", name: "web" },
    spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] },
  };
  const remove = { path: "/spec/ports/0/nodePort", operator: "remove" };
  const policy = { metadata: { name: "p" }, spec: { overriders: { plaintext: [remove] } } };
  const travels = { spec: { ports: [{ port: 80, nodePort: 30_080 }] } };
  expect(rendered({ template }).manifest).toMatchObject(travels);
  const { manifest } = rendered({ template, clusterOverridePolicies: [policy] });
  expect(manifest["spec"]).toEqual({ type: "NodePort", ports: [{ port: 80 }] });
});

it("does not let a policy forge the marks", () => {
  const policy = {
    metadata: { name: "p" },
    spec: {
      overriders: {
        labelsOverrider: [{ operator: "add", value: { "karmada.io/managed": "false" } }],
        annotationsOverrider: [{ operator: "add", value: { "work.karmada.io/name": "other" } }],
      },
    },
  };
  expect(rendered({ clusterOverridePolicies: [policy] }).manifest).toMatchObject({
    metadata: {
      labels: { "karmada.io/managed": "true" },
      annotations: { "work.karmada.io/name": "nginx-687f7fb96f" },
    },
  });
});

it("refuses a template without a name", () => {
  const result = renderWork(view({ template: { kind: "Pod", metadata: {} } }));
  expect(result).toMatchObject({ outcome: "failed", reason: "TemplateIncomplete" });
});

it("gives every cluster but the source the state that was saved, under the template's labels", () => {
  const state = { from: "us-1", labels: { "failover.karmada.io/job": "abc", app: "forged" } };
  const annotations = { "lifeboat.dev/preserved-state": formatPreservedState(state) };
  const moved = bindingWith({}, { annotations });
  expect(readPreservedState(moved)).toEqual(state);
  const { manifest } = rendered({ binding: moved });
  expect(manifest).toMatchObject({
    metadata: { labels: { "failover.karmada.io/job": "abc", app: "nginx" } },
  });
  expect(JSON.stringify(manifest)).toContain(",failover.karmada.io/job,");
  const source = rendered({ binding: moved, cluster: { metadata: { name: "us-1" } } });
  expect(JSON.stringify(source.manifest)).not.toContain("failover.karmada.io/job");
});

it.each(["", "nonsense", "[]", "null"])("reads no state from %j", (text) => {
  const annotations = { "lifeboat.dev/preserved-state": text };
  expect(readPreservedState(bindingWith({}, { annotations }))).toBeUndefined();
});

it("divides the completions of a Job by the replicas of its clusters", () => {
  const template = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name: "j", uid: "" },
    spec: { parallelism: 5, completions: 10 },
  };
  const placement = { replicaScheduling: { replicaSchedulingType: "Divided" } };
  const clusters = [
    { name: "m1", replicas: 6 },
    { name: "m2", replicas: 3 },
  ];
  const divided = bindingWith({ placement, clusters });
  expect(completionsByCluster(template, divided)).toEqual(
    new Map([
      ["m1", 7],
      ["m2", 3],
    ]),
  );
  const { manifest } = rendered({
    template,
    binding: divided,
    cluster: { metadata: { name: "m2" } },
  });
  expect(manifest["spec"]).toEqual({ parallelism: 3, completions: 3 });
  const listedTwice = bindingWith({
    placement,
    clusters: [...clusters, { name: "m1", replicas: 1 }],
  });
  expect(completionsByCluster(template, listedTwice)).toEqual(
    completionsByCluster(template, divided),
  );
  const duplicated = bindingWith({ clusters });
  expect(completionsByCluster(template, duplicated)).toBeUndefined();
  expect(completionsByCluster(deployment, divided)).toBeUndefined();
});

it("gives a federated StatefulSet that asks for none the share that its cluster keeps (D15)", () => {
  const template = { ...deployment, kind: "StatefulSet", spec: { replicas: 0, selector: {} } };
  const record = { replicas: 5, clusters: ["eu-1", "us-1"], numbers: { "eu-1": 1, "us-1": 2 } };
  const annotations = {
    "lifeboat.dev/federated-shares": '{"eu-1":2,"us-1":3}',
    "lifeboat.dev/federated-record": JSON.stringify({ ...record, forgotten: [] }),
  };
  const { work } = rendered({ template, binding: bindingWith({ replicas: 0 }, { annotations }) });
  expect(work.spec.workload?.manifests?.[0]).toMatchObject({
    metadata: { name: "nginx-eu-1" },
    spec: { replicas: 2 },
  });
});
