import { expect, test } from "vitest";
import type { Attributes, PolicyRule } from "../authorizer.ts";
import { type BindingView, Rights } from "./rights.ts";

const bob = { name: "bob", groups: ["devs", "system:authenticated"] };
const pods = {
  group: "",
  version: "v1",
  plural: "pods",
  subresource: "",
  namespace: "web",
  name: "",
};

function asks(verb: string, over: Partial<Attributes> = {}): Attributes {
  return { kind: "resource", user: bob, verb, ...pods, ...over } as Attributes;
}

function bound(roleKind: "Role" | "ClusterRole", namespace: string, role = "r"): BindingView {
  return {
    namespace,
    name: "b",
    roleRef: { kind: roleKind, name: role },
    subjects: [{ kind: "User", name: "bob" }],
  };
}

/** What a rule of a ClusterRole that is bound to bob everywhere allows. */
const rows: readonly {
  readonly name: string;
  readonly rule: PolicyRule;
  readonly allows: readonly Attributes[];
  readonly refuses: readonly Attributes[];
}[] = [
  {
    name: "verbs and resources are compared as they are",
    rule: { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
    allows: [asks("get"), asks("get", { name: "a" }), asks("get", { namespace: "" })],
    refuses: [
      asks("list"),
      asks("GET"),
      asks("get", { plural: "pod" }),
      asks("get", { group: "apps" }),
    ],
  },
  {
    name: "a resource does not cover its subresources",
    rule: { verbs: ["*"], apiGroups: [""], resources: ["pods"] },
    allows: [asks("delete")],
    refuses: [asks("get", { subresource: "log" })],
  },
  {
    name: "one subresource of everything",
    rule: { verbs: ["update"], apiGroups: ["*"], resources: ["*/scale"] },
    allows: [asks("update", { subresource: "scale", plural: "deployments", group: "apps" })],
    refuses: [asks("update"), asks("update", { subresource: "status" })],
  },
  {
    name: "pods/* is no pattern",
    rule: { verbs: ["get"], apiGroups: [""], resources: ["pods/*"] },
    allows: [],
    refuses: [asks("get"), asks("get", { subresource: "log" })],
  },
  {
    name: "* covers resources and subresources",
    rule: { verbs: ["get"], apiGroups: ["*"], resources: ["*"] },
    allows: [asks("get"), asks("get", { subresource: "log" }), asks("get", { group: "x" })],
    refuses: [asks("list"), { kind: "path", user: bob, verb: "get", path: "/api" }],
  },
  {
    name: "names",
    rule: { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
    allows: [asks("get", { name: "a" }), asks("list", { name: "a" })],
    refuses: [asks("get", { name: "b" }), asks("list"), asks("get", { name: "*" })],
  },
  {
    name: "a name of * is a name",
    rule: { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["*"] },
    allows: [asks("get", { name: "*" })],
    refuses: [asks("get", { name: "a" }), asks("get")],
  },
  {
    name: "paths",
    rule: { verbs: ["get"], nonResourceURLs: ["/a", "/b/*"] },
    allows: ["/a", "/b/", "/b/c/d"].map((path) => ({ kind: "path", user: bob, verb: "get", path })),
    refuses: ["/a/", "/b", "/ab", ""].map((path) => ({
      kind: "path",
      user: bob,
      verb: "get",
      path,
    })),
  },
];

for (const { name, rule, allows, refuses } of rows)
  test(name, () => {
    const rights = new Rights();
    rights.setRole("", "r", [rule]);
    rights.setBinding(bound("ClusterRole", ""));
    for (const question of allows)
      expect({ question, ok: rights.allows(question) }).toEqual({ question, ok: true });
    for (const question of refuses)
      expect({ question, ok: rights.allows(question) }).toEqual({ question, ok: false });
  });

test("a ClusterRole that is bound in a namespace counts there alone, and gives no paths", () => {
  const rights = new Rights();
  rights.setRole("", "r", [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["*"], nonResourceURLs: ["*"] },
  ]);
  rights.setBinding(bound("ClusterRole", "web"));
  expect(rights.allows(asks("get"))).toBe(true);
  expect(rights.allows(asks("get", { namespace: "other" }))).toBe(false);
  expect(rights.allows(asks("list", { namespace: "" }))).toBe(false);
  expect(rights.allows({ kind: "path", user: bob, verb: "get", path: "/api" })).toBe(false);
});

test("a Role of one namespace is not the Role of that name in another", () => {
  const rights = new Rights();
  rights.setRole("other", "r", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
  rights.setRole("", "r", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
  rights.setBinding(bound("Role", "web"));
  expect(rights.allows(asks("get"))).toBe(false);
  expect(rights.rulesOf(bob, "web").missing).toEqual([
    'role.rbac.authorization.k8s.io "r" not found',
  ]);
  rights.setRole("web", "r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]);
  expect(rights.allows(asks("get"))).toBe(true);
  rights.removeRole("web", "r");
  expect(rights.allows(asks("get"))).toBe(false);
});

test("a user is no group of that name, and a ServiceAccount is of one namespace", () => {
  const rights = new Rights();
  rights.setRole("", "r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]);
  const subjects = [
    { kind: "User", name: "devs" },
    { kind: "Group", name: "bob" },
    { kind: "ServiceAccount", name: "sa" },
  ];
  rights.setBinding({ ...bound("ClusterRole", "web"), subjects });
  expect(rights.allows(asks("get"))).toBe(false);
  const account = (namespace: string): Attributes =>
    asks("get", { user: { name: `system:serviceaccount:${namespace}:sa`, groups: [] } });
  expect(rights.allows(account("web"))).toBe(true);
  expect(rights.allows(account("other"))).toBe(false);
});

test("a role of thousands of words stays as large as its words", () => {
  const words = (letter: string): readonly string[] =>
    Array.from({ length: 20_000 }, (_, i) => `${letter}${i}`);
  const rights = new Rights();
  // Their product is 1.6e17: an index of all combinations would end the process.
  rights.setRole("", "r", [
    { verbs: words("v"), apiGroups: words("g"), resources: words("r"), resourceNames: words("n") },
  ]);
  rights.setBinding(bound("ClusterRole", ""));
  const last = { group: "g19999", plural: "r19999", name: "n19999" };
  expect(rights.allows(asks("v19999", last))).toBe(true);
  expect(rights.allows(asks("v20000", last))).toBe(false);
});

test("of ten thousand bindings, those of others cost nothing and those of one subject a lookup", () => {
  const rights = new Rights();
  const rule = (name: string): PolicyRule[] => [
    { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: [name] },
  ];
  for (let i = 0; i < 10_000; i++) {
    rights.setRole("", `role-${i}`, rule(`pod-${i}`));
    const roleRef = { kind: "ClusterRole", name: `role-${i}` };
    const subjects = [{ kind: "Group", name: "devs" }];
    rights.setBinding({ namespace: "", name: `b-${i}`, roleRef, subjects });
  }
  expect(rights.allows(asks("get", { name: "pod-9999" }))).toBe(true);
  expect(rights.allows(asks("get", { name: "pod-10000" }))).toBe(false);
  rights.removeBinding("", "b-9999");
  expect(rights.allows(asks("get", { name: "pod-9999" }))).toBe(false);
  rights.setRole("", "role-1", rule("pod-10000"));
  expect(rights.allows(asks("get", { name: "pod-10000" }))).toBe(true);
});
