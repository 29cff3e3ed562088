import { describe, expect, it } from "vitest";
import { type AuditAttributes, decideAudit, DEFAULT_POLICY, parsePolicy } from "./policy.ts";

const policyOf = (...rules: readonly object[]) =>
  parsePolicy({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules });

/** `verb group/resource/subresource namespace/name`, or `verb /path`. */
function request(verb: string, what: string, where = "/", user = "ann", groups = ["devs"]) {
  const [group = "", resource = "", subresource = ""] = what.split("/");
  const [namespace = "", name = ""] = where.split("/");
  const target: AuditAttributes["target"] = what.startsWith("path:")
    ? { kind: "path", path: what.slice(5) }
    : { kind: "resource", group, resource, subresource, namespace, name };
  return { user, groups, verb, target };
}

const POD = request("update", "/pods", "shop/web");

describe("a rule", () => {
  it.each<[string, object, AuditAttributes, boolean]>([
    ["without conditions", {}, POD, true],
    ["without conditions, a path", {}, request("get", "path:/version"), true],
    ["users", { users: ["bob", "ann"] }, POD, true],
    ["other users", { users: ["bob"] }, POD, false],
    ["groups", { userGroups: ["ops", "devs"] }, POD, true],
    ["other groups", { userGroups: ["ops"] }, POD, false],
    ["user and group must both match", { users: ["ann"], userGroups: ["ops"] }, POD, false],
    ["verbs", { verbs: ["update"] }, POD, true],
    ["other verbs", { verbs: ["get"] }, POD, false],
    ["a group", { resources: [{ group: "" }] }, POD, true],
    ["another group", { resources: [{ group: "apps" }] }, POD, false],
    ["a resource", { resources: [{ group: "", resources: ["pods"] }] }, POD, true],
    ["the core group by default", { resources: [{ resources: ["pods"] }] }, POD, true],
    ["another resource", { resources: [{ resources: ["secrets"] }] }, POD, false],
    ["one of two", { resources: [{ group: "apps" }, { resources: ["pods"] }] }, POD, true],
    [
      "a resource is not its subresource",
      { resources: [{ resources: ["pods"] }] },
      request("get", "/pods/log", "a/b"),
      false,
    ],
    [
      "a subresource",
      { resources: [{ resources: ["pods/log"] }] },
      request("get", "/pods/log", "a/b"),
      true,
    ],
    [
      "all subresources",
      { resources: [{ resources: ["pods/*"] }] },
      request("get", "/pods/log", "a/b"),
      true,
    ],
    [
      "a subresource of all",
      { resources: [{ resources: ["*/log"] }] },
      request("get", "/pods/log"),
      true,
    ],
    ["not its resource", { resources: [{ resources: ["*/log"] }] }, POD, false],
    [
      "everything of a group",
      { resources: [{ resources: ["*"] }] },
      request("get", "/pods/log"),
      true,
    ],
    ["a name", { resources: [{ resources: ["pods"], resourceNames: ["web"] }] }, POD, true],
    ["another name", { resources: [{ resources: ["pods"], resourceNames: ["db"] }] }, POD, false],
    ["a namespace", { namespaces: ["shop"] }, POD, true],
    ["another namespace", { namespaces: ["kube-system"] }, POD, false],
    ["no namespace", { namespaces: [""] }, request("create", "/nodes", "/n1"), true],
    ["a namespace and a path", { namespaces: [""] }, request("get", "path:/version"), false],
    [
      "resources and a path",
      { resources: [{ group: "" }] },
      request("get", "path:/version"),
      false,
    ],
    ["a URL", { nonResourceURLs: ["/version"] }, request("get", "path:/version"), true],
    [
      "a URL by its beginning",
      { nonResourceURLs: ["/livez*"] },
      request("get", "path:/livez/ping"),
      true,
    ],
    ["another URL", { nonResourceURLs: ["/version"] }, request("get", "path:/version/x"), false],
    ["every URL", { nonResourceURLs: ["*"] }, request("get", "path:/metrics"), true],
    ["a URL and a resource", { nonResourceURLs: ["*"] }, POD, false],
  ])("with %s", (_, rule, asked, matches) => {
    const { level } = decideAudit(policyOf({ level: "Request", ...rule }), asked);
    expect(level).toBe(matches ? "Request" : "None");
  });
});

describe("a policy", () => {
  it("goes by the first rule that matches", () => {
    const policy = policyOf(
      { level: "None", users: ["ann"], verbs: ["get"] },
      { level: "RequestResponse", resources: [{ resources: ["pods"] }] },
      { level: "Metadata" },
    );
    expect(decideAudit(policy, { ...POD, verb: "get" }).level).toBe("None");
    expect(decideAudit(policy, POD).level).toBe("RequestResponse");
    expect(decideAudit(policy, request("create", "/configmaps")).level).toBe("Metadata");
  });

  it("omits stages for all rules and for one", () => {
    const policy = parsePolicy({
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived"],
      omitManagedFields: true,
      rules: [
        { level: "Metadata", users: ["ann"], omitStages: ["ResponseStarted"] },
        { level: "Metadata", omitManagedFields: false },
      ],
    });
    const first = decideAudit(policy, POD);
    expect([...first.omitStages]).toEqual(["RequestReceived", "ResponseStarted"]);
    expect(first.omitManagedFields).toBe(true);
    expect(decideAudit(policy, { ...POD, user: "bob" }).omitManagedFields).toBe(false);
  });

  it("records changes and no reads where none is given", () => {
    expect(decideAudit(DEFAULT_POLICY, POD).level).toBe("Metadata");
    for (const verb of ["get", "list", "watch"])
      expect(decideAudit(DEFAULT_POLICY, { ...POD, verb }).level).toBe("None");
  });

  it.each<[unknown, string]>([
    [null, "an object is needed"],
    [{ kind: "Policy", apiVersion: "audit.k8s.io/v1beta1", rules: [{}] }, "audit.k8s.io/v1"],
    [{ kind: "Policy", apiVersion: "audit.k8s.io/v1" }, "rules: at least one"],
    [{ kind: "Policy", apiVersion: "audit.k8s.io/v1", rules: 7 }, "rules: a list"],
    [
      { kind: "Policy", apiVersion: "audit.k8s.io/v1", rules: [{ level: "All" }] },
      "rules[0].level",
    ],
  ])("%j is refused: %s", (value, why) => {
    expect(() => parsePolicy(value)).toThrow(why);
  });

  it.each<[object, string]>([
    [{ user: ["ann"] }, "rules[0].user: there is no such field"],
    [{ users: "ann" }, "rules[0].users: a list"],
    [{ users: [1] }, "rules[0].users: a list of texts"],
    [{ omitStages: ["Begin"] }, '"Begin" is not one of'],
    [
      { resources: [{ resource: "pods" }] },
      "rules[0].resources[0].resource: there is no such field",
    ],
    [{ resources: [{ resourceNames: ["a"] }] }, "resources are needed"],
    [{ nonResourceURLs: ["/a*b"] }, "is not a path"],
    [{ nonResourceURLs: ["/a"], namespaces: ["b"] }, "cannot stand beside"],
  ])("a rule with %j is refused", (rule, why) => {
    expect(() => policyOf({ level: "Metadata", ...rule })).toThrow(why);
  });
});
