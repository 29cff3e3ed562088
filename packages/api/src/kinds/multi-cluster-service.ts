/** MultiClusterService: a Service whose endpoints are in several clusters. */
import { declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import { anyObject, choice, integer, list, object, optional, text } from "./builder/shape.ts";
import { conditions } from "./shared/conditions.ts";

const clusterNames = (description: string) =>
  optional(
    object(description, { clusterNames: optional(list("Which ones.", text("A cluster's name."))) }),
  );
const namedClusters = (description: string) =>
  optional(list(description, object("A cluster.", { name: text("Its name.") })));

export const multiClusterServiceKind = declareKind({
  group: "networking.karmada.io",
  version: "v1alpha1",
  kind: "MultiClusterService",
  plural: "multiclusterservices",
  namespaced: true,
  description: "A Service whose endpoints are in several clusters.",
  shortNames: ["mcs"],
  categories: ["karmada-io"],
  spec: object("The clusters that provide the service, and those that consume it.", {
    types: list(
      "How it is exposed: exactly one.",
      choice("A way.", ["CrossCluster", "LoadBalancer"]),
    ),
    ports: optional(
      list(
        "Its ports; absent: all of the Service.",
        object("One port.", { name: optional(text("Its name.")), port: integer("Its number.") }),
      ),
    ),
    range: clusterNames("The old way to name clusters."),
    serviceProvisionClusters: optional(
      list("The old way to name providers.", text("A cluster's name.")),
    ),
    serviceConsumptionClusters: optional(
      list("The old way to name consumers.", text("A cluster's name.")),
    ),
    providerClusters: namedClusters("Clusters that offer endpoints; absent: all."),
    consumerClusters: namedClusters("Clusters that use them; absent: all."),
  }),
  status: object("What became of it.", {
    loadBalancer: optional(anyObject("Where it can be reached.")),
    conditions: optional(conditions("ServiceApplied, EndpointSliceDispatched.")),
  }),
});

export type MultiClusterService = DeclaredObject<typeof multiClusterServiceKind>;
export const multiClusterServices = multiClusterServiceKind.resource;
