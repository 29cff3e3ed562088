/**
 * Which verb a request on a resource path means, and whether the resource offers it. Collections over all namespaces of
 * a namespaced resource can only be listed and watched.
 */
import { failure, Refused } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { ResourcePath } from "./path.ts";

export type ResourceVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/** The verb by method and path alone, before anything is known about the resource; undefined when there is none. */
export function verbOf(
  method: string,
  path: ResourcePath,
  isWatch: boolean,
): ResourceVerb | undefined {
  const isNamed = path.name !== "";
  switch (method) {
    case "GET":
      if (path.watch || (!isNamed && isWatch)) return "watch";
      return isNamed ? "get" : "list";
    case "POST":
      return isNamed && path.subresource === "" ? undefined : "create";
    case "PUT":
      return isNamed ? "update" : undefined;
    case "PATCH":
      return isNamed ? "patch" : undefined;
    case "DELETE":
      return isNamed ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

/** The verb of a request for a member, by its method alone: what the member takes it for is the member's matter. */
export function memberVerbOf(method: string): ResourceVerb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      return "get";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return "delete";
    default:
      return undefined;
  }
}

/** Refuses with 404 when the path leads to nothing of this resource, with 405 when the verb is not offered there. */
export function checkOffered(
  resource: ServedResource,
  path: ResourcePath,
  verb: ResourceVerb | undefined,
): void {
  if (!pathFits(resource, path)) throw resourceNotFound();
  if (verb === undefined || !offers(resource, path, verb)) throw methodNotAllowed();
}

/** The 404 inside a group and version that exist. */
export function resourceNotFound(): Refused {
  const message = "the server could not find the requested resource";
  return new Refused(failure(404, "NotFound", message, {}));
}

export function methodNotAllowed(): Refused {
  const message = "the server does not allow this method on the requested resource";
  return new Refused(failure(405, "MethodNotAllowed", message, {}));
}

const NAMED_VERBS: readonly string[] = ["get", "update", "patch", "delete"];
const POSTED_SUBRESOURCES: readonly string[] = ["binding", "eviction", "token"];
const SUBRESOURCE_VERBS: readonly string[] = ["get", "update", "patch"];

function pathFits(resource: ServedResource, path: ResourcePath): boolean {
  if (path.namespace !== "" && !resource.namespaced) return false;
  const isNamed = path.name !== "";
  if (isNamed && resource.namespaced && path.namespace === "") return false;
  if (isNamed && !resource.verbs.some((verb) => NAMED_VERBS.includes(verb))) return false;
  return path.subresource === "" || hasSubresource(resource, path.subresource);
}

function hasSubresource(resource: ServedResource, name: string): boolean {
  const { status, scale, finalize, approval, binding, eviction, token } = resource.subresources;
  if (name === "binding") return binding === true;
  if (name === "eviction") return eviction === true;
  if (name === "token") return token === true;
  if (name === "status") return status === true;
  if (name === "scale") return scale !== undefined;
  if (name === "approval") return approval === true;
  return name === "finalize" && finalize === true;
}

function offers(resource: ServedResource, path: ResourcePath, verb: ResourceVerb): boolean {
  if (path.subresource === "finalize") return verb === "update";
  if (POSTED_SUBRESOURCES.includes(path.subresource)) return verb === "create";
  if (path.subresource !== "") return SUBRESOURCE_VERBS.includes(verb);
  const overAllNamespaces = resource.namespaced && path.namespace === "" && path.name === "";
  if (overAllNamespaces && verb !== "list" && verb !== "watch")
    return resource.virtual === true && resource.verbs.includes(verb);
  // Discovery hides the changing verbs of a custom resource that is going away; finalizers must still come off.
  return resource.custom || resource.verbs.includes(verb);
}
