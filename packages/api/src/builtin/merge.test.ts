import { describe, expect, it } from "vitest";
import type { FieldShape, MergeShape } from "../patch/merge-shape.ts";
import { builtinType } from "./description.ts";
import { mergeShapeOf } from "./merge.ts";

function shapeOf(apiVersion: string, kind: string): MergeShape {
  const type = builtinType(apiVersion, kind);
  if (type === undefined) throw new Error(`no ${kind}`);
  return mergeShapeOf(type);
}

/** The shape at the end of a path of fields. */
function at(apiVersion: string, kind: string, path: string): FieldShape | undefined {
  let shape: MergeShape | undefined = shapeOf(apiVersion, kind);
  let field: FieldShape | undefined;
  for (const name of path.split(".")) {
    field = shape?.field(name);
    shape = field?.shape;
  }
  return field;
}

const POD = "spec.template.spec";

describe("mergeShapeOf", () => {
  it.each([
    { path: `${POD}.containers`, want: { kind: "list", merge: true, mergeKey: "name" } },
    {
      path: `${POD}.containers.ports`,
      want: { kind: "list", merge: true, mergeKey: "containerPort" },
    },
    { path: `${POD}.containers.args`, want: { kind: "list" } },
    {
      path: `${POD}.volumes`,
      want: { kind: "list", merge: true, mergeKey: "name", retainKeys: true },
    },
    { path: `${POD}.tolerations`, want: { kind: "list" } },
    { path: `${POD}.nodeSelector`, want: { kind: "map" } },
    { path: "metadata.finalizers", want: { kind: "list", merge: true } },
    {
      path: "metadata.ownerReferences",
      want: { kind: "list", merge: true, mergeKey: "uid" },
    },
    { path: "spec.strategy", want: { kind: "object", retainKeys: true } },
    { path: "spec.strategy.rollingUpdate.maxSurge", want: { kind: "scalar" } },
    { path: `${POD}.containers.resources.limits`, want: { kind: "map" } },
  ])("knows how $path of a Deployment is merged", ({ path, want }) => {
    const { shape: _, ...rest } = at("apps/v1", "Deployment", path) ?? {};
    expect(rest).toEqual(want);
  });

  it("knows objects that are replaced", () => {
    expect(at("policy/v1", "PodDisruptionBudget", "spec.selector")).toMatchObject({
      kind: "object",
      replace: true,
    });
  });

  it("reaches embedded fields and types that refer to themselves", () => {
    expect(at("apps/v1", "Deployment", `${POD}.volumes.emptyDir.medium`)?.kind).toBe("scalar");
    const schema = "spec.versions.schema.openAPIV3Schema";
    expect(
      at("apiextensions.k8s.io/v1", "CustomResourceDefinition", `${schema}.properties.not`)?.kind,
    ).toBe("object");
  });

  it("has no shape for what a type does not have", () => {
    const shape = shapeOf("apps/v1", "Deployment");
    expect(shape.field("nothing")).toBeUndefined();
    expect(shape.field("constructor")).toBeUndefined();
  });

  it("answers with the same shape again", () => {
    const shape = shapeOf("apps/v1", "Deployment");
    expect(shapeOf("apps/v1", "Deployment")).toBe(shape);
    expect(shape.field("spec")).toBe(shape.field("spec"));
  });
});
