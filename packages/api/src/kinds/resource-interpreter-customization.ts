/** ResourceInterpreterCustomization: Lua scripts that teach us to read and change a kind we do not know. */
import { ageColumn, declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import { object, optional, text } from "./builder/shape.ts";

const script = (description: string, functionName: string) =>
  optional(
    object(description, { luaScript: text(`Lua that defines ${functionName}.`, { minLength: 1 }) }),
  );

const spec = object("Which kind, and how to treat it.", {
  target: object("The kind.", {
    apiVersion: text("Its group and version.", { minLength: 1 }),
    kind: text("Its name.", { minLength: 1 }),
  }),
  customizations: object("The scripts; what has none is treated as usual.", {
    retention: script("What the member's own values win over.", "Retain(desiredObj, observedObj)"),
    replicaResource: script("How many replicas, and what each needs.", "GetReplicas(obj)"),
    componentResource: script("The parts of a workload that has several.", "GetComponents(obj)"),
    replicaRevision: script(
      "How to set the number of replicas.",
      "ReviseReplica(obj, desiredReplica)",
    ),
    statusReflection: script("Which part of the status to report.", "ReflectStatus(observedObj)"),
    statusAggregation: script("One status of many.", "AggregateStatus(desiredObj, statusItems)"),
    healthInterpretation: script("Whether a copy is well.", "InterpretHealth(observedObj)"),
    dependencyInterpretation: script("What it refers to.", "GetDependencies(desiredObj)"),
  }),
});

export const resourceInterpreterCustomizationKind = declareKind({
  group: "config.karmada.io",
  version: "v1alpha1",
  kind: "ResourceInterpreterCustomization",
  plural: "resourceinterpretercustomizations",
  namespaced: false,
  description: "Teaches the control plane to handle a kind, by scripts.",
  shortNames: ["ric"],
  categories: ["karmada-io"],
  columns: [
    { name: "TARGET-API-VERSION", type: "string", jsonPath: ".spec.target.apiVersion" },
    { name: "TARGET-KIND", type: "string", jsonPath: ".spec.target.kind" },
    ageColumn,
  ],
  spec,
});

export type ResourceInterpreterCustomization = DeclaredObject<
  typeof resourceInterpreterCustomizationKind
>;
export const resourceInterpreterCustomizations = resourceInterpreterCustomizationKind.resource;
