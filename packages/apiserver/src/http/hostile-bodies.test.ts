/** Hostile bodies: that a user without rights costs nothing, what is too much for any user, and that others are served between. */
import type { Client } from "@lifeboat/kit";
import { createWorld, resources, type World } from "@lifeboat/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { allowMasters } from "../authorization/allow-masters.ts";
import type { Attributes } from "../authorization/authorizer.ts";
import type { User } from "../authentication/user.ts";
import type { HttpRequest, HttpResponse } from "./exchange.ts";
import { makeRequest, send, type SendOptions, type Sent } from "./exchange.suite.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const BOB: User = { name: "bob", groups: ["system:authenticated"] };
const ANONYMOUS = null;
const YAML = { "content-type": "application/yaml" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const MERGE_PATCH = { "content-type": "application/merge-patch+json" };

const asked: Attributes[] = [];
let world: World;
const ask = (method: string, url: string, options?: SendOptions): Promise<Sent> =>
  send(world.server.handle, method, url, options);

beforeAll(async () => {
  world = await createWorld({
    authorizer: {
      ...allowMasters,
      allows: (attributes) => {
        asked.push(attributes);
        return allowMasters.allows(attributes);
      },
    },
  });
});

describe("a request is authorized before its body is decoded (D25)", () => {
  const rows: readonly [method: string, url: string, type: string][] = [
    ["POST", CONFIG_MAPS, "application/json"],
    ["POST", CONFIG_MAPS, "application/yaml"],
    ["POST", CONFIG_MAPS, "application/vnd.kubernetes.protobuf"],
    ["POST", CONFIG_MAPS, "application/unknown"],
    ["POST", "/api/v1/namespaces/default/pods/p/binding", "application/json"],
    ["POST", "/api/v1/namespaces/default/pods/p/eviction", "application/json"],
    ["POST", "/apis/authentication.k8s.io/v1/tokenreviews", "application/json"],
    ["PUT", `${CONFIG_MAPS}/a`, "application/json"],
    ["PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale", "application/json"],
    ["PUT", "/apis/apps/v1/namespaces/default/deployments/d/status", "application/yaml"],
    ["PATCH", `${CONFIG_MAPS}/a`, "application/json-patch+json"],
    ["PATCH", `${CONFIG_MAPS}/a`, "application/merge-patch+json"],
    ["PATCH", `${CONFIG_MAPS}/a`, "application/strategic-merge-patch+json"],
    ["PATCH", `${CONFIG_MAPS}/a`, "application/apply-patch+yaml"],
    ["PATCH", `${CONFIG_MAPS}/a`, "application/unknown"],
    ["DELETE", `${CONFIG_MAPS}/a`, "application/json"],
    ["DELETE", CONFIG_MAPS, "application/yaml"],
    ["POST", "/apis/nope.example.com/v1/things", "application/json"],
  ];
  for (const [method, url, type] of rows)
    for (const user of [BOB, ANONYMOUS])
      test(`${method} ${url} of ${type} by ${user?.name ?? "an anonymous client"}`, async () => {
        const untouched = untouchable({ method, url, type, user });
        const answer = await world.server.handle(untouched.request);
        expect(answer.status).toBe(403);
        expect(untouched.reads()).toBe(0);
      });

  test("also of a caller in process: what is wrong with the object is not told", async () => {
    const wrong = {
      apiVersion: "v1",
      kind: "Wrong",
      metadata: { name: "a", namespace: "default" },
    };
    const create = (client: Client): Promise<unknown> => client.create(resources.configMaps, wrong);
    await expect(create(world.client)).rejects.toMatchObject({ status: { code: 400 } });
    await expect(create(world.as(BOB))).rejects.toMatchObject({ status: { code: 403 } });
  });

  test("by the verb, the path and the user that were asked", async () => {
    await ask("PATCH", `${CONFIG_MAPS}/a/status`, { user: BOB, headers: MERGE_PATCH, body: {} });
    expect(asked.at(-1)).toMatchObject({
      kind: "resource",
      user: { name: "bob" },
      verb: "patch",
      group: "",
      version: "v1",
      plural: "configmaps",
      subresource: "status",
      namespace: "default",
      name: "a",
    });
  });
});

describe("what holds too much is refused with 413 and a sentence", () => {
  const rows: readonly {
    readonly name: string;
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body: string;
    readonly sentence: string;
  }[] = [
    {
      name: "JSON of too many values",
      body: `{"a":[${"1,".repeat(50_000)}1]}`,
      sentence: "the document holds more than 50000 values",
    },
    {
      name: "YAML that is too long",
      headers: YAML,
      body: `a: ${"x".repeat(256 * 1024)}`,
      sentence: "the YAML document is longer than 256 KiB; as JSON it may be larger",
    },
    {
      name: "YAML of 2.9 MB",
      headers: YAML,
      body: `a:\n${"- a\n".repeat(725_000)}`,
      sentence: "the YAML document is longer than 256 KiB; as JSON it may be larger",
    },
    {
      name: "YAML of too many words",
      headers: YAML,
      body: `a:\n${"- a\n".repeat(5000)}`,
      sentence: "the YAML document has more than 16000 words and signs; as JSON it may be larger",
    },
    {
      name: "JSON of too many values that is sent as YAML",
      headers: YAML,
      body: `{"a":[${"1,".repeat(50_000)}1]}`,
      sentence: "the document holds more than 50000 values",
    },
    {
      name: "a merge patch",
      method: "PATCH",
      headers: MERGE_PATCH,
      body: `{"a":[${"1,".repeat(50_000)}1]}`,
      sentence: "the document holds more than 50000 values",
    },
    {
      name: "options of a deletion",
      method: "DELETE",
      body: `{"a":[${"1,".repeat(50_000)}1]}`,
      sentence: "the document holds more than 50000 values",
    },
  ];
  for (const { name, method = "POST", headers = {}, body, sentence } of rows)
    test(name, async () => {
      const url = method === "POST" ? CONFIG_MAPS : `${CONFIG_MAPS}/a`;
      const answer = await ask(method, url, { headers, body });
      expect(answer.json).toMatchObject({
        code: 413,
        reason: "RequestEntityTooLarge",
        message: `Request entity too large: ${sentence}`,
      });
    });

  test("a patch that would make an object too large", async () => {
    const half = (prefix: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`${prefix}${i}`, ""]));
    const metadata = { name: "large" };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: half("a") };
    expect((await ask("POST", CONFIG_MAPS, { body })).status).toBe(201);
    const answer = await ask("PATCH", `${CONFIG_MAPS}/large`, {
      headers: MERGE_PATCH,
      body: { data: half("b") },
    });
    expect(answer.json).toMatchObject({
      code: 413,
      message:
        "Request entity too large: with this patch the object would hold more than 50000 values",
    });
    const smaller = await ask("PATCH", `${CONFIG_MAPS}/large`, {
      headers: JSON_PATCH,
      body: [{ op: "remove", path: "/data" }],
    });
    expect(smaller.status).toBe(200);
  });
});

