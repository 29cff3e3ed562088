/**
 * One small object of every kind that the suite propagates, in two editions: as it is applied first, and as it is edited.
 *
 * Everything namespaced is in the namespace `shop`; every object has the label that the policies select by.
 */
import type { AnyObject, JsonObject, New, Resource } from "@lifeboat/api";

export interface PropagatedKind {
  readonly resource: Resource;
  readonly name: string;
  readonly first: JsonObject;
  /** Merged over the first edition at the top level. */
  readonly edit: JsonObject;
}

export const NAMESPACE = "shop";
const SELECTED = { suite: "propagation" };
const IMAGES = { first: "nginx:1.27", edited: "nginx:1.28" };

function resource(group: string, plural: string, kind: string, namespaced = true): Resource {
  return { group, version: "v1", plural, kind, namespaced };
}

const podSpec = (image: string, more: JsonObject = {}): JsonObject => ({
  containers: [{ name: "main", image }],
  ...more,
});

function workload(app: string, image: string, more: JsonObject = {}): JsonObject {
  return {
    spec: {
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec: podSpec(image) },
      ...more,
    },
  };
}

const cronJob = (schedule: string): JsonObject => ({
  spec: {
    schedule,
    jobTemplate: {
      spec: { template: { spec: podSpec(IMAGES.first, { restartPolicy: "Never" }) } },
    },
  },
});

const service = (...ports: readonly number[]): JsonObject => ({
  spec: {
    type: "LoadBalancer",
    selector: { app: "web" },
    ports: ports.map((port) => ({ name: `p${port}`, port })),
  },
});

const ingress = (host: string): JsonObject => ({
  spec: {
    rules: [
      {
        host,
        http: {
          paths: [
            {
              path: "/",
              pathType: "Prefix",
              backend: { service: { name: "front", port: { number: 80 } } },
            },
          ],
        },
      },
    ],
  },
});

const clusterRole = (...verbs: readonly string[]): JsonObject => ({
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: [...verbs] }],
});

const boatsCrd = (shortNames: readonly string[]): JsonObject => ({
  spec: {
    group: "harbour.example.io",
    scope: "Namespaced",
    names: {
      plural: "boats",
      singular: "boat",
      kind: "Boat",
      listKind: "BoatList",
      ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { seats: { type: "integer" } } },
              status: { type: "object", properties: { afloat: { type: "boolean" } } },
            },
          },
        },
      },
    ],
  },
});

export const boats: Resource = resource("harbour.example.io", "boats", "Boat");
export const deployments: Resource = resource("apps", "deployments", "Deployment");

export const propagatedKinds: readonly PropagatedKind[] = [
  {
    resource: deployments,
    name: "web",
    first: workload("web", IMAGES.first, { replicas: 2 }),
    edit: workload("web", IMAGES.edited, { replicas: 3 }),
  },
  {
    resource: resource("", "services", "Service"),
    name: "front",
    first: service(80),
    edit: service(80, 443),
  },
  {
    resource: resource("", "configmaps", "ConfigMap"),
    name: "settings",
    first: { data: { colour: "red" } },
    edit: { data: { colour: "green", size: "9" } },
  },
  {
    resource: resource("", "secrets", "Secret"),
    name: "password",
    first: { data: { word: "b3BlbiBzZXNhbWU=" } },
    edit: { data: { word: "c2h1dCBzZXNhbWU=" } },
  },
  {
    resource: resource("apps", "statefulsets", "StatefulSet"),
    name: "db",
    first: workload("db", IMAGES.first, { replicas: 1, serviceName: "db" }),
    edit: workload("db", IMAGES.edited, { replicas: 2, serviceName: "db" }),
  },
  {
    resource: resource("apps", "daemonsets", "DaemonSet"),
    name: "agent",
    first: workload("agent", IMAGES.first),
    edit: workload("agent", IMAGES.edited),
  },
  {
    resource: resource("batch", "jobs", "Job"),
    name: "once",
    first: {
      spec: {
        template: { spec: podSpec(IMAGES.first, { restartPolicy: "Never" }) },
        backoffLimit: 2,
      },
    },
    edit: { metadata: { annotations: { edition: "second" } } },
  },
  {
    resource: resource("batch", "cronjobs", "CronJob"),
    name: "yearly",
    first: cronJob("0 0 1 1 *"),
    edit: cronJob("0 0 2 1 *"),
  },
  {
    resource: resource("networking.k8s.io", "ingresses", "Ingress"),
    name: "door",
    first: ingress("one.example.com"),
    edit: ingress("two.example.com"),
  },
  {
    resource: resource("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", false),
    name: "suite-reader",
    first: clusterRole("get"),
    edit: clusterRole("get", "list"),
  },
  {
    resource: resource(
      "apiextensions.k8s.io",
      "customresourcedefinitions",
      "CustomResourceDefinition",
      false,
    ),
    name: "boats.harbour.example.io",
    first: boatsCrd([]),
    edit: boatsCrd(["bt"]),
  },
  {
    resource: boats,
    name: "ark",
    first: { spec: { seats: 2 } },
    edit: { spec: { seats: 200 } },
  },
];

function manifest(kind: PropagatedKind, fields: JsonObject): New<AnyObject> {
  const { group, version, namespaced } = kind.resource;
  const { metadata, ...rest } = fields as { readonly metadata?: JsonObject };
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind: kind.resource.kind,
    metadata: {
      name: kind.name,
      ...(namespaced ? { namespace: NAMESPACE } : {}),
      labels: SELECTED,
      ...metadata,
    },
    ...rest,
  };
}

/** The object as it is applied first. */
export function firstEdition(kind: PropagatedKind): New<AnyObject> {
  return manifest(kind, kind.first);
}

/** The object after the edit. */
export function secondEdition(kind: PropagatedKind): New<AnyObject> {
  return manifest(kind, { ...kind.first, ...kind.edit });
}

export const namespaceManifest: New<AnyObject> = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: NAMESPACE },
};

/** The policies that send all of it to every member. */
export const policyManifests: readonly New<AnyObject>[] = [true, false].map((namespaced) => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: namespaced ? "PropagationPolicy" : "ClusterPropagationPolicy",
  metadata: { name: "suite", ...(namespaced ? { namespace: NAMESPACE } : {}) },
  spec: {
    resourceSelectors: propagatedKinds
      .filter((kind) => kind.resource.namespaced === namespaced)
      .map((kind) => ({
        apiVersion: firstEdition(kind).apiVersion,
        kind: kind.resource.kind,
        labelSelector: { matchLabels: SELECTED },
      })),
    placement: {},
  },
}));

/** Many objects as one file for kubectl. */
export function fileOf(items: readonly New<AnyObject>[]): string {
  return items.map((item) => JSON.stringify(item)).join("\n---\n");
}
