/** The rights of a control plane: of its controllers, of tenants, of agents, and of a cluster that registers. */
import { readFileSync } from "node:fs";
import { type AnyObject, type New, type Resource } from "@lifeboat/api";
import { type ApiServer, createMemoryStorage, type User } from "@lifeboat/apiserver";
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { agentNamespaces, agentRoleObjects, agentUser } from "@lifeboat/core/clusters/rights";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { beforeEach, describe, expect, it, test } from "vitest";
import { createControlPlane } from "./control-plane.ts";
import { CONTROLLER_RULES, CONTROLLERS_USER } from "./plane-rights.ts";

const ADMIN: User = { name: "admin", groups: ["system:masters"] };
const asked = JSON.parse(
  readFileSync(new URL("./asked-rights.json", import.meta.url), "utf8"),
) as readonly string[];

let server: ApiServer;
let admin: Client;

beforeEach(async () => {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const random = createRandom(1);
  const ids = createSeededIds(random.fork("ids"));
  const storage = createMemoryStorage(clock, { syncDelayMs: 0 });
  const ports = { clock, random, ids, log: silentLog, metrics: silentMetrics, storage };
  ({ server } = await createControlPlane(ports, { version: "0.0.0", tokens: new Map() }));
  admin = server.client(ADMIN);
});

function resource(apiVersion: string, kind: string, plural: string, namespaced = true): Resource {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return { group, version, kind, plural, namespaced };
}

const RBAC = "rbac.authorization.k8s.io/v1";
const configMaps = resource("v1", "ConfigMap", "configmaps");
const policies = resource("policy.karmada.io/v1alpha1", "PropagationPolicy", "propagationpolicies");
const bindings = resource("work.karmada.io/v1alpha2", "ResourceBinding", "resourcebindings");
const works = resource("work.karmada.io/v1alpha1", "Work", "works");
const clusters = resource("cluster.karmada.io/v1alpha1", "Cluster", "clusters", false);
const leases = resource("coordination.k8s.io/v1", "Lease", "leases");
const secrets = resource("v1", "Secret", "secrets");
const namespaces = resource("v1", "Namespace", "namespaces", false);
const events = resource("v1", "Event", "events");

function rbac(kind: string): Resource {
  return resource(RBAC, kind, `${kind.toLowerCase()}s`, !kind.startsWith("Cluster"));
}