describe("an answer stays small", () => {
  test("when ten thousand fields are wrong", async () => {
    const labels = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`wrong key ${i}`, "wrong value "]),
    );
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels } };
    const answer = await ask("POST", CONFIG_MAPS, { body });
    expect(answer.status).toBe(422);
    expect((answer.json["details"] as { causes: object[] }).causes).toHaveLength(100);
    expect(answer.json["message"]).toMatch(/, and more\]$/);
    expect(answer.text.length).toBeLessThan(100_000);
  });

  test("when keys of a megabyte stand above what is told", async () => {
    const key = "x".repeat(1_000_000);
    const twice = Array.from({ length: 200 }, (_, i) => `"k${i}":1,"k${i}":2`).join(",");
    const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"${key}":{${twice}}}`;
    const answer = await ask("POST", `${CONFIG_MAPS}?fieldValidation=Strict`, { body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("duplicate field");
    expect(answer.text.length).toBeLessThan(200_000);
  });
});

describe("while a large body is decoded", () => {
  const large = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "slow" },
    data: { a: "x".repeat(200_000) },
  });
  const words = `a:\n${"- a\n".repeat(3000)}`;

  /** A server whose turns are given by the test. */
  async function inTurns(): Promise<{ world: World; turn: () => Promise<void>; turns: number }> {
    const waiting: (() => void)[] = [];
    const state = { turns: 0 };
    const own = await createWorld({
      nextTurn: () => new Promise<void>((resolve) => waiting.push(resolve)),
    });
    return {
      world: own,
      turn: async () => {
        const next = waiting.shift();
        if (next === undefined) throw new Error("nothing waits for a turn");
        state.turns += 1;
        next();
        await own.settle();
      },
      get turns() {
        return state.turns;
      },
    };
  }

  const rows: readonly [string, SendOptions][] = [
    ["JSON", { body: large }],
    ["YAML", { headers: YAML, body: words }],
  ];
  for (const [name, options] of rows)
    test(`as ${name}, the requests of others are answered between its pieces`, async () => {
      const slow = await inTurns();
      const { handle } = slow.world.server;
      const slowOne = following(handle(makeRequest("POST", CONFIG_MAPS, options)));
      let served = 0;
      while (slowOne.status === 0) {
        expect((await send(handle, "GET", "/version")).status).toBe(200);
        const metadata = { name: `small-${served}` };
        const body = { apiVersion: "v1", kind: "ConfigMap", metadata };
        expect((await send(handle, "POST", CONFIG_MAPS, { body })).status).toBe(201);
        expect((await send(handle, "GET", `${CONFIG_MAPS}/small-${served}`)).status).toBe(200);
        served += 1;
        await slow.turn();
      }
      expect(served).toBeGreaterThanOrEqual(4);
      expect(slowOne.status).toBe(name === "JSON" ? 201 : 422);
    });

  test("several of them share the turns: one piece of one body in each", async () => {
    const slow = await inTurns();
    const { handle } = slow.world.server;
    const answered: number[] = [];
    for (let i = 0; i < 4; i++)
      void handle(makeRequest("POST", CONFIG_MAPS, { headers: YAML, body: words })).then(() =>
        answered.push(i),
      );
    let alone = 0;
    {
      const other = await inTurns();
      const one = following(
        other.world.server.handle(makeRequest("POST", CONFIG_MAPS, { headers: YAML, body: words })),
      );
      while (one.status === 0) await other.turn();
      alone = other.turns;
    }
    while (answered.length < 4) await slow.turn();
    expect(answered).toEqual([0, 1, 2, 3]);
    expect(slow.turns).toBeGreaterThanOrEqual(4 * alone - 3);
  });

  test("a small one waits for no turn", async () => {
    const slow = await inTurns();
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "small" } };
    expect((await send(slow.world.server.handle, "POST", CONFIG_MAPS, { body })).status).toBe(201);
    expect(slow.turns).toBe(0);
  });

  test("a broken one is refused as it would be at once", async () => {
    const slow = await inTurns();
    const request = makeRequest("POST", CONFIG_MAPS, { body: `${large}x` });
    const broken = following(slow.world.server.handle(request));
    while (broken.status === 0) await slow.turn();
    expect(broken.status).toBe(400);
  });
});

/** The status of an answer; 0 as long as there is none. */
function following(answer: Promise<HttpResponse>): { readonly status: number } {
  const seen = { status: 0 };
  void answer.then(({ status }) => {
    seen.status = status;
  });
  return seen;
}

/** A request whose body counts how often it is read, but for its length. */
function untouchable(of: {
  readonly method: string;
  readonly url: string;
  readonly type: string;
  readonly user: User | null;
}): { readonly request: HttpRequest; readonly reads: () => number } {
  let reads = 0;
  const body = new Proxy(new Uint8Array(1000), {
    get: (target, property) => {
      if (property === "length") return target.length;
      reads += 1;
      return Reflect.get(target, property, target) as unknown;
    },
  });
  const { method, url, type, user } = of;
  const headers = { "content-type": type };
  return {
    request: makeRequest(method, url, { user, headers, over: { body } }),
    reads: () => reads,
  };
}
