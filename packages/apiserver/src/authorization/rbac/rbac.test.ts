/** Role-based access control through requests: what tenants see, what they can grant, what reviews answer. */
import type { AnyObject } from "@lifeboat/api";
import { createWorld, type World } from "@lifeboat/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { openStream, send, type Sent, type SendOptions } from "../../http/exchange.suite.ts";
import type { User } from "../../authentication/user.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const REVIEWS = "/apis/authorization.k8s.io/v1";

let world: World;

beforeEach(async () => {
  world = await createWorld({ authorizer: "RBAC" });
  for (const name of ["web", "other"])
    await ok("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    });
});

function user(name: string, ...groups: string[]): User {
  return { name, groups: [...groups, "system:authenticated"] };
}

function as(
  who: User | null,
  method: string,
  url: string,
  options: SendOptions = {},
): Promise<Sent> {
  return send(world.server.handle, method, url, { ...options, user: who });
}

async function ok(method: string, url: string, body?: unknown): Promise<Sent> {
  const answer = await send(world.server.handle, method, url, { body });
  expect([url, answer.status, answer.status < 300 ? "" : answer.text]).toEqual([
    url,
    answer.status,
    "",
  ]);
  return answer;
}

function role(kind: string, name: string, rules: readonly object[], more: object = {}): object {
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name }, rules, ...more };
}

function binding(name: string, roleKind: string, roleName: string, subject: object): object {
  return {
    apiVersion: `${GROUP}/v1`,
    metadata: { name },
    roleRef: { apiGroup: GROUP, kind: roleKind, name: roleName },
    subjects: [subject],
  };
}

const toUser = (name: string): object => ({ apiGroup: GROUP, kind: "User", name });

async function bindIn(namespace: string, roleName: string, name: string): Promise<void> {
  await ok("POST", `${RBAC}/namespaces/${namespace}/rolebindings`, {
    kind: "RoleBinding",
    ...binding(`${name}-${roleName}`, "ClusterRole", roleName, toUser(name)),
  });
}

async function bindEverywhere(roleName: string, name: string): Promise<void> {
  await ok("POST", `${RBAC}/clusterrolebindings`, {
    kind: "ClusterRoleBinding",
    ...binding(`${name}-${roleName}`, "ClusterRole", roleName, toUser(name)),
  });
}

const map = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

describe("a tenant with edit in one namespace", () => {
  const tenant = user("tess");

  beforeEach(async () => {
    await bindIn("web", "edit", "tess");
    await ok("POST", maps("other"), map("secret"));
  });

  test("works there", async () => {
    expect((await as(tenant, "POST", maps("web"), { body: map("mine") })).status).toBe(201);
    expect((await as(tenant, "GET", maps("web"))).status).toBe(200);
    expect((await as(tenant, "GET", "/api/v1/namespaces/web")).status).toBe(200);
    expect((await as(tenant, "DELETE", `${maps("web")}/mine`)).status).toBe(200);
  });

  const elsewhere: readonly [method: string, url: string][] = [
    ["GET", `${maps("other")}/secret`],
    ["GET", maps("other")],
    ["GET", "/api/v1/configmaps"],
    ["GET", "/api/v1/configmaps?fieldSelector=metadata.namespace=web"],
    ["GET", "/api/v1/configmaps?fieldSelector=metadata.name=secret"],
    ["GET", `${maps("other")}?fieldSelector=metadata.name=secret`],
    ["GET", `${maps("other")}?watch=true`],
    ["GET", "/api/v1/configmaps?watch=true&fieldSelector=metadata.namespace=web"],
    ["GET", `/api/v1/watch/namespaces/other/configmaps/secret`],
    ["GET", "/api/v1/watch/configmaps"],
    ["GET", "/api/v1/events"],
    ["GET", "/apis/events.k8s.io/v1/events"],
    ["GET", "/api/v1/namespaces/other/events"],
    ["GET", "/api/v1/namespaces"],
    ["GET", "/api/v1/namespaces/other"],
    ["DELETE", "/api/v1/namespaces/web"],
    ["PATCH", `${maps("other")}/secret`],
    ["DELETE", maps("other")],
    ["POST", maps("other")],
    ["PUT", `${maps("other")}/new`],
    ["GET", `${RBAC}/namespaces/web/roles`],
    ["POST", `${RBAC}/namespaces/web/rolebindings`],
    ["POST", `${RBAC}/clusterroles`],
    ["POST", `${REVIEWS}/subjectaccessreviews`],
    ["POST", `${REVIEWS}/namespaces/other/localsubjectaccessreviews`],
    ["POST", "/apis/authentication.k8s.io/v1/tokenreviews"],
    ["GET", "/metrics"],
    ["GET", "/api/v1/namespaces/other/configmaps/%73ecret"],
    ["GET", "/api/v1/nodes"],
  ];
  test.each(elsewhere)("may not %s %s", async (method, url) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { "content-type": type };
    const answer = await as(tenant, method, url, {
      headers,
      body: method === "GET" ? undefined : {},
    });
    expect([url, answer.status, answer.json["reason"]]).toEqual([url, 403, "Forbidden"]);
  });

  test("is told so in the words of a real server", async () => {
    const answer = await as(tenant, "GET", "/api/v1/namespaces/other");
    expect(answer.json["message"]).toBe(
      'namespaces "other" is forbidden: User "tess" cannot get resource "namespaces" in API group "" in the namespace "other"',
    );
  });

  test("impersonates ServiceAccounts there, and no other", async () => {
    const acting = (account: string): Promise<Sent> =>
      as(tenant, "GET", maps("web"), { headers: { "impersonate-user": account } });
    const answer = await acting("system:serviceaccount:web:sa");
    expect(answer.json["message"]).toContain('User "system:serviceaccount:web:sa" cannot list');
    for (const name of ["system:serviceaccount:other:sa", "bob", "system:admin"])
      expect((await acting(name)).json["message"]).toContain('User "tess" cannot impersonate');
  });
});

