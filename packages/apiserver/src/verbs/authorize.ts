/** The first step of every verb: may this user do that? Callers in process pass here alone, requests for the second time. */
import { authorize as ask } from "../authorization/authorize.ts";
import type { VerbDeps } from "./deps.ts";
import type { RequestContext, Target } from "./verbs.ts";

/** Throws the 403 a real server answers when the authorizer says no. */
export function authorize(
  deps: VerbDeps,
  context: RequestContext,
  verb: string,
  target: Target,
): void {
  const { resource, namespace, name, subresource } = target;
  ask(deps.authorizer, {
    kind: "resource",
    user: context.user,
    verb,
    group: resource.group,
    version: resource.version,
    plural: resource.plural,
    subresource,
    namespace,
    name,
  });
}
