import { describe, expect, it } from "vitest";
import { builtinKinds, builtinType, type FieldType, typeNamed } from "./description.ts";
import { builtinResources } from "./resources.ts";
import { apiVersionOf } from "../resource.ts";

function field(typeName: string, name: string) {
  return typeNamed(typeName)?.fields.find((candidate) => candidate.name === name);
}

describe("the description of built-in kinds", () => {
  it("knows every resource that is served", () => {
    const missing = builtinResources.filter(
      (resource) => builtinType(apiVersionOf(resource), resource.kind) === undefined,
    );
    expect(missing).toEqual([]);
  });

  it("resolves every reference", () => {
    const seen = new Set<string>();
    const visit = (type: FieldType): void => {
      if (type.kind === "list" || type.kind === "map") visit(type.element);
      if (type.kind !== "object" || seen.has(type.type.name)) return;
      seen.add(type.type.name);
      for (const { type: inner } of type.type.fields) visit(inner);
    };
    for (const kind of builtinKinds()) {
      const slash = kind.lastIndexOf("/");
      const type = builtinType(kind.slice(0, Math.max(slash, 0)), kind.slice(slash + 1));
      expect(type, kind).toBeDefined();
      for (const { type: inner } of type?.fields ?? []) visit(inner);
    }
    expect(seen.size).toBeGreaterThan(350);
  });

  it("does not know kinds by names that objects inherit", () => {
    expect(builtinType("v1", "constructor")).toBeUndefined();
    expect(builtinType("", "__proto__")).toBeUndefined();
    expect(typeNamed("toString")).toBeUndefined();
  });

  it("finds DeleteOptions, Status and WatchEvent under any version", () => {
    for (const kind of ["DeleteOptions", "Status", "WatchEvent"]) {
      expect(builtinType("apps/v1", kind)?.name).toBe(`meta.v1.${kind}`);
    }
  });

  it("says how fields are written, merged and sent", () => {
    expect(field("apps.v1.DeploymentSpec", "replicas")).toMatchObject({
      type: { kind: "scalar", scalar: "int32", goType: "int32" },
      pointer: true,
      omitEmpty: true,
      tag: 1,
    });
    expect(field("core.v1.PodSpec", "containers")).toMatchObject({
      patchStrategy: "merge",
      patchMergeKey: "name",
      listType: "map",
      listMapKeys: ["name"],
      required: true,
    });
    expect(field("core.v1.ContainerPort", "protocol")).toMatchObject({
      default: "TCP",
      enum: ["SCTP", "TCP", "UDP"],
    });
    expect(field("meta.v1.ObjectMeta", "creationTimestamp")).toMatchObject({ omitZero: true });
    expect(typeNamed("meta.v1.LabelSelector")?.mapType).toBe("atomic");
    expect(typeNamed("apps.v1.Deployment")?.openApiName).toBe("io.k8s.api.apps.v1.Deployment");
  });

  it("names the Go types of lists and maps as Go does", () => {
    expect(field("core.v1.PodSpec", "containers")?.type.goType).toBe("[]v1.Container");
    expect(field("core.v1.ResourceRequirements", "limits")?.type).toMatchObject({
      goType: "v1.ResourceList",
      element: { goType: "resource.Quantity" },
    });
    expect(field("core.v1.Secret", "data")?.type.goType).toBe("map[string][]uint8");
  });

  it("puts embedded fields among the owner's, and keeps them apart for protobuf", () => {
    expect(field("core.v1.Volume", "emptyDir")).toBeDefined();
    expect(typeNamed("core.v1.Volume")?.members).toContainEqual(
      expect.objectContaining({ goName: "VolumeSource", tag: 2 }),
    );
  });
});
