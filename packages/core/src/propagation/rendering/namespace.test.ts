/** Which namespaces are made in every member, and by which Work. */
import { describe, expect, it } from "vitest";
import { decideNamespaceSync, renderNamespaceWork } from "./namespace.ts";

const SKIPPED = /^(?:kube-.*)$/;
const cluster = { metadata: { name: "eu-1" } };
const namespace = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name: "shop",
    uid: "uid-1",
    resourceVersion: "7",
    labels: { team: "a", "kubernetes.io/metadata.name": "shop" },
    annotations: { note: "kept" },
  },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
};

function named(name: string, metadata: object = {}) {
  return { ...namespace, metadata: { name, ...metadata } };
}

describe("a namespace", () => {
  const skip = (value: string) => ({
    labels: { "namespace.karmada.io/skip-auto-propagation": value },
  });
  it.each([
    { given: named("shop"), want: "Synced" },
    { given: named("my-kube-things"), want: "Synced" },
    { given: named("kube-system"), want: "SkippedByName" },
    { given: named("default"), want: "Reserved" },
    { given: named("karmada-system"), want: "Reserved" },
    { given: named("karmada-cluster"), want: "Reserved" },
    { given: named("lifeboat-system"), want: "Reserved" },
    { given: named("karmada-es-eu-1"), want: "Reserved" },
    { given: named("karmada-essays"), want: "Synced" },
    { given: named("shop", skip("true")), want: "SkippedByLabel" },
    { given: named("shop", skip("TRUE")), want: "SkippedByLabel" },
    { given: named("shop", skip("false")), want: "Synced" },
    { given: named("shop", { deletionTimestamp: "2026-01-01T00:00:00Z" }), want: "BeingDeleted" },
  ])("$given.metadata.name is $want", ({ given, want }) => {
    expect(decideNamespaceSync(given, SKIPPED)).toBe(want);
  });

  it("is held by a Work of its own, without a binding", () => {
    const rendered = renderNamespaceWork({
      namespace,
      cluster,
      clusterOverridePolicies: [],
      workId: "work-1",
    });
    if (rendered.outcome !== "rendered") throw new Error(rendered.message);
    expect(rendered.work).toMatchObject({
      metadata: {
        namespace: "karmada-es-eu-1",
        labels: { "work.karmada.io/permanent-id": "work-1" },
        annotations: { "work.karmada.io/conflict-resolution": "abort" },
        finalizers: ["karmada.io/execution-controller"],
        ownerReferences: [{ apiVersion: "v1", kind: "Namespace", name: "shop", uid: "uid-1" }],
      },
      spec: { suspendDispatching: false, preserveResourcesOnDeletion: false },
    });
    expect(rendered.manifest).toMatchObject({
      metadata: {
        name: "shop",
        labels: { team: "a", "karmada.io/managed": "true" },
        annotations: { note: "kept", "resourcetemplate.karmada.io/uid": "uid-1" },
      },
    });
    expect(rendered.manifest).not.toHaveProperty("status");
    expect(JSON.stringify(rendered.work)).not.toContain("resourcebinding");
  });

  it("is overridden by policies for all namespaces that mean it", () => {
    const policy = {
      metadata: { name: "tag" },
      spec: {
        resourceSelectors: [{ apiVersion: "v1", kind: "Namespace" }],
        overrideRules: [
          {
            targetCluster: { clusterNames: ["eu-1"] },
            overriders: { labelsOverrider: [{ operator: "add", value: { region: "eu" } }] },
          },
        ],
      },
    };
    const rendered = renderNamespaceWork({
      namespace,
      cluster,
      clusterOverridePolicies: [policy],
      workId: "work-1",
    });
    if (rendered.outcome !== "rendered") throw new Error(rendered.message);
    expect(rendered.manifest).toMatchObject({ metadata: { labels: { region: "eu" } } });
    expect(rendered.work).toMatchObject({
      metadata: {
        annotations: {
          "policy.karmada.io/applied-cluster-overrides": expect.stringContaining("tag"),
        },
      },
    });
  });
});