describe("names", () => {
  const agent = user("ann");

  beforeEach(async () => {
    await ok("POST", `${RBAC}/namespaces/web/roles`, {
      ...role("Role", "one", [
        {
          verbs: ["get", "list", "watch", "deletecollection"],
          apiGroups: [""],
          resources: ["configmaps"],
          resourceNames: ["mine"],
        },
      ]),
    });
    await ok("POST", `${RBAC}/namespaces/web/rolebindings`, {
      kind: "RoleBinding",
      ...binding("one", "Role", "one", toUser("ann")),
    });
    for (const name of ["mine", "yours"]) await ok("POST", maps("web"), map(name));
  });

  test("a selection of that name is allowed, and shows nothing else", async () => {
    const url = `${maps("web")}?fieldSelector=metadata.name%3Dmine`;
    const listed = await as(agent, "GET", url);
    const items = listed.json["items"] as readonly AnyObject[];
    expect(items.map((item) => item.metadata.name)).toEqual(["mine"]);
    const { reader } = await openStream(world.server.handle, `${url}&watch=true`, { user: agent });
    await world.settle();
    expect(reader.frames.map((frame) => frame.type)).toEqual(["ADDED"]);
    expect((await as(agent, "DELETE", url)).status).toBe(200);
    expect((await as(user("x", "system:masters"), "GET", `${maps("web")}/yours`)).status).toBe(200);
  });

  test.each([
    "",
    "?fieldSelector=metadata.name!=yours",
    "?fieldSelector=metadata.name=yours",
    "?fieldSelector=metadata.name=",
    "?fieldSelector=metadata.namespace=web",
    "?labelSelector=metadata.name=mine",
    "?fieldSelector=metadata.namespace=web&fieldSelector=metadata.name=mine",
    "?fieldSelector=metadata.name%3D%3Dyours",
    "?fieldSelector=%%%",
  ])("any other selection is not: %s", async (query) => {
    expect((await as(agent, "GET", `${maps("web")}${query}`)).status).toBe(403);
    const watch = `${maps("web")}${query}${query === "" ? "?" : "&"}watch=true`;
    expect((await as(agent, "GET", watch)).status).toBe(403);
  });

  test("in process they are asked about in the same way", async () => {
    const client = world.as(agent);
    const resource = {
      group: "",
      version: "v1",
      plural: "configmaps",
      kind: "ConfigMap",
      namespaced: true,
    };
    const one = await client.list(resource, {
      namespace: "web",
      fieldSelector: "metadata.name=mine",
    });
    expect(one.items).toHaveLength(1);
    await expect(client.list(resource, { namespace: "web" })).rejects.toThrow("cannot list");
  });
});

