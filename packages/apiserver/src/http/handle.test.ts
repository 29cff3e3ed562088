/** Requests and answers through `handle`, on the real server in process. */
import { createWorld, type World, widgetCrd, resources } from "@lifeboat/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import type { User } from "../authentication/user.ts";
import { send, type SendOptions, type Sent } from "./exchange.suite.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const BOB: User = { name: "bob", groups: [] };

let world: World;
const ask = (method: string, url: string, options?: SendOptions): Promise<Sent> =>
  send(world.server.handle, method, url, options);

function configMap(name: string, data: Record<string, string> = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

beforeAll(async () => {
  world = await createWorld({ tokens: new Map([["secret-token", BOB]]) });
  await ask("POST", CONFIG_MAPS, { body: configMap("c1", { a: "1" }) });
  await ask("POST", CONFIG_MAPS, { body: configMap("c2", { b: "2" }) });
});

describe("one object", () => {
  test("is created, read, replaced, patched and deleted", async () => {
    const created = await ask("POST", CONFIG_MAPS, { body: configMap("x", { a: "1" }) });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-cache, private",
      "audit-id": expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    const read = await ask("GET", `${CONFIG_MAPS}/x`);
    expect(read.status).toBe(200);
    expect(read.json).toEqual(created.json);
    const replaced = await ask("PUT", `${CONFIG_MAPS}/x`, { body: configMap("x", { a: "2" }) });
    expect(replaced).toMatchObject({ status: 200 });
    const patched = await ask("PATCH", `${CONFIG_MAPS}/x`, {
      headers: { "content-type": "application/merge-patch+json; charset=utf-8" },
      body: { data: { b: "3" } },
    });
    expect(patched.json["data"]).toEqual({ a: "2", b: "3" });
    const gone = await ask("DELETE", `${CONFIG_MAPS}/x`);
    expect(gone.status).toBe(200);
    expect(gone.json).toMatchObject({ kind: "Status", status: "Success" });
    expect((await ask("GET", `${CONFIG_MAPS}/x`)).json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'configmaps "x" not found',
      reason: "NotFound",
      details: { name: "x", kind: "configmaps" },
      code: 404,
    });
  });

  test("a body without a content type is JSON, YAML is understood", async () => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yy}\n";
    const sent = await ask("POST", `${CONFIG_MAPS}?dryRun=All`, {
      headers: { "content-type": "application/yaml" },
      body: yaml,
    });
    expect(sent.status).toBe(201);
    expect((await ask("POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("z") })).status).toBe(
      201,
    );
    expect((await ask("GET", `${CONFIG_MAPS}/z`)).status).toBe(404);
  });

  test("a table has one row, its columns and the object's metadata", async () => {
    const { json } = await ask("GET", `${CONFIG_MAPS}/c1`, { headers: TABLE });
    expect(json).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      rows: [{ object: { kind: "PartialObjectMetadata", metadata: { name: "c1" } } }],
    });
    expect((json["rows"] as { cells: unknown[] }[])[0]?.cells[0]).toBe("c1");
    const columns = json["columnDefinitions"] as { name: string }[];
    expect(columns.map((column) => column.name)).toEqual(["Name", "Data", "Age"]);
  });

  test("metadata alone can be asked for", async () => {
    const accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    const { json } = await ask("GET", `${CONFIG_MAPS}/c1`, { headers: { accept } });
    expect(json).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "c1" } });
    expect(json).not.toHaveProperty("data");
  });

  test("people get indented JSON, and YAML when they ask for it", async () => {
    const pretty = await ask("GET", `${CONFIG_MAPS}/c1?pretty=true`);
    expect(pretty.text).toContain('\n  "kind": "ConfigMap"');
    const curl = await ask("GET", `${CONFIG_MAPS}/c1`, { headers: { "user-agent": "curl/8" } });
    expect(curl.text).toBe(pretty.text);
    const yaml = await ask("GET", `${CONFIG_MAPS}/c1`, { headers: { accept: "application/yaml" } });
    expect(yaml.headers["content-type"]).toBe("application/yaml");
    expect(yaml.text).toMatch(/^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/);
  });
});

