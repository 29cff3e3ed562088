/**
 * The first step of every verb: may this user do that? Requests over HTTP were authorized before their bodies were decoded
 * and are not asked about twice; callers in process pass here alone.
 */
import { resourceAttributes } from "../authorization/attributes.ts";
import { authorize as ask } from "../authorization/authorize.ts";
import type { ResourceAttributes } from "../authorization/authorizer.ts";
import type { VerbDeps } from "./deps.ts";
import type { RequestContext, Target } from "./verbs.ts";

/** Throws the 403 a real server answers when the authorizer does not allow it. `fieldSelector`: of verbs that select. */
export function authorize(
  deps: VerbDeps,
  context: RequestContext,
  verb: string,
  target: Target,
  fieldSelector = "",
): void {
  if (context.authorizedVerb === verb) return;
  ask(deps.authorizer, attributesOf(context, verb, target, fieldSelector));
}

export function attributesOf(
  { user }: RequestContext,
  verb: string,
  { resource, subresource, namespace, name }: Target,
  fieldSelector: string,
): ResourceAttributes {
  const { group, version, plural } = resource;
  const asked = { group, version, plural, subresource, namespace, name };
  return resourceAttributes(user, verb, asked, fieldSelector);
}