describe("rights that change", () => {
  test("count for the next request, and end open watches within five seconds", async () => {
    const tenant = user("tess");
    await bindIn("web", "view", "tess");
    const watch = (who: User, url: string) =>
      openStream(world.server.handle, `${url}?watch=true`, { user: who });
    const mine = await watch(tenant, maps("web"));
    const admins = await watch(user("root", "system:masters"), maps("web"));
    await ok("POST", maps("web"), map("first"));
    await world.settle();
    await ok("DELETE", `${RBAC}/namespaces/web/rolebindings/tess-view`);
    expect((await as(tenant, "GET", maps("web"))).status).toBe(403);
    await world.advance("4s");
    await ok("POST", maps("web"), map("second"));
    await world.advance("1s");
    expect(mine.reader.ended).toBe(1);
    expect(mine.reader.frames.map((frame) => frame.type)).toEqual(["ADDED", "ERROR"]);
    expect(mine.reader.frames[1]?.object).toMatchObject({ code: 403, reason: "Forbidden" });
    expect(admins.reader.ended).toBe(0);
    expect(admins.reader.frames.map((frame) => frame.type)).toEqual(["ADDED", "ADDED"]);
  });

  test("a watch whose right is replaced by another goes on", async () => {
    await bindIn("web", "view", "tess");
    const { reader } = await openStream(world.server.handle, `${maps("web")}?watch=true`, {
      user: user("tess"),
    });
    await bindEverywhere("view", "tess");
    await ok("DELETE", `${RBAC}/namespaces/web/rolebindings/tess-view`);
    await world.advance("10s");
    expect(reader.ended).toBe(0);
  });
});

