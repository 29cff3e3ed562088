import { describe, expect, it } from "vitest";
import { qualifiedName } from "../resource.ts";
import { builtinResources } from "./resources.ts";

function find(group: string, version: string, plural: string) {
  return builtinResources.find(
    (resource) =>
      resource.group === group && resource.version === version && resource.plural === plural,
  );
}

describe("builtinResources", () => {
  it("describes a workload", () => {
    expect(find("apps", "v1", "deployments")).toMatchObject({
      kind: "Deployment",
      listKind: "DeploymentList",
      singular: "deployment",
      namespaced: true,
      shortNames: ["deploy"],
      categories: ["all"],
      subresources: {
        status: true,
        scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
      },
      hasGeneration: true,
      createOnUpdate: false,
      unconditionalUpdate: true,
      virtual: false,
    });
  });

  it("describes what sets leases, namespaces and config maps apart", () => {
    expect(find("coordination.k8s.io", "v1", "leases")).toMatchObject({
      createOnUpdate: true,
      unconditionalUpdate: false,
      hasGeneration: false,
    });
    expect(find("", "v1", "namespaces")?.subresources).toEqual({ status: true, finalize: true });
    expect(find("", "v1", "configmaps")).toMatchObject({ hasGeneration: false, subresources: {} });
  });

  it("marks as virtual what is answered and never stored", () => {
    const virtual = builtinResources.filter((resource) => resource.virtual).map(qualifiedName);
    expect(virtual.toSorted()).toEqual([
      "bindings",
      "componentstatuses",
      "localsubjectaccessreviews.authorization.k8s.io",
      "selfsubjectaccessreviews.authorization.k8s.io",
      "selfsubjectreviews.authentication.k8s.io",
      "selfsubjectrulesreviews.authorization.k8s.io",
      "subjectaccessreviews.authorization.k8s.io",
      "tokenreviews.authentication.k8s.io",
    ]);
  });

  it("gives subresources the kind they answer with", () => {
    const token = find("", "v1", "serviceaccounts")?.discoverySubresources[0];
    expect(token).toEqual({
      name: "token",
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    });
    const status = find("", "v1", "pods")?.discoverySubresources.find((s) => s.name === "status");
    expect(status).toMatchObject({ group: "", version: "", kind: "Pod" });
  });

  it("lists both versions of autoscaling, the preferred one first", () => {
    const versions = builtinResources.filter((resource) => resource.group === "autoscaling");
    expect(versions.map((resource) => resource.version)).toEqual(["v2", "v1"]);
  });

  it("has no two resources of one name", () => {
    const names = builtinResources.map((r) => `${r.group}/${r.version}/${r.plural}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
