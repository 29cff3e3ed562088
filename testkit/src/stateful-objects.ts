/** Workloads with state, as the stateful examples use them: a StatefulSet, and Flink's job as a custom resource. */
import { type AnyObject, type New, type Resource, statefulSets } from "@lifeboat/api";
import { newObject, resources } from "./objects.ts";

/** A StatefulSet to be created, in the namespace default. */
export function statefulSet(name: string, replicas: number): New<AnyObject> {
  const labels = { app: name };
  return newObject(
    statefulSets,
    { name, labels },
    {
      spec: {
        replicas,
        serviceName: name,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: "c", image: "nginx:1.27" }] },
        },
      },
    },
  );
}

/** The resource of Flink jobs. */
export const flinkDeployments: Resource = {
  group: "flink.apache.org",
  version: "v1beta1",
  plural: "flinkdeployments",
  kind: "FlinkDeployment",
  namespaced: true,
};

/** A CRD that takes any spec and status, as the real one does for our purpose. */
export function flinkCrd(): New<AnyObject> {
  return newObject(
    resources.crds,
    { name: "flinkdeployments.flink.apache.org" },
    {
      spec: {
        group: "flink.apache.org",
        scope: "Namespaced",
        names: { plural: "flinkdeployments", kind: "FlinkDeployment" },
        versions: [
          {
            name: "v1beta1",
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        ],
      },
    },
  );
}

/** A Flink job to be created, in the namespace default. */
export function flinkDeployment(name: string): New<AnyObject> {
  return newObject(flinkDeployments, { name }, { spec: { job: { parallelism: 1 } } });
}
