/** Delegated authorization: the API server that passed a request on is asked whether its user may do that. */
import type { AnyObject, JsonObject, New, Resource } from "@lifeboat/api";
import type { AggregatedDeps, ResourceAttributes } from "@lifeboat/apiserver";
import type { Client } from "@lifeboat/kit";

const accessReviews: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
};

/** Asks each time: an answer that is kept would outlive the right. */
export function reviewRight(client: Client): AggregatedDeps["review"] {
  return async (attributes) => {
    const answer = await client.create(accessReviews, reviewOf(attributes));
    const status = answer["status"] as
      | { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string }
      | undefined;
    const { allowed = false, denied = false, reason = "" } = status ?? {};
    return { allowed: allowed && !denied, reason };
  };
}

function reviewOf({
  user,
  verb,
  group,
  version,
  plural,
  subresource,
  name,
}: ResourceAttributes): New<AnyObject> {
  const { uid, groups, extra } = user;
  const spec: JsonObject = {
    user: user.name,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
    resourceAttributes: { verb, group, version, resource: plural, subresource, name },
  };
  const apiVersion = `${accessReviews.group}/${accessReviews.version}`;
  return {
    apiVersion,
    kind: accessReviews.kind,
    metadata: {},
    spec,
  };
}