function object(of: Resource, name: string, namespace: string, more: object = {}): New<AnyObject> {
  const apiVersion = of.group === "" ? of.version : `${of.group}/${of.version}`;
  return {
    apiVersion,
    kind: of.kind,
    metadata: { name, ...(namespace !== "" && { namespace }) },
    ...more,
  };
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Single rights of the rules that name kinds: `verb group/resource`. */
function namedRights(): readonly string[] {
  return CONTROLLER_RULES.filter(({ apiGroups }) => apiGroups?.includes("*") !== true).flatMap(
    ({ verbs = [], apiGroups = [], resources = [] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((plural) => verbs.map((verb) => `${verb} ${group}/${plural}`)),
      ),
  );
}

function agentRights(): ReadonlySet<string> {
  const rights = new Set<string>();
  for (const role of agentRoleObjects("eu-1")) {
    const rules = (role["rules"] ?? []) as typeof CONTROLLER_RULES;
    for (const { verbs = [], apiGroups = [], resources = [] } of rules)
      for (const group of apiGroups)
        for (const plural of resources)
          for (const verb of verbs) rights.add(`${verb} ${group}/${plural}`);
  }
  return rights;
}

/** Asked for where no suite records it. */
const ASKED_ELSEWHERE: readonly string[] = [
  // By the controller of policies, as it asks for those of a namespace.
  "update policy.karmada.io/clusterpropagationpolicies",
  // By the care of bootstrap tokens.
  "delete /secrets",
  // By the admission of certificate requests, about the user that approves and signs.
  "approve certificates.k8s.io/signers",
  "sign certificates.k8s.io/signers",
];

describe("controllers", () => {
  it("are no masters, and cannot act as anybody else or grant what they do not hold", async () => {
    expect(CONTROLLERS_USER.groups).not.toContain("system:masters");
    const plane = server.client(CONTROLLERS_USER);
    const rules = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
    const strong = object(rbac("ClusterRole"), "strong", "", { rules });
    expect(await refusal(plane.create(rbac("ClusterRole"), strong))).toContain(
      "not currently held",
    );
    const roleRef = {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "cluster-admin",
    };
    const subjects = [
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "system:lifeboat" },
    ];
    const bound = object(rbac("ClusterRoleBinding"), "grab", "", { roleRef, subjects });
    expect(await refusal(plane.create(rbac("ClusterRoleBinding"), bound))).toContain(
      "not currently held",
    );
    const deployments = resource("apps/v1", "Deployment", "deployments");
    expect(await refusal(plane.delete(deployments, { namespace: "default", name: "x" }))).toContain(
      "cannot delete",
    );
  });

  it("have every right that their suites ask for", async () => {
    const missing: string[] = [];
    for (const right of asked) {
      const [verb = "", path = ""] = right.split(" ");
      const [group = "", plural = "", subresource = ""] = path.split("/");
      const body = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: {},
        spec: {
          user: CONTROLLERS_USER.name,
          groups: CONTROLLERS_USER.groups,
          resourceAttributes: {
            verb,
            group,
            resource: plural,
            subresource,
            namespace: "x",
            name: "y",
          },
        },
      } as unknown as New<AnyObject>;
      const reviews = resource(
        "authorization.k8s.io/v1",
        "SubjectAccessReview",
        "subjectaccessreviews",
        false,
      );
      const review = await admin.create(reviews, body);
      if (!(review["status"] as { allowed: boolean }).allowed) missing.push(right);
    }
    expect(missing).toEqual([]);
    expect(asked.length).toBeGreaterThan(30);
  });

  it("have no right that nothing asks for, but those that they grant to agents", () => {
    const used = new Set([...asked, ...agentRights(), ...ASKED_ELSEWHERE]);
    expect(namedRights().filter((right) => !used.has(right))).toEqual([]);
  });

  it("can grant agents their rights, and propagate roles", async () => {
    const plane = server.client(CONTROLLERS_USER);
    for (const name of agentNamespaces("eu-1"))
      await plane.create(namespaces, object(namespaces, name, ""));
    for (const granted of agentRoleObjects("eu-1"))
      await plane.create(rbac(String(granted["kind"])), granted);
    const label = { type: "merge", body: { metadata: { labels: { claimed: "yes" } } } } as const;
    await plane.patch(rbac("ClusterRole"), { namespace: "", name: "cluster-admin" }, label);
    await plane.patch(rbac("ClusterRoleBinding"), { namespace: "", name: "cluster-admin" }, label);
  });
});

describe("a tenant with edit in a namespace", () => {
  it("writes policies there, sees bindings, and nothing anywhere else", async () => {
    for (const name of ["shop", "other"])
      await admin.create(namespaces, object(namespaces, name, ""));
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" };
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "tess" }];
    await admin.create(
      rbac("RoleBinding"),
      object(rbac("RoleBinding"), "tess", "shop", { roleRef, subjects }),
    );
    const tenant = server.client({ name: "tess", groups: ["system:authenticated"] });
    const spec = { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }] };
    await tenant.create(policies, object(policies, "p", "shop", { spec }));
    await tenant.list(bindings, { namespace: "shop" });
    const refused = [
      tenant.create(policies, object(policies, "p", "other", { spec })),
      tenant.list(policies),
      tenant.list(bindings, { namespace: "other" }),
      tenant.list(bindings),
      tenant.patch(bindings, { namespace: "shop", name: "x" }, { type: "merge", body: {} }),
      tenant.list(works, { namespace: "shop" }),
      tenant.list(works, { namespace: "karmada-es-eu-1" }),
      tenant.list(clusters),
      tenant.list(secrets, { namespace: "karmada-cluster" }),
      tenant.list(configMaps, { namespace: "lifeboat-system" }),
      tenant.list(events),
      tenant.list(events, { fieldSelector: "involvedObject.namespace=shop" }),
    ];
    for (const attempt of refused) expect(await refusal(attempt)).toContain("is forbidden");
  });
});

