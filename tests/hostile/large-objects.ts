/** Large ConfigMaps over the API of a plane, to make its store grow and shrink. */
import { isRefused, type KubeObject, type Resource } from "@lifeboat/api";
import type { HttpClient } from "@lifeboat/kit/adapters";

interface ConfigMap extends KubeObject {
  readonly data: { readonly value: string };
}

const configMaps: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

export async function createLarge(api: HttpClient, name: string, bytes: number): Promise<void> {
  await api.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
    data: { value: "x".repeat(bytes) },
  });
}

/** One that is gone already is as good as removed. */
export async function removeLarge(api: HttpClient, name: string): Promise<void> {
  try {
    await api.delete(configMaps, { namespace: "default", name });
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}
