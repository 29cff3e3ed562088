/** The first step of every verb: may this user do that? */
import { forbiddenBecause } from "@lifeboat/api";
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
  const allowed = deps.authorizer.allows({
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
  if (allowed) return;
  const what = subresource === "" ? resource.plural : `${resource.plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  throw forbiddenBecause(
    resource,
    name,
    `User "${context.user.name}" cannot ${verb} resource "${what}" in API group "${resource.group}" ${where}`,
  );
}
