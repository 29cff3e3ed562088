/**
 * The access matrix, by real requests with real certificates (T1, T15, D25): every verb, on every kind that is served, at what is own
 * and what is another's. The table says what is allowed; all else is refused with 403 and changes nothing.
 */
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RawClient, RawWatch } from "../support/raw-client.ts";
import { ACCESS, CLUSTER, OTHER, TENANT_NAMESPACE } from "./access-table.ts";
import { changed, differences, snapshot } from "./matrix.ts";
import { createWorld, FOREIGN_NAMESPACE, requestOf, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world?.close();
});

it("every resource that is served has a line in the table, and every line is of one", () => {
  const served = new Set(world.served.map(({ id }) => id));
  expect({
    withoutLine: [...served].filter((id) => !ACCESS.has(id)),
    notServed: [...ACCESS.keys()].filter((id) => !served.has(id)),
  }).toEqual({ withoutLine: [], notServed: [] });
});

describe("an agent", () => {
  it("reads and writes what is its own, and nothing else, by every verb on every kind", async () => {
    const before = await snapshot(world);
    const result = await differences(world, "agent", world.agent, (request, code) => {
      // Without `Upgrade` there is no tunnel: the right to it is what is asked here.
      if (request.of.subresource === "attach") return code !== 403 && code < 500;
      // Written in the old form, those of the new one lack fields.
      if (request.of.group === "events.k8s.io") return code !== 403 && code < 500;
      // A kind that is not built in has no strategic patch.
      if (request.contentType?.includes("strategic") === true) return code === 200 || code === 415;
      if (request.verb === "create") return code === 201 || code === 409;
      // Of what all agents read not every name exists.
      return code === 200 || (code === 404 && request.of.plural.startsWith("resourceinterpreter"));
    });
    process.stdout.write(
      `access matrix of an agent: ${result.sent} requests, ${result.allowed} allowed\n`,
    );
    expect(result.wrong).toEqual([]);
    expect(changed(before, await snapshot(world))).toEqual([]);
    expect(result.allowed).toBeGreaterThan(60);
  });

  const clusterPath = `/apis/cluster.karmada.io/v1alpha1/clusters/${CLUSTER}`;

  it.each<[string, object, string?]>([
    ["labels", { metadata: { labels: { tier: "gold" } } }],
    ["annotations", { metadata: { annotations: { "lifeboat.dev/fenced": "{}" } } }],
    ["finalizers", { metadata: { finalizers: ["x.io/mine"] } }],
    ["owners", { metadata: { ownerReferences: [owner()] } }],
    ["taints", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }],
    ["its mode", { spec: { syncMode: "Push" } }],
    ["its proxy", { spec: { proxyURL: "http://elsewhere" } }],
    ["the check of certificates", { spec: { insecureSkipTLSVerification: true } }],
    ["resource models", { spec: { resourceModels: [{ grade: 0, ranges: [] }] } }],
    ["a Secret of another", { spec: { secretRef: { namespace: "karmada-cluster", name: OTHER } } }],
    ["actions of Remedies", { status: { remedyActions: ["TrafficControl"] } }, "/status"],
    ["that it is fenced", condition("Fenced"), "/status"],
    ["that stale copies are gone", condition("StaleCopiesRemoved"), "/status"],
  ])("does not write %s of its own Cluster, by any patch", async (_what, body, below = "") => {
    for (const kind of ["merge-patch", "strategic-merge-patch"]) {
      const headers = { "content-type": `application/${kind}+json` };
      const answer = await world.agent.ask("PATCH", `${clusterPath}${below}`, { body, headers });
      // A kind that is none of the built-in ones has no strategic patch.
      expect([kind, answer.code]).toEqual([kind, kind === "merge-patch" ? 403 : 415]);
    }
    const current = JSON.parse((await world.admin.ask("GET", clusterPath)).body) as object;
    const put = await world.agent.ask("PUT", `${clusterPath}${below}`, {
      body: merged(current, body),
    });
    expect(put.code).toBe(403);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["another agent", { "impersonate-user": `system:karmada:agent:${OTHER}` }],
    ["a master", { "impersonate-user": "admin", "impersonate-group": "system:masters" }],
    ["itself in another group", selfAnd({ "impersonate-group": "system:masters" })],
    ["itself with a uid", selfAnd({ "impersonate-uid": "1" })],
    ["itself with more", selfAnd({ "impersonate-extra-scopes": "all" })],
    ["the controllers", { "impersonate-user": "system:lifeboat" }],
    ["an account", { "impersonate-user": `system:serviceaccount:${FOREIGN_NAMESPACE}:one` }],
  ])("does not act as %s", async (_who, headers) => {
    for (const client of [world.agent, world.tenant])
      expect((await client.ask("GET", "/api/v1/namespaces/default", { headers })).code).toBe(403);
  });

  it("gets no certificate of another by its own request", async () => {
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const own = `${requests}/agent-${CLUSTER}`;
    expect((await world.agent.ask("DELETE", own)).code).toBe(200);
    const body = {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      ...requestOf(CLUSTER, OTHER),
    };
    expect((await world.agent.ask("POST", requests, { body })).code).toBe(201);
    await until("the request is denied", async () =>
      (await world.admin.ask("GET", own)).body.includes('"type":"Denied"'),
    );
    expect((await world.admin.ask("GET", own)).body).not.toContain('"certificate":');
  });

  it("sees nothing of another in what it may watch", async () => {
    const named = (name: string): string =>
      `fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
    const works = "/apis/work.karmada.io/v1alpha1/namespaces";
    const leases = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases";
    const watches = await openAll(world.agent, [
      `/apis/cluster.karmada.io/v1alpha1/clusters?watch=1&${named(CLUSTER)}`,
      `${works}/karmada-es-${CLUSTER}/works?watch=1`,
      `${leases}?watch=1&${named(CLUSTER)}`,
      `/apis/certificates.k8s.io/v1/certificatesigningrequests?watch=1&${named(`agent-${CLUSTER}`)}`,
    ]);
    for (const cluster of [OTHER, CLUSTER]) {
      const own = cluster === OTHER ? world.other : world.agent;
      await change(own, `/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}`, {
        spec: { region: "r" },
      });
      await change(world.admin, `${works}/karmada-es-${cluster}/works/one`, mark);
      await change(own, `${leases}/${cluster}`, { spec: { leaseDurationSeconds: 7 } });
      await change(
        world.admin,
        `/apis/certificates.k8s.io/v1/certificatesigningrequests/agent-${cluster}`,
        mark,
      );
    }
    // What is its own comes after what is the other's: when it is there, nothing of the other will come.
    await until("every watch has its own change", async () =>
      watches.every((watch) => watch.lines().some((line) => line.includes('"type":"MODIFIED"'))),
    );
    for (const watch of watches) {
      expect(watch.lines().join("\n")).not.toContain(OTHER);
      watch.stop();
    }
  });
});

describe("a tenant with edit in one namespace", () => {
  it("reads and writes there, and nowhere else, by every verb on every kind", async () => {
    const before = await snapshot(world);
    const result = await differences(
      world,
      "tenant",
      world.tenant,
      // What it sends is often no valid object: the right to send it is what is asked here.
      (_, code) => code !== 401 && code !== 403 && code < 500,
    );
    process.stdout.write(
      `access matrix of a tenant: ${result.sent} requests, ${result.allowed} allowed\n`,
    );
    expect(result.wrong).toEqual([]);
    expect(changed(before, await snapshot(world))).toEqual([]);
    expect(result.allowed).toBeGreaterThan(300);
  });

  it("gets into no member through the proxy, whatever the path below", async () => {
    for (const group of ["cluster.karmada.io", "proxy.lifeboat.dev"])
      for (const below of [
        "",
        "/",
        "/api",
        `/api/v1/namespaces/${TENANT_NAMESPACE}/pods`,
        "/version",
      ])
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]) {
          const path = `/apis/${group}/v1alpha1/clusters/${CLUSTER}/proxy${below}`;
          const { code } = await world.tenant.ask(method, path);
          expect([method, path, code]).toEqual([method, path, 403]);
        }
  });

  it("sees nothing of another namespace in lists, selections, Events and watches", async () => {
    const at = (namespace: string, plural: string): string =>
      `/api/v1/namespaces/${namespace}/${plural}`;
    const foreign = [
      "/api/v1/events",
      `/api/v1/events?fieldSelector=${encodeURIComponent(`involvedObject.namespace=${TENANT_NAMESPACE}`)}`,
      `/api/v1/configmaps?fieldSelector=${encodeURIComponent(`metadata.namespace=${TENANT_NAMESPACE}`)}`,
      "/apis/events.k8s.io/v1/events",
      "/api/v1/secrets?labelSelector=a%3Db",
    ];
    for (const path of foreign) {
      expect((await world.tenant.ask("GET", path)).code).toBe(403);
      const watch = `${path}${path.includes("?") ? "&" : "?"}watch=1`;
      expect((await world.tenant.ask("GET", watch)).code).toBe(403);
    }
    const own = ["configmaps", "secrets", "events"].map((plural) => at(TENANT_NAMESPACE, plural));
    for (const path of own) {
      const selected = `${path}?labelSelector=a%3Db`;
      const { code, body } = await world.tenant.ask("GET", selected);
      expect([path, code]).toEqual([path, 200]);
      expect(body).toContain('"name":"one"');
      expect(body).not.toContain(FOREIGN_NAMESPACE);
    }
    const watches = await openAll(
      world.tenant,
      own.map((path) => `${path}?watch=1`),
    );
    for (const namespace of [FOREIGN_NAMESPACE, TENANT_NAMESPACE])
      for (const plural of ["configmaps", "secrets", "events"])
        await change(world.admin, `${at(namespace, plural)}/one`, mark);
    await until("every watch has its own change", async () =>
      watches.every((watch) => watch.lines().some((line) => line.includes('"type":"MODIFIED"'))),
    );
    for (const watch of watches) {
      expect(watch.lines().join("\n")).not.toContain(FOREIGN_NAMESPACE);
      watch.stop();
    }
  });

  it("gets no more as a ServiceAccount of its namespace, which edit lets it act as", async () => {
    const headers = { "impersonate-user": `system:serviceaccount:${TENANT_NAMESPACE}:one` };
    const paths = ["/api/v1/secrets", `/api/v1/namespaces/${FOREIGN_NAMESPACE}/configmaps`];
    for (const path of [...paths, `/api/v1/namespaces/${TENANT_NAMESPACE}/secrets`])
      expect((await world.tenant.ask("GET", path, { headers })).code).toBe(403);
    const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const who = await world.tenant.ask("POST", reviews, { headers, body });
    expect(who.body).toContain(`system:serviceaccounts:${TENANT_NAMESPACE}`);
    expect(who.body).not.toContain("system:masters");
  });
});

function owner(): object {
  return { apiVersion: "v1", kind: "Namespace", name: "default", uid: "u" };
}

function condition(type: string): object {
  const conditions = [{ type, status: "True", reason: "R", message: "", lastTransitionTime: T }];
  return { status: { conditions } };
}

const T = "2026-01-01T00:00:00Z";
const mark = { metadata: { annotations: { "x.io/mark": "1" } } };

function selfAnd(more: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { "impersonate-user": `system:karmada:agent:${CLUSTER}`, ...more };
}

function merged(object: object, change: object): object {
  const result: Record<string, unknown> = { ...object };
  for (const [key, value] of Object.entries(change)) {
    const old = result[key];
    const isDeep = isObject(value) && isObject(old);
    result[key] = isDeep ? merged(old, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function openAll(client: RawClient, paths: readonly string[]): Promise<readonly RawWatch[]> {
  const watches: RawWatch[] = [];
  for (const path of paths) {
    const watch = await client.watch(path);
    expect([path, watch.code]).toEqual([path, 200]);
    watches.push(watch);
  }
  return watches;
}

async function change(client: RawClient, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/merge-patch+json" };
  const { code } = await client.ask("PATCH", path, { body, headers });
  expect([path, code]).toEqual([path, 200]);
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}`);
    await wait(100);
  }
}