describe("lists", () => {
  test("items of built-in kinds carry no kind and apiVersion", async () => {
    const { json, headers } = await ask("GET", CONFIG_MAPS);
    expect(json).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1" });
    const items = json["items"] as Record<string, unknown>[];
    expect(items.map((item) => (item["metadata"] as { name: string }).name)).toEqual(["c1", "c2"]);
    expect(items[0]).not.toHaveProperty("kind");
    expect(items[0]).not.toHaveProperty("apiVersion");
    expect(items[0]).toHaveProperty("data", { a: "1" });
    expect(headers["content-type"]).toBe("application/json");
  });

  test("the bytes of a list are those of a list encoded at once", async () => {
    const { text, json } = await ask("GET", CONFIG_MAPS);
    expect(JSON.stringify(json)).toBe(text.trim());
  });

  test("an empty list has an empty array", async () => {
    const { text } = await ask("GET", "/api/v1/namespaces/nowhere/configmaps");
    expect(text).toMatch(/"items":\[\]\}\n$/);
  });

  test("a page says where to go on", async () => {
    const first = await ask("GET", `${CONFIG_MAPS}?limit=1`);
    const meta = first.json["metadata"] as { continue: string; remainingItemCount: number };
    expect(meta.remainingItemCount).toBe(1);
    const second = await ask(
      "GET",
      `${CONFIG_MAPS}?limit=1&continue=${encodeURIComponent(meta.continue)}`,
    );
    expect(second.json["items"]).toMatchObject([{ metadata: { name: "c2" } }]);
  });

  test("tables, metadata lists, YAML and indented JSON are other forms of the same list", async () => {
    const table = await ask("GET", `${CONFIG_MAPS}?includeObject=None`, { headers: TABLE });
    const rows = table.json["rows"] as Record<string, unknown>[];
    expect(rows).toHaveLength(2);
    expect(rows[0]).not.toHaveProperty("object");
    const accept = "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io";
    const metadata = await ask("GET", CONFIG_MAPS, { headers: { accept } });
    expect(metadata.json).toMatchObject({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1beta1",
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "c1" } }, {}],
    });
    const pretty = await ask("GET", `${CONFIG_MAPS}?pretty=1`);
    expect(pretty.json).toEqual((await ask("GET", CONFIG_MAPS)).json);
    const yaml = await ask("GET", CONFIG_MAPS, { headers: { accept: "application/yaml" } });
    expect(yaml.text).toContain("kind: ConfigMapList");
  });

  test("metadata of one object cannot be asked of a list, nor the reverse", async () => {
    const one = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    const many = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    expect((await ask("GET", CONFIG_MAPS, { headers: { accept: one } })).json).toMatchObject({
      code: 406,
      message:
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    });
    expect(
      (await ask("GET", `${CONFIG_MAPS}/c1`, { headers: { accept: many } })).json,
    ).toMatchObject({
      code: 406,
      message:
        "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
    });
  });

  test("a list of thousands of objects arrives whole", async () => {
    const big = await createWorld({ housekeeping: false });
    const payload = "x".repeat(2000);
    for (let i = 0; i < 1500; i++)
      await big.client.create(resources.configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `c${String(i).padStart(5, "0")}`, namespace: "default" },
        data: { payload },
      });
    const { json } = await send(big.server.handle, "GET", CONFIG_MAPS);
    const items = json["items"] as { metadata: { name: string } }[];
    expect(items).toHaveLength(1500);
    expect(items[1499]?.metadata.name).toBe("c01499");
    const table = await send(big.server.handle, "GET", CONFIG_MAPS, { headers: TABLE });
    expect(table.json["rows"]).toHaveLength(1500);
  });
});