describe("an agent with its own rights", () => {
  let agent: Client;

  beforeEach(async () => {
    for (const cluster of ["eu-1", "eu-2"]) {
      for (const name of agentNamespaces(cluster))
        await refusal(admin.create(namespaces, object(namespaces, name, "")));
      for (const granted of agentRoleObjects(cluster))
        await admin.create(rbac(String(granted["kind"])), granted);
    }
    const groups = ["system:karmada:agents", "system:authenticated"];
    agent = server.client({ name: agentUser("eu-1"), groups });
  });

  const own = { spec: { syncMode: "Pull" } };

  it("registers its Cluster, Lease and Secret, and reads what is its own", async () => {
    await agent.create(clusters, object(clusters, "eu-1", "", own));
    await agent.create(leases, object(leases, "eu-1", "karmada-cluster", { spec: {} }));
    await agent.create(secrets, object(secrets, "eu-1", "karmada-cluster"));
    const key = { namespace: "", name: "eu-1" };
    const patched = await agent.patch(clusters, key, {
      type: "merge",
      body: { spec: { region: "eu" } },
    });
    expect(patched["spec"]).toMatchObject({ region: "eu" });
    await agent.patch(
      clusters,
      key,
      { type: "merge", body: { status: {} } },
      { subresource: "status" },
    );
    const listed = await agent.list(clusters, { fieldSelector: "metadata.name=eu-1" });
    expect(listed.items).toHaveLength(1);
    await agent.list(works, { namespace: "karmada-es-eu-1" });
  });

  it("writes and reads nothing of another cluster, and nothing that attracts work", async () => {
    await admin.create(clusters, object(clusters, "eu-2", "", own));
    await agent.create(clusters, object(clusters, "eu-1", "", own));
    const mine = { namespace: "", name: "eu-1" };
    const label = { metadata: { labels: { tier: "gold" } } };
    const refused = [
      agent.create(clusters, object(clusters, "eu-3", "", own)),
      agent.create(leases, object(leases, "eu-2", "karmada-cluster", { spec: {} })),
      agent.create(secrets, object(secrets, "eu-2", "karmada-cluster")),
      agent.get(clusters, { namespace: "", name: "eu-2" }),
      agent.list(clusters),
      agent.list(clusters, { fieldSelector: "metadata.name!=eu-1" }),
      agent.delete(clusters, { namespace: "", name: "eu-2" }),
      agent.patch(clusters, mine, { type: "merge", body: label }),
      agent.patch(clusters, mine, { type: "merge", body: { spec: { syncMode: "Push" } } }),
      agent.list(works),
      agent.list(works, { namespace: "karmada-es-eu-2" }),
      agent.list(bindings),
      agent.list(secrets, { namespace: "karmada-cluster" }),
      agent.create(works, object(works, "w", "karmada-es-eu-1")),
      agent.create(
        events,
        object(events, "e", "default", { involvedObject: { kind: "Cluster", name: "eu-2" } }),
      ),
    ];
    for (const attempt of refused) expect(await refusal(attempt)).toContain("is forbidden");
  });
});

test("an agent that floods Events, or writes a giant one, is refused; others go on", async () => {
  for (const cluster of ["eu-1", "eu-2"]) {
    for (const name of agentNamespaces(cluster))
      await refusal(admin.create(namespaces, object(namespaces, name, "")));
    for (const granted of agentRoleObjects(cluster))
      await admin.create(rbac(String(granted["kind"])), granted);
  }
  const groups = ["system:karmada:agents", "system:authenticated"];
  const write = (cluster: string, name: string, message: string): Promise<string> => {
    const involvedObject = { kind: "Cluster", name: cluster };
    const event = object(events, name, "default", { involvedObject, message });
    return refusal(server.client({ name: agentUser(cluster), groups }).create(events, event));
  };
  expect(await write("eu-1", "giant", "x".repeat(10_000))).toContain("at most 8192 characters");
  const flood: string[] = [];
  for (let i = 0; i < 600; i += 1) flood.push(await write("eu-1", `e${i}`, "m"));
  expect(flood.filter((message) => message === "")).toHaveLength(500);
  expect(flood.at(-1)).toContain("too many Events");
  expect(await write("eu-2", "e", "m")).toBe("");
});

describe("a cluster that registers", () => {
  test("reads cluster-info without a credential, and makes certificate requests with its token", async () => {
    await admin.create(configMaps, object(configMaps, "cluster-info", "kube-public"));
    const anonymous = server.client({
      name: "system:anonymous",
      groups: ["system:unauthenticated"],
    });
    await anonymous.get(configMaps, { namespace: "kube-public", name: "cluster-info" });
    expect(await refusal(anonymous.list(configMaps, { namespace: "kube-public" }))).toContain(
      "is forbidden",
    );
    const group = "system:bootstrappers:karmada:default-cluster-token";
    const bootstrap = server.client({
      name: "system:bootstrap:abcdef",
      groups: ["system:bootstrappers", group],
    });
    const requests = resource(
      "certificates.k8s.io/v1",
      "CertificateSigningRequest",
      "certificatesigningrequests",
      false,
    );
    await bootstrap.list(requests);
    expect(await refusal(bootstrap.list(clusters))).toContain("is forbidden");
  });
});
