/**
 * What the pods of a workload refer to in their own namespace: ConfigMaps, Secrets, claims and the service account.
 *
 * 1. Every reference is listed once, sorted by kind and name.
 * 2. The service account `default` exists in every namespace and is not listed.
 */
import { compareText, type Fields, fieldsAt, listAt, textAt } from "../../fields.ts";
import type { Dependency } from "./interpreter.ts";

type Kind = "ConfigMap" | "Secret" | "PersistentVolumeClaim" | "ServiceAccount";

/** Volume types that name a Secret, and the field that does. */
const SECRETS_OF_VOLUMES: readonly (readonly string[])[] = [
  ["secret", "secretName"],
  ["azureFile", "secretName"],
  ["cephfs", "secretRef", "name"],
  ["cinder", "secretRef", "name"],
  ["flexVolume", "secretRef", "name"],
  ["rbd", "secretRef", "name"],
  ["scaleIO", "secretRef", "name"],
  ["iscsi", "secretRef", "name"],
  ["storageos", "secretRef", "name"],
  ["csi", "nodePublishSecretRef", "name"],
];

/** Dependencies of an object whose pods have this spec. */
export function podDependencies(object: Fields, podSpec: Fields): Dependency[] {
  const names = new References();
  for (const list of ["initContainers", "containers", "ephemeralContainers"])
    for (const container of listAt(podSpec, list)) readContainer(names, container);
  for (const volume of listAt(podSpec, "volumes")) readVolume(names, volume);
  for (const secret of listAt(podSpec, "imagePullSecrets"))
    names.add("Secret", textAt(secret, "name"));
  const account = textAt(podSpec, "serviceAccountName") || textAt(podSpec, "serviceAccount");
  if (account !== "default") names.add("ServiceAccount", account);
  return names.inNamespace(textAt(object, "metadata", "namespace"));
}

/** Secrets of an object, each once. */
export function secretDependencies(object: Fields, secrets: readonly string[]): Dependency[] {
  const names = new References();
  for (const name of secrets) names.add("Secret", name);
  return names.inNamespace(textAt(object, "metadata", "namespace"));
}

function readContainer(names: References, container: unknown): void {
  for (const source of listAt(container, "envFrom")) {
    names.add("ConfigMap", textAt(source, "configMapRef", "name"));
    names.add("Secret", textAt(source, "secretRef", "name"));
  }
  for (const variable of listAt(container, "env")) {
    const source = fieldsAt(variable, "valueFrom");
    names.add("ConfigMap", textAt(source, "configMapKeyRef", "name"));
    names.add("Secret", textAt(source, "secretKeyRef", "name"));
  }
}

function readVolume(names: References, volume: unknown): void {
  names.add("ConfigMap", textAt(volume, "configMap", "name"));
  names.add("PersistentVolumeClaim", textAt(volume, "persistentVolumeClaim", "claimName"));
  for (const path of SECRETS_OF_VOLUMES) names.add("Secret", textAt(volume, ...path));
  for (const source of listAt(volume, "projected", "sources")) {
    names.add("ConfigMap", textAt(source, "configMap", "name"));
    names.add("Secret", textAt(source, "secret", "name"));
  }
}

class References {
  readonly #seen = new Map<string, { readonly kind: Kind; readonly name: string }>();

  add(kind: Kind, name: string): void {
    if (name !== "") this.#seen.set(`${kind}/${name}`, { kind, name });
  }

  inNamespace(namespace: string): Dependency[] {
    return [...this.#seen]
      .sort(([a], [b]) => compareText(a, b))
      .map(([, { kind, name }]) => ({
        apiVersion: "v1",
        kind,
        ...(namespace === "" ? {} : { namespace }),
        name,
      }));
  }
}
