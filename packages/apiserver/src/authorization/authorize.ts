/** The one way to ask the authorizer: what it does not allow is refused with the 403 that a real server answers. */
import { failure, forbiddenBecause, Refused } from "@lifeboat/api";
import type { Attributes, Authorizer } from "./authorizer.ts";

/** Throws when the authorizer does not allow the action. */
export function authorize(authorizer: Authorizer, attributes: Attributes): void {
  if (!authorizer.allows(attributes)) throw forbiddenAction(authorizer, attributes);
}

/** The refusal of an action that the authorizer does not allow. */
export function forbiddenAction(authorizer: Authorizer, attributes: Attributes): Refused {
  return forbiddenFor(attributes, authorizer.reason(attributes));
}

/** The refusal of an action; the reason may be empty. */
export function forbiddenFor(attributes: Attributes, reason: string): Refused {
  const user = JSON.stringify(attributes.user.name);
  const because = reason === "" ? "" : `: ${reason}`;
  if (attributes.kind === "path") {
    const message = `forbidden: User ${user} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}${because}`;
    return new Refused(failure(403, "Forbidden", message, {}));
  }
  const { verb, plural, subresource, group, namespace, name } = attributes;
  const resource = subresource === "" ? plural : `${plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return forbiddenBecause(
    { group, plural },
    name,
    `User ${user} cannot ${verb} resource "${resource}" in API group "${group}" ${where}${because}`,
  );
}
