/**
 * Which subject may do what: roles and bindings, indexed so that one decision looks only at what is bound to the user and
 * its groups, at cluster scope and in the namespace of the request.
 *
 *   subject → cluster scope, and each namespace → roles → rules (rule-index.ts)
 *
 * 1. No decision walks over all bindings, or over all bindings of a subject: a subject with more than a few roles in one
 *    scope gets an index of all of them, made when it is first asked and dropped when one of them changes.
 * 2. A binding whose role does not exist gives nothing, and gives it once the role exists.
 * 3. A role of a namespace gives rights in that namespace alone, whatever it is called elsewhere. A ClusterRole gives them
 *    everywhere by a ClusterRoleBinding, in one namespace by a RoleBinding, which then gives no paths.
 * 4. Rights add up; nothing takes away. The answers equal those of a walk over all bindings (rights.prop.test.ts).
 */
import type { Attributes, PolicyRule, ResourceAttributes } from "../authorizer.ts";
import type { User } from "../../authentication/user.ts";
import { type CompiledRule, compileRules, type ResourceQuestion, RuleIndex } from "./rule-index.ts";

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/** A RoleBinding, or with the namespace "" a ClusterRoleBinding. */
export interface BindingView {
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

/** Which binding allows, of which role, to which subject. */
export interface Grant {
  readonly binding: BindingView;
  readonly subject: Subject;
}

/** More roles than these, in one scope of one subject, get an index of their own. */
const FEW_ROLES = 8;

/** One role; there as long as the role or a binding to it is. */
interface RoleSlot {
  readonly key: string;
  role:
    | {
        readonly rules: readonly PolicyRule[];
        readonly compiled: readonly CompiledRule[];
        readonly index: RuleIndex;
      }
    | undefined;
  readonly scopes: Set<Scope>;
}

/** What is bound to one subject at cluster scope, or in one namespace. */
interface Scope {
  readonly grants: Map<string, Grant & { readonly slot: RoleSlot }>;
  /** How many grants each role has here. */
  readonly roles: Map<RoleSlot, number>;
  merged: RuleIndex | undefined;
}

type Scopes = Map<string, Scope>;

export class Rights {
  readonly #roles = new Map<string, RoleSlot>();
  readonly #bindings = new Map<string, BindingView>();
  readonly #subjects = new Map<string, Scopes>();

  /** `namespace`: "" for a ClusterRole. */
  setRole(namespace: string, name: string, rules: readonly PolicyRule[]): void {
    const slot = this.#slot(roleKey(namespace, name));
    const compiled = compileRules(rules);
    slot.role = { rules, compiled, index: new RuleIndex(compiled) };
    for (const scope of slot.scopes) scope.merged = undefined;
  }

  removeRole(namespace: string, name: string): void {
    const slot = this.#roles.get(roleKey(namespace, name));
    if (slot === undefined) return;
    slot.role = undefined;
    for (const scope of slot.scopes) scope.merged = undefined;
    this.#dropUnused(slot);
  }

  setBinding(binding: BindingView): void {
    this.removeBinding(binding.namespace, binding.name);
    const key = roleKey(binding.namespace, binding.name);
    this.#bindings.set(key, binding);
    const slot = this.#slot(roleKeyOf(binding));
    for (const subject of binding.subjects) {
      const named = subjectKey(subject, binding.namespace);
      if (named !== undefined) this.#grant(named, key, { binding, subject, slot });
    }
    this.#dropUnused(slot);
  }

  removeBinding(namespace: string, name: string): void {
    const key = roleKey(namespace, name);
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    for (const subject of binding.subjects) {
      const named = subjectKey(subject, namespace);
      if (named !== undefined) this.#withdraw(named, key, namespace);
    }
    const slot = this.#roles.get(roleKeyOf(binding));
    if (slot !== undefined) this.#dropUnused(slot);
  }

  allows(attributes: Attributes): boolean {
    const { user, verb } = attributes;
    if (attributes.kind === "path") return this.holdsPath(user, "", verb, attributes.path);
    return this.holds(user, attributes.namespace, questionOf(attributes));
  }

  /** Whether the user has this right at cluster scope or in the namespace. */
  holds(user: User, namespace: string, question: ResourceQuestion): boolean {
    return this.#some(user, namespace, (index) => index.allowsResource(question));
  }

  /** The same for a path. What is bound in a namespace opens no path; it counts only for what the user may bind there. */
  holdsPath(user: User, namespace: string, verb: string, path: string): boolean {
    return this.#some(user, namespace, (index) => index.allowsPath(verb, path));
  }

