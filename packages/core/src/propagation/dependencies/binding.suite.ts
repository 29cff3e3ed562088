/** Bindings and objects for the tests of this folder. */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";

type Meta = Partial<ResourceBinding["metadata"]>;

/** A binding of the Deployment of this name that runs on m1. */
export function workloadBinding(
  name: string,
  spec: Partial<ResourceBinding["spec"]> = {},
  metadata: Meta = {},
): ResourceBinding {
  const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name };
  return bindingNamed(`${name}-deployment`, {
    spec: {
      resource,
      propagateDeps: true,
      clusters: [{ name: "m1", replicas: 2 }],
      conflictResolution: "Abort",
      ...spec,
    },
    metadata,
  });
}

/** A binding, complete. */
export function bindingNamed(
  name: string,
  { spec, metadata }: { spec: ResourceBinding["spec"]; metadata?: Meta },
): ResourceBinding {
  return deepFreeze({
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace: "default",
      name,
      uid: `uid of ${name}`,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation: 1,
      labels: { "resourcebinding.karmada.io/permanent-id": `id of ${name}` },
      ...metadata,
    },
    spec,
  });
}

/** A ConfigMap as the server holds it. */
export function configMapObject(name: string, metadata: Meta = {}): AnyObject {
  return deepFreeze({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace: "default",
      name,
      uid: `uid of ${name}`,
      resourceVersion: "7",
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...metadata,
    },
  });
}

/** The annotation that records one ConfigMap. */
export function recording(...names: readonly string[]): Readonly<Record<string, string>> {
  const entries = names.map((name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    namespace: "default",
    name,
  }));
  return { "resourcebinding.karmada.io/dependencies": JSON.stringify(entries) };
}
