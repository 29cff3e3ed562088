/** An object as a store keeps it, for tests that write to one without a server. */
import type { KubeObject } from "@lifeboat/api";

/** A ConfigMap at a key such as `namespace/name`, as the write with this revision leaves it. */
export function storedConfigMap(
  key: string,
  revision: number,
  data: Readonly<Record<string, string>>,
): KubeObject {
  const [namespace = "", name = ""] = key.split("/");
  const metadata = {
    name,
    namespace,
    uid: "u",
    resourceVersion: String(revision),
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { kind: "ConfigMap", apiVersion: "v1", metadata, data } as KubeObject;
}
