/** The indexed rights against a walk over all bindings and rules, after any sequence of changes. */
import { assert, createRandom, type Random } from "@lifeboat/base";
import { describe, expect, test } from "vitest";
import type { Attributes, PolicyRule } from "../authorizer.ts";
import { type BindingView, Rights, type Subject } from "./rights.ts";

const RUNS = 200;
const STEPS = 120;
const FEW_NAMES = 12;
const NAMES = ["", "a", "b", "ns", "*", "__proto__", "constructor", "a/b", "namespace:a"];
const NAMESPACES = ["", "", "ns", "user:x"];
const USERS = ["bob", "eve", "system:serviceaccount:ns:sa", "*", "group:g"];
const GROUPS = ["g", "h", "bob", "*"];
const API_GROUPS = ["", "apps", "*", "toString"];
const PLURALS = ["pods", "deployments", "*", "pods/*"];
const SUBRESOURCES = ["", "log", "scale", "*"];
const RESOURCES = [
  "pods",
  "pods/log",
  "*",
  "*/scale",
  "*/*",
  "deployments/scale",
  "pods/*",
  "deployments",
];
const VERBS = ["get", "list", "*", "impersonate"];
const URLS = ["/api", "/api/*", "*", "/a*b", "/apis/*", "", "/api**"];
const PATHS = ["/api", "/api/", "/api/v1", "/apis/x", "/", "", "/a*b", "/other"];

/** All that is stored; what it allows is decided by looking at everything. */
class Oracle {
  readonly roles = new Map<string, readonly PolicyRule[]>();
  readonly bindings = new Map<string, BindingView>();

  allows(attributes: Attributes): boolean {
    for (const binding of this.bindings.values()) {
      if (!binding.subjects.some((subject) => isSubject(subject, binding, attributes))) continue;
      if (binding.namespace !== "" && attributes.kind === "path") continue;
      if (
        binding.namespace !== "" &&
        attributes.kind === "resource" &&
        binding.namespace !== attributes.namespace
      )
        continue;
      const home = binding.roleRef.kind === "Role" ? binding.namespace : "";
      const rules = this.roles.get(`${home}/${binding.roleRef.name}`) ?? [];
      if (rules.some((rule) => ruleAllows(rule, attributes))) return true;
    }
    return false;
  }
}

function isSubject(subject: Subject, binding: BindingView, { user }: Attributes): boolean {
  if (subject.kind === "User") return subject.name === user.name;
  if (subject.kind === "Group") return user.groups.includes(subject.name);
  if (subject.kind !== "ServiceAccount") return false;
  const home =
    subject.namespace === undefined || subject.namespace === ""
      ? binding.namespace
      : subject.namespace;
  return home !== "" && user.name === `system:serviceaccount:${home}:${subject.name}`;
}

function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  const has = (words: readonly string[] | undefined, word: string): boolean =>
    (words ?? []).some((one) => one === "*" || one === word);
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.kind === "path")
    return (rule.nonResourceURLs ?? []).some(
      (url) =>
        url === "*" ||
        url === attributes.path ||
        (url.endsWith("*") && attributes.path.startsWith(url.replace(/\*+$/u, ""))),
    );
  const { group, plural, subresource, name } = attributes;
  if (!has(rule.apiGroups, group)) return false;
  const whole = subresource === "" ? plural : `${plural}/${subresource}`;
  const covered = (rule.resources ?? []).some(
    (one) => one === "*" || one === whole || (subresource !== "" && one === `*/${subresource}`),
  );
  const names = rule.resourceNames ?? [];
  return covered && (names.length === 0 || names.includes(name));
}

function pick<T extends string | object>(random: Random, from: readonly T[]): T {
  const picked = from[random.below(from.length)];
  assert(picked !== undefined, "there is something to pick from");
  return picked;
}

function some<T extends string | object>(
  random: Random,
  from: readonly T[],
  most: number,
): readonly T[] {
  return Array.from({ length: 1 + random.below(most) }, () => pick(random, from));
}

