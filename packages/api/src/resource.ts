/** Which collection of the API a call addresses. `T` is the type of its objects. */
import type { AnyObject, KubeObject } from "./object.ts";

declare const objectType: unique symbol;

export interface Resource<T extends KubeObject = AnyObject> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  /** The name in URLs: `deployments`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never present; it carries the type. */
  readonly [objectType]?: T;
}

/** The same collection for code that knows its objects by another type: by fewer fields, or as an informer's `transform` makes them. */
export function keptAs<T extends KubeObject>({
  group,
  version,
  plural,
  kind,
  namespaced,
}: Resource<KubeObject>): Resource<T> {
  return { group, version, plural, kind, namespaced };
}

/** `apps/v1`, or `v1` in the core group. */
export function apiVersionOf(resource: {
  readonly group: string;
  readonly version: string;
}): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

export function parseApiVersion(apiVersion: string): {
  readonly group: string;
  readonly version: string;
} {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `deployments.apps`, or `configmaps`: the way messages and CRD names write a resource. */
export function qualifiedName(resource: {
  readonly group: string;
  readonly plural: string;
}): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** The URL path of a collection, of one object, or of an object's subresource. */
export function resourcePath(
  resource: Resource<KubeObject>,
  namespace: string,
  name = "",
  subresource = "",
): string {
  const root =
    resource.group === ""
      ? `/api/${resource.version}`
      : `/apis/${resource.group}/${resource.version}`;
  const scope =
    resource.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const tail =
    (name === "" ? "" : `/${encodeURIComponent(name)}`) +
    (subresource === "" ? "" : `/${subresource}`);
  return `${root}${scope}/${resource.plural}${tail}`;
}
