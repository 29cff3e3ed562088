/** A CRD with everything, for the tests of what is made of CRDs. */
import {
  type AnyObject,
  asCrd,
  type CrdStatus,
  type CustomResourceDefinition,
} from "@lifeboat/api";

const string = { type: "string" };

export const widgetSchema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      properties: {
        color: { type: "string", enum: ["red", "green"], default: "red" },
        replicas: { type: "integer", format: "int32", default: 1 },
        port: { "x-kubernetes-int-or-string": true },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
    status: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        selector: string,
        conditions: {
          type: "array",
          items: { type: "object", properties: { type: string, status: string } },
        },
      },
    },
  },
} as const;

const established: CrdStatus = {
  conditions: [
    { type: "NamesAccepted", status: "True" },
    { type: "Established", status: "True" },
  ],
  acceptedNames: {
    plural: "widgets",
    singular: "widget",
    kind: "Widget",
    listKind: "WidgetList",
    shortNames: ["wd"],
    categories: ["all"],
  },
  storedVersions: ["v1"],
};

/** The CRD of widgets, with these fields of spec and status instead of its own. */
export function widgetCrd(
  spec: Readonly<Record<string, unknown>> = {},
  status: CrdStatus = established,
): CustomResourceDefinition {
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.ex.io" },
    spec: {
      group: "ex.io",
      scope: "Namespaced",
      names: established.acceptedNames,
      versions: [widgetVersion("v1")],
      ...spec,
    },
    status,
  };
  return asCrd(crd as unknown as AnyObject);
}

export function widgetVersion(
  name: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: widgetSchema },
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
    selectableFields: [{ jsonPath: ".spec.color" }],
    ...more,
  };
}
