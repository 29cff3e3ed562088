import { describe, expect, it, test } from "vitest";
import {
  agentNamespaces,
  agentRoleObjects,
  clusterInfoRoleObjects,
  registrationRoleObjects,
} from "./agent-roles.ts";
import { agentIdentity, agentUser, clusterOfAgent, isAgentUser, secretNames } from "./identity.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Every right of the agent of eu-1: `namespace verb group/resource name`. */
function rightsOf(cluster: string, objectsOf = agentRoleObjects): readonly string[] {
  return objectsOf(cluster)
    .filter(({ kind }) => String(kind).endsWith("Role"))
    .flatMap(({ metadata, ...role }) =>
      (role["rules"] as readonly Rule[]).flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            (resourceNames ?? ["*"]).flatMap((name) =>
              verbs.map(
                (verb) => `${metadata.namespace ?? "(all)"} ${verb} ${group}/${resource} ${name}`,
              ),
            ),
          ),
        ),
      ),
    );
}

describe("the rights of an agent (D25)", () => {
  const rights = rightsOf("eu-1");

  test.each([
    "(all) watch config.karmada.io/resourceinterpretercustomizations *",
    "(all) create cluster.karmada.io/clusters *",
    "(all) watch cluster.karmada.io/clusters eu-1",
    "(all) update cluster.karmada.io/clusters/status eu-1",
    "(all) create certificates.k8s.io/certificatesigningrequests *",
    "(all) get certificates.k8s.io/certificatesigningrequests agent-eu-1",
    "(all) get proxy.lifeboat.dev/clusters/attach eu-1",
    "karmada-cluster update coordination.k8s.io/leases eu-1",
    "karmada-cluster create coordination.k8s.io/leases *",
    "karmada-cluster get /secrets eu-1-impersonator",
    "karmada-es-eu-1 watch work.karmada.io/works *",
    "karmada-es-eu-1 patch work.karmada.io/works *",
    "karmada-es-eu-1 update work.karmada.io/works/status *",
    "karmada-es-eu-1 create events.k8s.io/events *",
    "default create /events *",
  ])("include %s", (right) => {
    expect(rights).toContain(right);
  });

  it("read and change no Secret and no Work until the Cluster exists: the name may become that of a Push cluster", () => {
    const first = rightsOf("eu-1", registrationRoleObjects);
    expect(first.filter((right) => /secrets|works/.test(right))).toEqual([
      "karmada-cluster create /secrets *",
    ]);
    expect(first).toContain("(all) create cluster.karmada.io/clusters *");
    expect(first.filter((right) => !rights.includes(right))).toEqual([]);
  });

  it("without a name are only reads of interpreters, creates, and what is in its own namespace", () => {
    const unbound = rights.filter((right) => right.endsWith(" *"));
    const others = unbound.filter(
      (right) =>
        !right.startsWith("karmada-es-eu-1 ") &&
        !/^\S+ create /.test(right) &&
        !/^\(all\) (get|list|watch) config\.karmada\.io\//.test(right) &&
        right !== "default patch /events *" &&
        right !== "default patch events.k8s.io/events *",
    );
    expect(others).toEqual([]);
  });

  it("never reach bindings, other kinds of rights, impersonation or the deletion of Works", () => {
    expect(rights.filter((right) => /binding|rbac|impersonate|escalate|\*\//.test(right))).toEqual(
      [],
    );
    expect(rights.filter((right) => /delete work\.karmada\.io/.test(right))).toEqual([]);
  });

  it("of two clusters share no name", () => {
    const named = (cluster: string): readonly string[] =>
      rightsOf(cluster).filter((right) => !right.endsWith(" *"));
    const other = new Set(named("eu-1-impersonator"));
    const both = named("eu-1").filter((right) => other.has(right));
    // A cluster that is called as another cluster's Secret: the name is refused when it registers (certificates/).
    expect(both).toEqual([
      "karmada-cluster get /secrets eu-1-impersonator",
      "karmada-cluster update /secrets eu-1-impersonator",
      "karmada-cluster patch /secrets eu-1-impersonator",
    ]);
    const third = new Set(named("eu-2"));
    expect(named("eu-1").filter((right) => third.has(right))).toEqual([]);
  });

  it("are bound to its user alone, in namespaces that are named", () => {
    const bindings = agentRoleObjects("eu-1").filter(({ kind }) =>
      String(kind).endsWith("Binding"),
    );
    expect(bindings.map((binding) => binding["subjects"])).toEqual(
      Array.from({ length: 5 }, () => [
        { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:karmada:agent:eu-1" },
      ]),
    );
    const namespaces = new Set(
      agentRoleObjects("eu-1").map(({ metadata }) => metadata.namespace ?? ""),
    );
    expect([...namespaces].sort()).toEqual(["", "default", ...agentNamespaces("eu-1")].sort());
  });
});

test.each([
  ["system:karmada:agent:eu-1", "eu-1"],
  [agentUser("a".repeat(48)), "a".repeat(48)],
  [agentUser("a".repeat(49)), undefined],
  ["system:karmada:agent:", undefined],
  ["system:karmada:agent:eu-1\n", undefined],
  ["system:karmada:agent:EU-1", undefined],
  ["system:karmada:agent:еu-1", undefined],
  ["system:karmada:agent:eu-1:x", undefined],
  ["System:karmada:agent:eu-1", undefined],
  ["system:bootstrap:abcdef", undefined],
])("the cluster of the user %j is %j", (user, cluster) => {
  expect(clusterOfAgent(user)).toBe(cluster);
});

test("a user that claims to be an agent is known, also without a cluster that can exist", () => {
  expect(isAgentUser("system:karmada:agent:../x")).toBe(true);
  expect(isAgentUser("system:karmada:agents")).toBe(false);
  expect(agentIdentity("eu-1").requestName).toBe("agent-eu-1");
});

test("a cluster has two Secrets", () => {
  expect(secretNames("eu-1")).toEqual({ token: "eu-1", impersonator: "eu-1-impersonator" });
});

test("everyone may read cluster-info, and nothing else", () => {
  expect(clusterInfoRoleObjects()).toMatchObject([
    { kind: "Role", rules: [{ resources: ["configmaps"], resourceNames: ["cluster-info"] }] },
    { kind: "RoleBinding", subjects: [{}, { name: "system:unauthenticated" }] },
  ]);
});
