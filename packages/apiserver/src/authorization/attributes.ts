/**
 * What the authorizer is asked about a request for a resource, made in one place for requests over HTTP and in process, so
 * that both ask the same question.
 *
 * 1. A list, watch or deletion of a collection whose field selector leaves one name asks with that name: a rule with
 *    `resourceNames` then covers it. The selection admits no other object, whatever else the selector holds.
 * 2. A request for one Namespace asks in that namespace: a role that is bound there covers it.
 */
import { parseFieldSelector, Refused } from "@lifeboat/api";
import type { User } from "../authentication/user.ts";
import type { ResourceAttributes } from "./authorizer.ts";

export interface AskedFor {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export function resourceAttributes(
  user: User,
  verb: string,
  asked: AskedFor,
  fieldSelector: string,
): ResourceAttributes {
  const { group, version, plural, subresource } = asked;
  const name =
    asked.name === "" && fieldSelector !== "" && SELECTING_VERBS.has(verb)
      ? nameSelectedBy(fieldSelector)
      : asked.name;
  const isNamespace = plural === "namespaces" && group === "" && asked.namespace === "";
  const namespace = isNamespace ? asked.name : asked.namespace;
  return { kind: "resource", user, verb, group, version, plural, subresource, namespace, name };
}

const SELECTING_VERBS: ReadonlySet<string> = new Set(["list", "watch", "deletecollection"]);

/** The name that every selected object has; "" when there is none. A selector that cannot be read is refused by the verb. */
function nameSelectedBy(fieldSelector: string): string {
  try {
    const terms = parseFieldSelector(fieldSelector);
    return (
      terms.find((term) => term.field === "metadata.name" && term.operator === "=")?.value ?? ""
    );
  } catch (error) {
    if (error instanceof Refused) return "";
    throw error;
  }
}