describe("granting", () => {
  const bob = user("bob");
  const rules = [
    { verbs: ["create", "update", "patch", "get"], apiGroups: [GROUP], resources: ["*"] },
    { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
  ];
  const roles = `${RBAC}/clusterroles`;

  beforeEach(async () => {
    await ok("POST", roles, role("ClusterRole", "writer", rules));
    await bindEverywhere("writer", "bob");
  });

  test("more than is held is refused, in the words of a real server", async () => {
    const asked = role("ClusterRole", "esc", [
      { apiGroups: ["", "apps"], resources: ["pods", "secrets"], verbs: ["get", "list"] },
      { nonResourceURLs: ["/metrics", "/x/*"], verbs: ["get"] },
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["a", "b"],
        verbs: ["get", "update"],
      },
    ]);
    const answer = await as(bob, "POST", roles, { body: asked });
    expect(answer.status).toBe(403);
    expect(answer.json["message"]).toBe(
      `clusterroles.rbac.authorization.k8s.io "esc" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get" "update"]}
{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get" "update"]}
{APIGroups:[""], Resources:["pods"], Verbs:["list"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}
{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list"]}
{NonResourceURLs:["/metrics"], Verbs:["get"]}
{NonResourceURLs:["/x/*"], Verbs:["get"]}`,
    );
  });

  const held: readonly [string, object][] = [
    ["the same", { verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    ["less", { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }],
    ["what everybody has", { verbs: ["get"], nonResourceURLs: ["/api/v1", "/version"] }],
  ];
  test.each(held)("%s is granted", async (_, rule) => {
    const answer = await as(bob, "POST", roles, { body: role("ClusterRole", "r", [rule]) });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([201, expect.anything()]);
  });

  const notHeld: readonly [string, object][] = [
    ["every verb", { verbs: ["*"], apiGroups: [""], resources: ["pods"] }],
    ["every resource", { verbs: ["get"], apiGroups: [""], resources: ["*"] }],
    ["every group", { verbs: ["get"], apiGroups: ["*"], resources: ["pods"] }],
    ["a subresource", { verbs: ["get"], apiGroups: [""], resources: ["pods/log"] }],
    ["every path", { verbs: ["get"], nonResourceURLs: ["*"] }],
    ["a wider path", { verbs: ["get"], nonResourceURLs: ["/ap*"] }],
    [
      "too much to check",
      {
        verbs: ["get"],
        apiGroups: [""],
        resources: Array.from({ length: 1000 }, (_, i) => `r${i}`),
        resourceNames: Array.from({ length: 1000 }, (_, i) => `n${i}`),
      },
    ],
  ];
  test.each(notHeld)("%s is not", async (_, rule) => {
    const answer = await as(bob, "POST", roles, { body: role("ClusterRole", "r", [rule]) });
    expect(answer.status).toBe(403);
  });

  test("an unnamed right is not held by one for the empty name", async () => {
    const named = { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: [""] };
    await ok("POST", roles, role("ClusterRole", "trick", [named]));
    await bindEverywhere("trick", "bob");
    const rule = { verbs: ["get"], apiGroups: [""], resources: ["secrets"] };
    const answer = await as(bob, "POST", roles, { body: role("ClusterRole", "r", [rule]) });
    expect(answer.status).toBe(403);
  });

  test("nor by an update, a patch, a label that has it gathered, or an aggregation", async () => {
    await ok(
      "POST",
      roles,
      role("ClusterRole", "strong", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]),
    );
    const patch = (name: string, body: object): Promise<Sent> =>
      as(bob, "PATCH", `${roles}/${name}`, {
        headers: { "content-type": "application/merge-patch+json" },
        body,
      });
    expect(
      (await patch("writer", { rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] }))
        .status,
    ).toBe(403);
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    expect((await patch("strong", { metadata: { labels } })).status).toBe(403);
    expect((await patch("strong", { metadata: { finalizers: ["x.io/y"] } })).status).toBe(200);
    expect((await patch("strong", { metadata: { labels: { team: "a" } } })).status).toBe(200);
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
    const gathering = { ...role("ClusterRole", "agg", []), aggregationRule };
    const answer = await as(bob, "POST", roles, { body: gathering });
    expect(answer.json["message"]).toBe(
      'clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
    expect(
      (
        await as(bob, "PUT", `${roles}/made-by-put`, {
          body: role("ClusterRole", "made-by-put", [
            { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
          ]),
        })
      ).status,
    ).toBe(403);
  });

  test("the verb escalate lets a role be written, the verb bind lets it be bound", async () => {
    const all = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
    await ok(
      "POST",
      roles,
      role("ClusterRole", "extra", [
        {
          verbs: ["escalate"],
          apiGroups: [GROUP],
          resources: ["clusterroles"],
          resourceNames: ["strong"],
        },
        {
          verbs: ["bind"],
          apiGroups: [GROUP],
          resources: ["clusterroles"],
          resourceNames: ["edit"],
        },
      ]),
    );
    await bindEverywhere("extra", "bob");
    expect(
      (await as(bob, "POST", roles, { body: role("ClusterRole", "strong", all) })).status,
    ).toBe(201);
    expect((await as(bob, "POST", roles, { body: role("ClusterRole", "other", all) })).status).toBe(
      403,
    );
    const bind = (name: string): Promise<Sent> =>
      as(bob, "POST", `${RBAC}/clusterrolebindings`, {
        body: {
          kind: "ClusterRoleBinding",
          ...binding(`b-${name}`, "ClusterRole", name, toUser("bob")),
        },
      });
    expect((await bind("edit")).status).toBe(201);
    expect((await bind("strong")).status).toBe(403);
    expect((await bind("cluster-admin")).json["message"]).toContain(
      'clusterrolebindings.rbac.authorization.k8s.io "b-cluster-admin" is forbidden: user "bob"',
    );
    expect((await bind("writer")).status).toBe(201);
    const missing = await bind("nope");
    expect([missing.status, missing.json["message"]]).toEqual([
      404,
      'clusterrolebindings.rbac.authorization.k8s.io "nope" not found',
    ]);
  });

  test("an admin of a namespace grants there what admin gives, and nothing outside", async () => {
    await bindIn("web", "admin", "ada");
    const ada = user("ada");
    const bind = (namespace: string, name: string): Promise<Sent> =>
      as(ada, "POST", `${RBAC}/namespaces/${namespace}/rolebindings`, {
        body: { kind: "RoleBinding", ...binding(`b-${name}`, "ClusterRole", name, toUser("eve")) },
      });
    expect((await bind("web", "edit")).status).toBe(201);
    expect((await bind("web", "admin")).status).toBe(201);
    expect((await bind("web", "cluster-admin")).status).toBe(403);
    expect((await bind("other", "view")).status).toBe(403);
  });
});

describe("reviews", () => {
  async function review(
    kind: string,
    spec: object,
    who = user("root", "system:masters"),
    path = "",
  ): Promise<Sent> {
    const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
    return as(who, "POST", `${REVIEWS}/${path}${kind.toLowerCase()}s`, { body });
  }

  test("say what is allowed and by which binding", async () => {
    await bindIn("web", "view", "tess");
    const asked = { verb: "get", resource: "pods", namespace: "web" };
    const rows: readonly [object, object][] = [
      [
        { user: "tess", resourceAttributes: asked },
        {
          allowed: true,
          reason:
            'RBAC: allowed by RoleBinding "tess-view/web" of ClusterRole "view" to User "tess"',
        },
      ],
      [{ user: "tess", resourceAttributes: { ...asked, verb: "delete" } }, { allowed: false }],
      [{ user: "x", groups: ["system:masters"], resourceAttributes: asked }, { allowed: true }],
      [
        {
          user: "x",
          groups: ["system:authenticated"],
          nonResourceAttributes: { verb: "get", path: "/api" },
        },
        {
          allowed: true,
          reason:
            'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
        },
      ],
    ];
    for (const [spec, status] of rows)
      expect((await review("SubjectAccessReview", spec)).json["status"]).toEqual(status);
  });

  test("name a bound role that does not exist", async () => {
    await bindIn("web", "missing", "carol");
    const reason = 'RBAC: clusterrole.rbac.authorization.k8s.io "missing" not found';
    const spec = { resourceAttributes: { verb: "get", resource: "pods", namespace: "web" } };
    expect((await review("SelfSubjectAccessReview", spec, user("carol"))).json["status"]).toEqual({
      allowed: false,
      reason,
    });
    const refused = await as(user("carol"), "GET", "/api/v1/namespaces/web/pods");
    expect(refused.json["message"]).toBe(
      `pods is forbidden: User "carol" cannot list resource "pods" in API group "" in the namespace "web": ${reason}`,
    );
    const listed = await review("SelfSubjectRulesReview", { namespace: "web" }, user("carol"));
    expect(listed.json["status"]).toMatchObject({
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "missing" not found',
    });
  });

  test("list the rules of a user in a namespace", async () => {
    await bindIn("web", "view", "tess");
    const rulesIn = async (namespace: string): Promise<string> => {
      const { json } = await review("SelfSubjectRulesReview", { namespace }, user("tess"));
      return JSON.stringify(json["status"]);
    };
    expect(await rulesIn("web")).toContain('"deployments"');
    expect(await rulesIn("other")).not.toContain('"deployments"');
    expect(await rulesIn("other")).toContain('"selfsubjectaccessreviews"');
    expect(await rulesIn("other")).toContain('"/apis/*"');
    const nowhere = await review("SelfSubjectRulesReview", {}, user("tess"));
    expect([nowhere.status, nowhere.json["message"]]).toEqual([400, "no namespace on request"]);
  });

  test("about one namespace are about that of the request", async () => {
    const asked = { verb: "get", resource: "pods" };
    const local = (attributes: object): Promise<Sent> =>
      review(
        "LocalSubjectAccessReview",
        { user: "tess", ...attributes },
        undefined,
        "namespaces/web/",
      );
    expect((await local({ resourceAttributes: { ...asked, namespace: "web" } })).status).toBe(201);
    for (const namespace of ["other", ""]) {
      const answer = await local({ resourceAttributes: { ...asked, namespace } });
      expect(answer.json["message"]).toBe(
        `.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: ${JSON.stringify(namespace)}: must match metadata.namespace`,
      );
    }
    const path = await local({ nonResourceAttributes: { path: "/x", verb: "get" } });
    expect(path.json["message"]).toBe(
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
    );
  });
});

describe("impersonation", () => {
  test("needs the right on each name, also on system:masters", async () => {
    await ok(
      "POST",
      `${RBAC}/clusterroles`,
      role("ClusterRole", "actor", [
        { verbs: ["impersonate"], apiGroups: [""], resources: ["users"] },
        { verbs: ["impersonate"], apiGroups: [""], resources: ["groups"], resourceNames: ["devs"] },
        {
          verbs: ["impersonate"],
          apiGroups: ["authentication.k8s.io"],
          resources: ["userextras/scopes"],
          resourceNames: ["view"],
        },
        {
          verbs: ["impersonate"],
          apiGroups: ["authentication.k8s.io"],
          resources: ["uids"],
          resourceNames: ["u1"],
        },
      ]),
    );
    await bindEverywhere("actor", "actor");
    const act = async (headers: Record<string, string>): Promise<string> => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const answer = await as(
        user("actor"),
        "POST",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        {
          headers: { "impersonate-user": "eve", ...headers },
          body,
        },
      );
      return answer.status === 201
        ? JSON.stringify(answer.json["status"])
        : String(answer.json["message"]);
    };
    expect(await act({})).toContain('"eve"');
    expect(
      await act({
        "impersonate-group": "devs",
        "impersonate-uid": "u1",
        "impersonate-extra-scopes": "view",
      }),
    ).toContain('"devs"');
    expect(await act({ "impersonate-group": "system:masters" })).toBe(
      'groups "system:masters" is forbidden: User "actor" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
    expect(await act({ "impersonate-group": "devs,system:masters" })).toContain(
      "cannot impersonate",
    );
    expect(await act({ "impersonate-uid": "u2" })).toContain("cannot impersonate");
    expect(await act({ "impersonate-extra-scopes": "edit" })).toContain("cannot impersonate");
    expect(await act({ "impersonate-extra-other": "view" })).toContain("cannot impersonate");
  });
});

describe("the anonymous user", () => {
  test.each([
    ["/version", 200],
    ["/readyz", 200],
    ["/apis", 403],
    ["/metrics", 403],
    ["/api/v1/namespaces", 403],
    ["/readyz/../metrics", 400],
  ])("asks for %s and gets %i", async (url, status) => {
    expect((await as(null, "GET", url)).status).toBe(status);
  });
});