  /** A binding that allows it; undefined when none does. Walks the bindings of the user and its groups. */
  grantOf(attributes: Attributes): Grant | undefined {
    const asks = asking(attributes);
    const namespace = attributes.kind === "path" ? "" : attributes.namespace;
    for (const scope of this.#scopesOf(attributes.user, namespace))
      for (const grant of scope.grants.values())
        if (grant.slot.role !== undefined && asks(grant.slot.role.index)) return grant;
    return undefined;
  }

  /** The rules of all roles that are bound to the user, and the roles that are bound and missing. */
  rulesOf(
    user: User,
    namespace: string,
  ): { readonly rules: readonly PolicyRule[]; readonly missing: readonly string[] } {
    const rules: PolicyRule[] = [];
    const missing = new Set<string>();
    const seen = new Set<RoleSlot>();
    for (const scope of this.#scopesOf(user, namespace))
      for (const slot of scope.roles.keys()) {
        if (seen.has(slot)) continue;
        seen.add(slot);
        if (slot.role === undefined) missing.add(slot.key);
        else for (const rule of slot.role.rules) rules.push(rule);
      }
    return { rules, missing: [...missing].map(roleNotFound) };
  }

  /** The rules of a role; undefined when it does not exist. */
  rulesOfRole(namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(roleKey(namespace, name))?.role?.rules;
  }

  /** How much is held; for tests about what stays behind. */
  get size(): { readonly roles: number; readonly bindings: number; readonly subjects: number } {
    return {
      roles: this.#roles.size,
      bindings: this.#bindings.size,
      subjects: this.#subjects.size,
    };
  }

  /** At cluster scope first, of the user first, then of its groups. */
  *#scopesOf(user: User, namespace: string): Generator<Scope> {
    const subjects = [userKey(user.name), ...user.groups.map(groupKey)];
    for (const place of namespace === "" ? [""] : ["", namespace])
      for (const subject of subjects) {
        const scope = this.#subjects.get(subject)?.get(place);
        if (scope !== undefined) yield scope;
      }
  }

  #some(user: User, namespace: string, asks: (index: RuleIndex) => boolean): boolean {
    if (inScopes(this.#subjects.get(userKey(user.name)), namespace, asks)) return true;
    for (const group of user.groups)
      if (inScopes(this.#subjects.get(groupKey(group)), namespace, asks)) return true;
    return false;
  }

  #slot(key: string): RoleSlot {
    let slot = this.#roles.get(key);
    if (slot === undefined) {
      slot = { key, role: undefined, scopes: new Set() };
      this.#roles.set(key, slot);
    }
    return slot;
  }

  #dropUnused(slot: RoleSlot): void {
    if (slot.role === undefined && slot.scopes.size === 0) this.#roles.delete(slot.key);
  }

  #grant(subject: string, binding: string, grant: Grant & { readonly slot: RoleSlot }): void {
    const scopes = valueOf(this.#subjects, subject, () => new Map<string, Scope>());
    const scope = valueOf(scopes, grant.binding.namespace, newScope);
    if (scope.grants.has(binding)) return;
    scope.grants.set(binding, grant);
    const { slot } = grant;
    scope.roles.set(slot, (scope.roles.get(slot) ?? 0) + 1);
    scope.merged = undefined;
    slot.scopes.add(scope);
  }

  #withdraw(subject: string, binding: string, namespace: string): void {
    const scopes = this.#subjects.get(subject);
    const scope = scopes?.get(namespace);
    const grant = scope?.grants.get(binding);
    if (scopes === undefined || scope === undefined || grant === undefined) return;
    scope.grants.delete(binding);
    scope.merged = undefined;
    const left = (scope.roles.get(grant.slot) ?? 1) - 1;
    if (left > 0) scope.roles.set(grant.slot, left);
    else {
      scope.roles.delete(grant.slot);
      grant.slot.scopes.delete(scope);
    }
    if (scope.grants.size === 0) scopes.delete(namespace);
    if (scopes.size === 0) this.#subjects.delete(subject);
  }
}

/** The question about a resource, as rules are asked. */
function questionOf(attributes: ResourceAttributes): ResourceQuestion {
  const { verb, group, plural, subresource, name } = attributes;
  const resource = subresource === "" ? plural : `${plural}/${subresource}`;
  return { verb, group, resource, subresource, name };
}

function asking(attributes: Attributes): (index: RuleIndex) => boolean {
  if (attributes.kind === "path") {
    const { verb, path } = attributes;
    return (index) => index.allowsPath(verb, path);
  }
  const question = questionOf(attributes);
  return (index) => index.allowsResource(question);
}

function inScopes(
  scopes: Scopes | undefined,
  namespace: string,
  asks: (index: RuleIndex) => boolean,
): boolean {
  if (scopes === undefined) return false;
  return (
    inScope(scopes.get(""), asks) || (namespace !== "" && inScope(scopes.get(namespace), asks))
  );
}

function inScope(scope: Scope | undefined, asks: (index: RuleIndex) => boolean): boolean {
  if (scope === undefined) return false;
  if (scope.roles.size > FEW_ROLES) {
    scope.merged ??= new RuleIndex(allRules(scope));
    return asks(scope.merged);
  }
  for (const { role } of scope.roles.keys())
    if (role !== undefined && asks(role.index)) return true;
  return false;
}

function* allRules(scope: Scope): Generator<CompiledRule> {
  for (const { role } of scope.roles.keys()) if (role !== undefined) yield* role.compiled;
}

function newScope(): Scope {
  return { grants: new Map(), roles: new Map(), merged: undefined };
}

function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function roleKeyOf({ roleRef, namespace }: BindingView): string {
  return roleKey(roleRef.kind === "Role" ? namespace : "", roleRef.name);
}

function roleNotFound(key: string): string {
  const kind = key.startsWith("/") ? "clusterrole" : "role";
  return `${kind}.rbac.authorization.k8s.io ${JSON.stringify(key.slice(key.indexOf("/") + 1))} not found`;
}

function userKey(name: string): string {
  return `user:${name}`;
}

function groupKey(name: string): string {
  return `group:${name}`;
}

/** Undefined for a subject of a kind that is none. A ServiceAccount of a RoleBinding is, by default, one of its namespace. */
function subjectKey(subject: Subject, bindingNamespace: string): string | undefined {
  switch (subject.kind) {
    case "User":
      return userKey(subject.name);
    case "Group":
      return groupKey(subject.name);
    case "ServiceAccount": {
      const namespace = subject.namespace ?? "";
      const home = namespace === "" ? bindingNamespace : namespace;
      return home === "" ? undefined : userKey(`system:serviceaccount:${home}:${subject.name}`);
    }
    default:
      return undefined;
  }
}

function valueOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
