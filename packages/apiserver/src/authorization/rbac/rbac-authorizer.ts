/**
 * Role-based access control: the Authorizer over the stored roles and bindings.
 *
 * 1. A role or binding counts for every request that comes after the answer to its write: the store notifies its watchers
 *    before it answers.
 * 2. Members of `system:masters` may do everything, whatever is stored: the way in when roles are lost.
 */
import type { Cancel } from "@lifeboat/base";
import type { AnyObject } from "@lifeboat/api";
import type { Change, Store } from "../../store/store.ts";
import type { User } from "../../authentication/user.ts";
import type { Attributes, Authorizer, UserRules } from "../authorizer.ts";
import { isMaster } from "../masters.ts";
import { isAggregated } from "./aggregation.ts";
import { RBAC_GROUP, rulesIn } from "./resources.ts";
import { type BindingView, type Grant, Rights, type RoleRef, type Subject } from "./rights.ts";

/** Also answers what admission has to know about roles. */
export interface RbacAuthorizer extends Authorizer {
  readonly rights: Rights;
  /** The ClusterRoles that gather the rules of others, by name. */
  readonly aggregated: ReadonlyMap<string, AnyObject>;
}

/** Loads the stored roles and bindings and follows them until the store closes. */
export function createRbacAuthorizer(store: Store): RbacAuthorizer {
  const rights = new Rights();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const aggregated = new Map<string, AnyObject>();
  followRoles(store, { rights, aggregated }, tell);
  return {
    rights,
    aggregated,
    allows: (attributes) => isMaster(attributes.user) || rights.allows(attributes),
    reason: (attributes) => reasonOf(rights, attributes),
    rulesOf: (user, namespace) => userRules(rights, user, namespace),
    onChange: (listener): Cancel => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function userRules(rights: Rights, user: User, namespace: string): UserRules {
  const { rules, missing } = rights.rulesOf(user, namespace);
  return { rules, problems: missing };
}

function reasonOf(rights: Rights, attributes: Attributes): string {
  if (isMaster(attributes.user)) return "";
  const grant = rights.grantOf(attributes);
  if (grant !== undefined) return `RBAC: allowed by ${grantText(grant)}`;
  const namespace = attributes.kind === "path" ? "" : attributes.namespace;
  const { missing } = rights.rulesOf(attributes.user, namespace);
  if (missing.length === 0) return "";
  const shown = missing.slice(0, MOST_MISSING_SHOWN);
  return `RBAC: ${shown.length === 1 ? shown[0] : `[${shown.join(", ")}]`}`;
}

const MOST_MISSING_SHOWN = 10;

function grantText({ binding, subject }: Grant): string {
  const { name, namespace, roleRef } = binding;
  const bound =
    namespace === ""
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  const home = subject.kind === "ServiceAccount" ? (subject.namespace ?? namespace) : "";
  const named = JSON.stringify(home === "" ? subject.name : `${subject.name}/${home}`);
  return `${bound} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${named}`;
}

interface Known {
  readonly rights: Rights;
  readonly aggregated: Map<string, AnyObject>;
}

interface Followed {
  readonly table: string;
  set(known: Known, object: AnyObject): void;
  remove(known: Known, object: AnyObject): void;
}

const ROLES: Omit<Followed, "table"> = {
  set: ({ rights, aggregated }, object) => {
    const { namespace = "", name } = object.metadata;
    rights.setRole(namespace, name, rulesIn(object));
    if (namespace !== "") return;
    if (isAggregated(object)) aggregated.set(name, object);
    else aggregated.delete(name);
  },
  remove: ({ rights, aggregated }, { metadata }) => {
    const { namespace = "", name } = metadata;
    rights.removeRole(namespace, name);
    if (namespace === "") aggregated.delete(name);
  },
};
const BINDINGS: Omit<Followed, "table"> = {
  set: ({ rights }, object) => rights.setBinding(bindingView(object)),
  remove: ({ rights }, { metadata }) =>
    rights.removeBinding(metadata.namespace ?? "", metadata.name),
};
const FOLLOWED: readonly Followed[] = [
  { table: `${RBAC_GROUP}/clusterroles`, ...ROLES },
  { table: `${RBAC_GROUP}/roles`, ...ROLES },
  { table: `${RBAC_GROUP}/clusterrolebindings`, ...BINDINGS },
  { table: `${RBAC_GROUP}/rolebindings`, ...BINDINGS },
];

function followRoles(store: Store, known: Known, tell: () => void): void {
  for (const followed of FOLLOWED) {
    const { table } = followed;
    for (const { object } of store.range(table, {})) followed.set(known, object);
    const change = ({ type, entry }: Change): boolean => {
      if (type === "DELETED") followed.remove(known, entry.object);
      else followed.set(known, entry.object);
      tell();
      return true;
    };
    const range = { from: store.revision, needsPrevious: false };
    store.watch(table, range, { change, end: () => undefined });
  }
}

export function bindingView(object: AnyObject): BindingView {
  const { namespace = "", name } = object.metadata;
  const { roleRef, subjects } = object as unknown as {
    readonly roleRef: RoleRef;
    readonly subjects?: readonly Subject[] | null;
  };
  return { namespace, name, roleRef, subjects: subjects ?? [] };
}