describe("custom resources", () => {
  const WIDGETS = "/apis/ex.io/v1/namespaces/default/widgets";

  test("items of lists carry kind and apiVersion; strategic merge is refused", async () => {
    await world.client.create(resources.crds, widgetCrd());
    await world.advance("1s");
    const made = await ask("POST", WIDGETS, {
      body: { apiVersion: "ex.io/v1", kind: "Widget", metadata: { name: "w" }, spec: {} },
    });
    expect(made.status).toBe(201);
    const { json } = await ask("GET", WIDGETS);
    expect(json).toMatchObject({
      kind: "WidgetList",
      apiVersion: "ex.io/v1",
      metadata: { continue: "" },
      items: [{ kind: "Widget", apiVersion: "ex.io/v1", metadata: { name: "w" } }],
    });
    const refused = await ask("PATCH", `${WIDGETS}/w`, {
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: { spec: {} },
    });
    expect(refused.json).toMatchObject({
      code: 415,
      message:
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    });
  });
});

describe("refusals", () => {
  const JSON_TYPE = { "content-type": "application/json" };
  const MERGE = { "content-type": "application/merge-patch+json" };
  test.each<{ name: string; method?: string; url: string; options?: SendOptions; want: object }>([
    {
      name: "a method that a collection does not know",
      method: "PUT",
      url: CONFIG_MAPS,
      options: { body: configMap("c1") },
      want: {
        code: 405,
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource",
        details: {},
      },
    },
    { name: "POST on an object", method: "POST", url: `${CONFIG_MAPS}/c1`, want: { code: 405 } },
    { name: "HEAD", method: "HEAD", url: CONFIG_MAPS, want: { code: 405 } },
    { name: "a made-up method", method: "FOO", url: CONFIG_MAPS, want: { code: 405 } },
    {
      name: "creating over all namespaces",
      method: "POST",
      url: "/api/v1/configmaps",
      options: { body: configMap("c") },
      want: { code: 405 },
    },
    {
      name: "an unknown resource of a known version",
      url: "/api/v1/namespaces/default/nope",
      want: {
        code: 404,
        reason: "NotFound",
        message: "the server could not find the requested resource",
        details: {},
      },
    },
    { name: "an unknown version", url: "/apis/apps/v2", want: { code: 404, reason: "NotFound" } },
    { name: "an unknown subresource", url: `${CONFIG_MAPS}/c1/foo`, want: { code: 404 } },
    {
      name: "a namespaced object without namespace",
      url: "/api/v1/configmaps/c1",
      want: { code: 404 },
    },
    {
      name: "a cluster-scoped resource in a namespace",
      url: "/api/v1/namespaces/default/nodes",
      want: { code: 404 },
    },
    {
      name: "a path with dots",
      url: `${CONFIG_MAPS}/..`,
      want: { code: 400, reason: "BadRequest" },
    },
    {
      name: "a body that is not JSON",
      method: "POST",
      url: CONFIG_MAPS,
      options: { body: "{bad", headers: JSON_TYPE },
      want: {
        code: 400,
        message:
          "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string ({bad)",
      },
    },
    {
      name: "an empty body",
      method: "POST",
      url: CONFIG_MAPS,
      want: {
        code: 400,
        message:
          "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
      },
    },
    {
      name: "a body that is a list",
      method: "POST",
      url: CONFIG_MAPS,
      options: { body: [] },
      want: { code: 400, reason: "BadRequest" },
    },
    {
      name: "an unknown content type",
      method: "POST",
      url: CONFIG_MAPS,
      options: { body: "<a/>", headers: { "content-type": "text/xml" } },
      want: {
        code: 415,
        reason: "UnsupportedMediaType",
        message:
          "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      },
    },
    {
      name: "a patch without a patch type",
      method: "PATCH",
      url: `${CONFIG_MAPS}/c1`,
      options: { body: {}, headers: JSON_TYPE },
      want: { code: 415, message: "415: Unsupported Media Type", details: {} },
    },
    {
      name: "a broken merge patch",
      method: "PATCH",
      url: `${CONFIG_MAPS}/c1`,
      options: { body: "{bad", headers: MERGE },
      want: {
        code: 400,
        message:
          "error decoding patch: invalid character 'b' looking for beginning of object key string",
      },
    },
    {
      name: "a merge patch that is a list",
      method: "PATCH",
      url: `${CONFIG_MAPS}/c1`,
      options: { body: [], headers: MERGE },
      want: {
        code: 400,
        message:
          "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
      },
    },
    {
      name: "protobuf that is none",
      method: "POST",
      url: CONFIG_MAPS,
      options: {
        body: "xyz",
        headers: { "content-type": "application/vnd.kubernetes.protobuf" },
      },
      want: { code: 400, reason: "BadRequest" },
    },
    {
      name: "a body above the limit",
      method: "POST",
      url: CONFIG_MAPS,
      options: { over: { bodyTooLarge: true } },
      want: {
        code: 413,
        reason: "RequestEntityTooLarge",
        message: "Request entity too large: limit is 3145728",
      },
    },
    {
      name: "a bad timeout",
      url: `${CONFIG_MAPS}?timeout=abc`,
      want: {
        code: 400,
        message: 'invalid timeout specified in the request URL - time: invalid duration "abc"',
      },
    },
    {
      name: "a timeout without unit",
      url: `${CONFIG_MAPS}?timeout=5`,
      want: {
        code: 400,
        message:
          'invalid timeout specified in the request URL - time: missing unit in duration "5"',
      },
    },
    {
      name: "an unknown includeObject",
      url: `${CONFIG_MAPS}?includeObject=Bad`,
      options: { headers: TABLE },
      want: {
        code: 400,
        message:
          "Unable to convert to Table as requested: includeObject: Invalid value: \"Bad\": must be 'Metadata', 'Object', 'None', or empty",
      },
    },
    {
      name: "nobody listing",
      url: "/api/v1/namespaces",
      options: { user: null },
      want: {
        code: 403,
        reason: "Forbidden",
        message:
          'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
        details: { kind: "namespaces" },
      },
    },
    {
      name: "nobody creating, with a body that is not even decoded",
      method: "POST",
      url: CONFIG_MAPS,
      options: { user: null, body: "{bad" },
      want: {
        code: 403,
        message:
          'configmaps is forbidden: User "system:anonymous" cannot create resource "configmaps" in API group "" in the namespace "default"',
      },
    },
    {
      name: "nobody asking for what does not exist",
      url: "/apis/nope/v1/foos",
      options: { user: null },
      want: {
        code: 403,
        message:
          'foos.nope is forbidden: User "system:anonymous" cannot list resource "foos" in API group "nope" at the cluster scope',
        details: { group: "nope", kind: "foos" },
      },
    },
    {
      name: "nobody discovering",
      url: "/apis",
      options: { user: null },
      want: {
        code: 403,
        message: 'forbidden: User "system:anonymous" cannot get path "/apis"',
        details: {},
      },
    },
    {
      name: "a wrong token",
      url: CONFIG_MAPS,
      options: { user: null, headers: { authorization: "Bearer zzz" } },
      want: { code: 401, reason: "Unauthorized", message: "Unauthorized" },
    },
    {
      name: "a certificate that does not count",
      url: CONFIG_MAPS,
      options: { user: null, over: { certificateRefused: true } },
      want: { code: 401 },
    },
    {
      name: "groups without a user to impersonate",
      url: CONFIG_MAPS,
      options: { headers: { "impersonate-group": "g" } },
      want: { code: 400, reason: "BadRequest" },
    },
    {
      name: "impersonation without the right to it",
      url: CONFIG_MAPS,
      options: { user: BOB, headers: { "impersonate-user": "alice" } },
      want: {
        code: 403,
        message:
          'users "alice" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope',
      },
    },
    {
      name: "an impersonated user who may not",
      url: CONFIG_MAPS,
      options: { headers: { "impersonate-user": "bob" } },
      want: {
        code: 403,
        message:
          'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "default"',
      },
    },
  ])("$name", async ({ method = "GET", url, options, want }) => {
    const sent = await ask(method, url, options);
    const expected = { kind: "Status", apiVersion: "v1", status: "Failure", ...want };
    expect(sent.json).toMatchObject(expected);
    expect(sent.status).toBe(sent.json["code"]);
    expect(sent.headers["content-type"]).toBe("application/json");
  });

  test.each([
    "/nope",
    "/apis/nope",
    "/apis/foo.example.com/v1/bars",
    "//api/v1/nodes",
    "/readyz/nope",
  ])("%s is a page that does not exist", async (url) => {
    const sent = await ask("GET", url);
    expect(sent.status).toBe(404);
    expect(sent.text).toBe("404 page not found\n");
    expect(sent.headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  test("a Status is YAML for those who read YAML", async () => {
    const sent = await ask("GET", `${CONFIG_MAPS}/nope`, {
      headers: { accept: "application/yaml" },
    });
    expect(sent.text).toContain("code: 404\n");
  });
});

describe("who asks", () => {
  const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const review = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };
  const userInfo = async (options: SendOptions): Promise<unknown> => {
    const { json } = await ask("POST", REVIEWS, { body: review, ...options });
    return (json["status"] as { userInfo: unknown }).userInfo;
  };

  test("a certificate's user is authenticated", async () => {
    expect(await userInfo({})).toMatchObject({
      username: "admin",
      groups: ["system:masters", "system:authenticated"],
    });
  });

  test("a token's user is, whatever the case of the scheme", async () => {
    const headers = { authorization: "bearer secret-token" };
    expect(await userInfo({ user: null, headers })).toMatchObject({ username: "bob" });
  });

  test("a certificate goes before a token", async () => {
    const headers = { authorization: "Bearer zzz" };
    expect(await userInfo({ headers })).toMatchObject({ username: "admin" });
  });

  test("impersonation takes over name, groups, uid and extra", async () => {
    const headers = {
      "impersonate-user": "bob",
      "impersonate-group": "g1, g2",
      "impersonate-uid": "u1",
      "impersonate-extra-acme%2Fscopes": "view",
    };
    expect(await userInfo({ headers })).toEqual({
      username: "bob",
      uid: "u1",
      groups: ["g1", "g2", "system:authenticated"],
      extra: { "acme/scopes": ["view"] },
    });
  });

  test("an impersonated service account has its groups", async () => {
    const headers = { "impersonate-user": "system:serviceaccount:ns1:sa1" };
    expect(await userInfo({ headers })).toMatchObject({
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns1", "system:authenticated"],
    });
  });
});

describe("what comes with every answer", () => {
  test("the client's audit id is kept when it is usable", async () => {
    const own = await ask("GET", "/version", { headers: { "audit-id": "abc-1" } });
    expect(own.headers["audit-id"]).toBe("abc-1");
    for (const id of ["a b", "x".repeat(65), "ü", "a\nb"]) {
      const other = await ask("GET", "/version", { headers: { "audit-id": id } });
      expect(other.headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("warnings are quoted", async () => {
    const sent = await ask("POST", `${CONFIG_MAPS}?fieldValidation=Warn&dryRun=All`, {
      body: '{"metadata":{"name":"w"},"foo":1,"data":{"a":"1","a":"2"}}',
    });
    expect(sent.status).toBe(201);
    expect(sent.headers["warning"]).toEqual([
      '299 - "duplicate field \\"data.a\\""',
      '299 - "unknown field \\"foo\\""',
    ]);
  });
});

describe("other paths", () => {
  test("version, health and index answer", async () => {
    const version = await ask("GET", "/version", { user: null });
    expect(version.json).toMatchObject({
      major: "1",
      minor: "36",
      gitVersion: "v1.36.4+lifeboat.0.1.0",
    });
    expect((await ask("GET", "/readyz", { user: null })).text).toBe("ok");
    expect((await ask("GET", "/readyz/ping")).text).toBe("ok");
    expect((await ask("GET", "/livez?verbose")).text).toBe(
      "[+]ping ok\n[+]storage ok\nlivez check passed\n",
    );
    expect((await ask("GET", "/")).json["paths"]).toContain("/apis/apps/v1");
    expect((await ask("POST", "/version")).status).toBe(405);
    expect((await ask("GET", "/metrics")).headers["content-type"]).toMatch(/^text\/plain/);
  });

  test("legacy discovery lists groups, versions and resources", async () => {
    expect((await ask("GET", "/api")).json).toMatchObject({
      kind: "APIVersions",
      versions: ["v1"],
    });
    const groups = (await ask("GET", "/apis")).json["groups"] as { name: string }[];
    expect(groups.map((group) => group.name)).toContain("apps");
    expect((await ask("GET", "/apis/apps")).json).toEqual({
      kind: "APIGroup",
      apiVersion: "v1",
      name: "apps",
      versions: [{ groupVersion: "apps/v1", version: "v1" }],
      preferredVersion: { groupVersion: "apps/v1", version: "v1" },
    });
    const apps = (await ask("GET", "/apis/apps/v1")).json;
    expect(apps).toMatchObject({ kind: "APIResourceList", groupVersion: "apps/v1" });
    const names = (apps["resources"] as { name: string }[]).map((resource) => resource.name);
    expect(names.filter((name) => name.startsWith("deployments"))).toEqual([
      "deployments",
      "deployments/scale",
      "deployments/status",
    ]);
    expect((await ask("GET", "/api/v1")).json).not.toHaveProperty("apiVersion");
  });

  test.each(["v2", "v2beta1"])(
    "aggregated discovery %s echoes its type and knows its ETag",
    async (v) => {
      const accept = `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`;
      const first = await ask("GET", "/apis", {
        headers: { accept: `${accept},application/json` },
      });
      expect(first.headers).toMatchObject({
        "content-type": accept,
        vary: "Accept",
        "cache-control": "public",
        etag: expect.stringMatching(/^"[0-9A-F]{32}"$/) as string,
      });
      expect(first.json).toMatchObject({
        kind: "APIGroupDiscoveryList",
        apiVersion: `apidiscovery.k8s.io/${v}`,
      });
      const etag = first.headers["etag"] as string;
      const again = await ask("GET", "/apis", { headers: { accept, "if-none-match": etag } });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers["etag"]).toBe(etag);
    },
  );

  test("discovery that is not offered falls back or is not acceptable", async () => {
    const v3 = "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList";
    const fallback = await ask("GET", "/api", { headers: { accept: `${v3},application/json` } });
    expect(fallback.json["kind"]).toBe("APIVersions");
    expect((await ask("GET", "/api", { headers: { accept: v3 } })).status).toBe(406);
  });

  test("a new custom resource appears in discovery with a new ETag", async () => {
    const fresh = await createWorld();
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const discover = (): Promise<Sent> =>
      send(fresh.server.handle, "GET", "/apis", { headers: { accept } });
    const before = await discover();
    await fresh.client.create(resources.crds, widgetCrd());
    await fresh.advance("1s");
    const after = await discover();
    expect(before.text).not.toContain("widgets");
    expect(after.text).toContain('"resource":"widgets"');
    expect(after.headers["etag"]).not.toBe(before.headers["etag"]);
  });
});

test("deletion options come from the body, or from the query without one", async () => {
  await ask("POST", CONFIG_MAPS, { body: configMap("d") });
  const dry = await ask("DELETE", `${CONFIG_MAPS}/d?dryRun=All`);
  expect(dry.status).toBe(200);
  const wrong = await ask("DELETE", `${CONFIG_MAPS}/d`, {
    body: { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "other" } },
  });
  expect(wrong.status).toBe(409);
  const body = { kind: "DeleteOptions", apiVersion: "v1" };
  expect((await ask("DELETE", `${CONFIG_MAPS}/d?dryRun=All`, { body })).status).toBe(200);
  expect((await ask("GET", `${CONFIG_MAPS}/d`)).status).toBe(404);
});

test("a collection is deleted with what matched", async () => {
  const where = "/api/v1/namespaces/kube-public/configmaps";
  await ask("POST", where, { body: { metadata: { name: "a", labels: { g: "1" } } } });
  await ask("POST", where, { body: { metadata: { name: "b" } } });
  const gone = await ask("DELETE", `${where}?labelSelector=g%3D1`);
  expect(gone.json).toMatchObject({ kind: "ConfigMapList", items: [{ metadata: { name: "a" } }] });
  expect((await ask("GET", where)).json["items"]).toMatchObject([{ metadata: { name: "b" } }]);
});
