/** The objects that joining a member makes. */
import { type AnyObject, type Cluster, clusters, type New } from "@lifeboat/api";
import { newObject, resources } from "./objects.ts";

/** A Namespace to be created. */
export function newNamespace(name: string): New<AnyObject> {
  return newObject(resources.namespaces, { name });
}

function endpointOf(name: string): string {
  return `https://${name}.test:6443`;
}

/** The Secret by which a member is reached; `member` when its name is another. */
export function newClusterSecret(name: string, token: string, member = name): New<AnyObject> {
  const annotations = { "lifeboat.dev/api-endpoint": endpointOf(member) };
  const metadata = { name, namespace: "karmada-cluster", annotations };
  return newObject(resources.secrets, metadata, { type: "Opaque", data: { token: btoa(token) } });
}

/** The Cluster of a member of a fleet. */
export function newCluster(name: string, spec: Partial<Cluster["spec"]> = {}): New<Cluster> {
  return {
    apiVersion: `${clusters.group}/${clusters.version}`,
    kind: clusters.kind,
    metadata: { name },
    spec: {
      syncMode: "Push",
      apiEndpoint: endpointOf(name),
      secretRef: { namespace: "karmada-cluster", name },
      ...spec,
    },
  };
}
