/**
 * Names that follow from other names. Clients compute them too, so they are kept byte for byte.
 *
 * 1. A binding is found from its template, a Work from the object it holds, an execution namespace from its cluster.
 * 2. Work names carry a hash of namespace, name and kind: objects of different kinds or namespaces share one
 *    execution namespace without meeting.
 */
import { safeHash } from "../../placement/division/hash.ts";
import { DEPENDED_BY_PREFIX, EXECUTION_NAMESPACE_PREFIX } from "../../well-known.ts";

export interface ObjectName {
  readonly kind: string;
  /** "" at cluster scope. */
  readonly namespace: string;
  readonly name: string;
}

/** The binding of a template: `nginx-deployment`. */
export function bindingName(kind: string, name: string): string {
  return `${name.replaceAll(":", ".")}-${kind}`.toLowerCase();
}

/** The Work that holds an object: `nginx-687f7fb96f`. */
export function workName(object: ObjectName): string {
  const name = object.name.replaceAll(":", ".").toLowerCase();
  const prefix = object.namespace === "" ? "" : `${object.namespace}-`;
  return `${name}-${safeHash(`${prefix}${name}-${object.kind}`.toLowerCase())}`;
}

/** The namespace of a cluster's Works. */
export function executionNamespace(cluster: string): string {
  return EXECUTION_NAMESPACE_PREFIX + cluster;
}

/** The cluster of an execution namespace; undefined for any other namespace. */
export function clusterOfExecutionNamespace(namespace: string): string | undefined {
  if (!namespace.startsWith(EXECUTION_NAMESPACE_PREFIX)) return undefined;
  return namespace.slice(EXECUTION_NAMESPACE_PREFIX.length) || undefined;
}

/** The label that a binding bears while this other binding depends on it. */
export function dependedByLabel(namespace: string, name: string): string {
  return DEPENDED_BY_PREFIX + safeHash(`${namespace}/${name}`);
}