function anyRule(random: Random): PolicyRule {
  const verbs = some(random, VERBS, 2);
  if (random.below(4) === 0) return { verbs, nonResourceURLs: some(random, URLS, 3) };
  const many = random.below(10) === 0 ? Array.from({ length: 12 }, (_, i) => `v${i}`) : [];
  return {
    verbs: [...verbs, ...many],
    apiGroups: some(random, API_GROUPS, 2),
    resources: some(random, RESOURCES, 3),
    ...(random.below(3) === 0 && { resourceNames: some(random, NAMES, 2) }),
  };
}

function anySubject(random: Random): Subject {
  const kind = pick(random, ["User", "Group", "ServiceAccount", "Robot"]);
  const name = kind === "ServiceAccount" ? "sa" : pick(random, [...USERS, ...GROUPS]);
  return { kind, name, ...(random.below(2) === 0 && { namespace: pick(random, NAMESPACES) }) };
}

function anyQuestion(random: Random): Attributes {
  const user = { name: pick(random, USERS), groups: some(random, GROUPS, 2) };
  const verb = pick(random, VERBS);
  if (random.below(4) === 0) return { kind: "path", user, verb, path: pick(random, PATHS) };
  return {
    kind: "resource",
    user,
    verb,
    group: pick(random, API_GROUPS),
    version: "v1",
    plural: pick(random, PLURALS),
    subresource: pick(random, SUBRESOURCES),
    namespace: pick(random, NAMESPACES),
    name: pick(random, NAMES),
  };
}

/** `names`: of how many roles and bindings. With many, all are bound to one user. */
function step(random: Random, rights: Rights, oracle: Oracle, names: number): void {
  const namespace = pick(random, NAMESPACES);
  const name = `n${random.below(names)}`;
  const key = `${namespace}/${name}`;
  switch (random.below(12)) {
    case 0:
      rights.removeRole(namespace, name);
      oracle.roles.delete(key);
      return;
    case 1:
      rights.removeBinding(namespace, name);
      oracle.bindings.delete(key);
      return;
    case 2:
    case 3:
    case 4:
    case 5: {
      const rules = Array.from({ length: random.below(5) }, () => anyRule(random));
      rights.setRole(namespace, name, rules);
      oracle.roles.set(key, rules);
      return;
    }
    default: {
      const kind = pick(random, ["Role", "ClusterRole"]);
      const roleRef = { kind, name: `n${random.below(names)}` };
      const subjects = Array.from({ length: random.below(4) }, () =>
        names > FEW_NAMES ? { kind: "User", name: "bob" } : anySubject(random),
      );
      const binding = { namespace, name, roleRef, subjects };
      rights.setBinding(binding);
      oracle.bindings.set(key, binding);
    }
  }
}

describe("indexed rights", () => {
  test("answer what a walk over all bindings answers, and keep nothing of what is gone", () => {
    let allowed = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = createRandom(seed);
      const rights = new Rights();
      const oracle = new Oracle();
      for (let i = 0; i < STEPS; i++) {
        step(random, rights, oracle, seed % 2 === 0 ? FEW_NAMES : 3 * FEW_NAMES);
        for (let asked = 0; asked < 5; asked++) {
          const question = anyQuestion(random);
          const want = oracle.allows(question);
          if (want) allowed++;
          const got = rights.allows(question);
          if (got !== want)
            expect({ seed, i, question, got }).toEqual({ seed, i, question, got: want });
          if ((rights.grantOf(question) !== undefined) !== want)
            expect({ seed, i, question, grant: !want }).toEqual({ seed, i, question, grant: want });
        }
      }
      for (const { namespace, name } of oracle.bindings.values())
        rights.removeBinding(namespace, name);
      for (const key of oracle.roles.keys()) {
        const [namespace = "", name = ""] = key.split("/");
        rights.removeRole(namespace, name);
      }
      expect(rights.size).toEqual({ roles: 0, bindings: 0, subjects: 0 });
    }
    // Both answers are well represented, or the test would show nothing.
    expect(allowed).toBeGreaterThan(5000);
    expect(allowed).toBeLessThan(RUNS * STEPS * 4);
  });
});
