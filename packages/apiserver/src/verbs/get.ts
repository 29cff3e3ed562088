/** GET of one object, its status or its scale. */
import { notFound } from "@lifeboat/api";
import { authorize } from "./authorize.ts";
import type { VerbDeps } from "./deps.ts";
import { methodNotAllowed } from "./refusals.ts";
import { plainVersion, waitForVersion } from "./resource-version.ts";
import { scaleOf } from "./scale.ts";
import { isServedSubresource } from "./subresources.ts";
import type { Found, RequestContext, Target } from "./verbs.ts";
import { storeKey } from "./write-object.ts";

export async function get(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  resourceVersion: string,
): Promise<Found> {
  authorize(deps, context, "get", target);
  if (!isServedSubresource(target) || target.subresource === "finalize")
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  if (resourceVersion !== "" && resourceVersion !== "0")
    await waitForVersion(deps, plainVersion(resourceVersion), context.signal);
  const entry = deps.store.get(target.resource.table, storeKey(target));
  if (entry === undefined) throw notFound(target.resource, target.name);
  const found = deps.views.of(target.resource, entry);
  return target.subresource === "scale"
    ? { object: scaleOf(target.resource, found.object) }
    : found;
}
