/** Resources and small valid objects for tests, with overrides. */
import type { AnyObject, JsonObject, New, NewMeta, Resource } from "@lifeboat/api";

function core(plural: string, kind: string, namespaced = true): Resource {
  return { group: "", version: "v1", plural, kind, namespaced };
}

const table = {
  configMaps: core("configmaps", "ConfigMap"),
  crds: {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  },
  deployments: {
    group: "apps",
    version: "v1",
    plural: "deployments",
    kind: "Deployment",
    namespaced: true,
  },
  events: core("events", "Event"),
  eventsV1: {
    group: "events.k8s.io",
    version: "v1",
    plural: "events",
    kind: "Event",
    namespaced: true,
  },
  leases: {
    group: "coordination.k8s.io",
    version: "v1",
    plural: "leases",
    kind: "Lease",
    namespaced: true,
  },
  namespaces: core("namespaces", "Namespace", false),
  pods: core("pods", "Pod"),
  secrets: core("secrets", "Secret"),
  services: core("services", "Service"),
  widgets: { group: "ex.io", version: "v1", plural: "widgets", kind: "Widget", namespaced: true },
} as const;

/** The resources tests use most. */
export const resources: Readonly<Record<keyof typeof table, Resource>> = table;

/** An object to be created, in the namespace default unless `metadata` says otherwise. */
export function newObject(
  resource: Resource,
  metadata: NewMeta,
  fields: Readonly<Record<string, unknown>> = {},
): New<AnyObject> {
  const { group, version, kind, namespaced } = resource;
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { ...(namespaced && { namespace: "default" }), ...metadata },
    ...fields,
  };
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: NewMeta = {},
): New<AnyObject> {
  return newObject(resources.configMaps, { name, ...metadata }, { data });
}

export function namespace(name: string): New<AnyObject> {
  return newObject(resources.namespaces, { name });
}

export function deployment(
  name: string,
  spec: JsonObject = {},
  metadata: NewMeta = {},
): New<AnyObject> {
  const labels = { app: name };
  return newObject(
    resources.deployments,
    { name, labels, ...metadata },
    {
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: "c", image: "nginx:1.27" }] },
        },
        ...spec,
      },
    },
  );
}

/** The CRD of `resources.widgets`: spec.replicas and spec.color with a default, status and scale. */
export function widgetCrd(version: JsonObject = {}): New<AnyObject> {
  return newObject(
    resources.crds,
    { name: "widgets.ex.io" },
    {
      spec: {
        group: "ex.io",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: widgetSchema },
            subresources: {
              status: {},
              scale: {
                specReplicasPath: ".spec.replicas",
                statusReplicasPath: ".status.replicas",
                labelSelectorPath: ".status.selector",
              },
            },
            ...version,
          },
        ],
      },
    },
  );
}

const widgetSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer", default: 1 },
        color: { type: "string", enum: ["red", "green"], default: "red" },
      },
    },
    status: {
      type: "object",
      properties: { replicas: { type: "integer" }, selector: { type: "string" } },
    },
  },
} as const;
