/**
 * No user grants what it does not hold: a role is written only with rights that its writer has (or with the verb
 * `escalate` on it), and bound only by a user that has all its rights (or the verb `bind` on it). Texts are those of a real
 * server, because clients show them.
 *
 * 1. A change that grants nothing passes unasked: neither rules nor subjects differ, and every aggregated role gathers
 *    the role as before. A real server lets only finalizers and owners pass; here a controller that labels what it
 *    propagates needs no right to grant.
 * 2. An aggregated role can gather anything: its selectors are for users that may do everything.
 * 3. The rights that count are those at cluster scope, and of a namespaced role or binding those of its namespace.
 */
import { type AnyObject, equalJson, forbiddenBecause, notFound, type Refused } from "@lifeboat/api";
import type { PolicyRule } from "../authorization/authorizer.ts";
import { isMaster } from "../authorization/masters.ts";
import { gathers, isAggregated } from "../authorization/rbac/aggregation.ts";
import { missingRights } from "../authorization/rbac/missing-rights.ts";
import { bindingView, type RbacAuthorizer } from "../authorization/rbac/rbac-authorizer.ts";
import { RBAC_GROUP, rulesIn } from "../authorization/rbac/resources.ts";
import type { RoleRef } from "../authorization/rbac/rights.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export function createRoleEscalation(authorizer: RbacAuthorizer): AdmissionPlugin {
  return {
    name: "RoleEscalation",
    handles: ({ resource, operation, subresource }) =>
      resource.group === RBAC_GROUP && operation !== "DELETE" && subresource === "",
    validate: (request) => {
      if (isMaster(request.user) || grantsNothingNew(authorizer, request)) return;
      if (request.resource.kind.endsWith("Binding")) checkBinding(authorizer, request);
      else checkRole(authorizer, request);
    },
  };
}

function checkRole(authorizer: RbacAuthorizer, request: AdmissionRequest): void {
  const object = request.object as AnyObject;
  const { user, resource, namespace, name } = request;
  const { group, version, plural } = resource;
  const attributes = { user, group, version, plural, subresource: "", namespace, name } as const;
  if (authorizer.allows({ kind: "resource", verb: "escalate", ...attributes })) return;
  refuseUnheld(authorizer, request, rulesIn(object));
  if (!isAggregated(object) && !isAggregated(request.old)) return;
  if (missingRights(authorizer.rights, user, "", EVERYTHING).length > 0)
    throw refusal(request, "must have cluster-admin privileges to use the aggregationRule");
}

function checkBinding(authorizer: RbacAuthorizer, request: AdmissionRequest): void {
  const { roleRef } = bindingView(request.object as AnyObject);
  const { user, namespace } = request;
  if (mayBind(authorizer, request, roleRef)) return;
  const home = roleRef.kind === "Role" ? namespace : "";
  const rules = authorizer.rights.rulesOfRole(home, roleRef.name);
  // The user has the right to write bindings and learns no more than that; the words name the binding's resource.
  if (rules === undefined) throw notFound(request.resource, roleRef.name);
  refuseUnheld(authorizer, request, rules, user);
}

function mayBind(
  authorizer: RbacAuthorizer,
  { user, namespace }: AdmissionRequest,
  roleRef: RoleRef,
): boolean {
  return authorizer.allows({
    kind: "resource",
    user,
    verb: "bind",
    group: RBAC_GROUP,
    version: "v1",
    plural: roleRef.kind === "Role" ? "roles" : "clusterroles",
    subresource: "",
    namespace,
    name: roleRef.name,
  });
}

function refuseUnheld(
  authorizer: RbacAuthorizer,
  request: AdmissionRequest,
  rules: readonly PolicyRule[],
  user = request.user,
): void {
  const { rights } = authorizer;
  const missing = missingRights(rights, user, request.namespace, rules);
  if (missing.length === 0) return;
  const groups = user.groups.map((group) => JSON.stringify(group)).join(" ");
  const { problems } = authorizer.rulesOf(user, request.namespace);
  const unresolved = problems.length === 0 ? "" : `; resolution errors: [${problems.join(", ")}]`;
  throw refusal(
    request,
    `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${missing.join("\n")}${unresolved}`,
  );
}

function refusal({ resource, name }: AdmissionRequest, detail: string): Refused {
  return forbiddenBecause(resource, name, detail);
}

/** Whether what the object grants, and where it is gathered, stays as it is. */
function grantsNothingNew(
  { aggregated }: RbacAuthorizer,
  { object, old }: AdmissionRequest,
): boolean {
  if (object === undefined || old === undefined) return false;
  if (!equalJson(withoutMetadata(object), withoutMetadata(old))) return false;
  if (equalJson(object.metadata.labels, old.metadata.labels)) return true;
  if (object.kind !== "ClusterRole") return true;
  for (const role of aggregated.values())
    if (gathers(role, object) !== gathers(role, old)) return false;
  return true;
}

function withoutMetadata(object: AnyObject): object {
  return { ...object, metadata: undefined };
}
