/** Overload, deadlines and failures: what the server does when a verb does not answer, or answers with a bug. */
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { type Log, silentLog, silentMetrics } from "@lifeboat/kit";
import { createWorld, type World } from "@lifeboat/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { allowMasters } from "../authorization/allow-masters.ts";
import type { Verbs } from "../verbs/verbs.ts";
import type { Handle } from "./exchange.ts";
import { openStream, send } from "./exchange.suite.ts";
import { createHandle, DEFAULT_HANDLE_LIMITS, type HandleDeps } from "./handle.ts";
import type { HealthCheck } from "./health.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
let world: World;
beforeAll(async () => {
  world = await createWorld();
});

/** A handler whose verbs are the test's; only those named may be called. */
function handler(verbs: Partial<Verbs>, over: Partial<HandleDeps> = {}) {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const handle: Handle = createHandle({
    clock,
    ids: createSeededIds(createRandom(1)),
    log: silentLog,
    metrics: silentMetrics,
    verbs: verbs as Verbs,
    catalog: world.server.catalog,
    authorizer: allowMasters,
    openApi: {
      index: () => ({ status: 200, headers: { etag: '"i"' }, body: Buffer.from("{}") }),
      document: (path, hash) =>
        path === "apis/apps/v1"
          ? { status: 200, headers: { etag: `"${hash}"` }, body: Buffer.from(path) }
          : undefined,
    },
    health: { live: [], ready: [] },
    authenticateToken: () => undefined,
    gitVersion: "v1.36.4",
    ...over,
  });
  return { handle, clock };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe("too much at once", () => {
  const limits = { ...DEFAULT_HANDLE_LIMITS, reads: 2, writes: 1 };

  test("is refused at once, reads and writes apart, and told when to come back", async () => {
    const { handle } = handler({ get: never, create: never }, { limits });
    void send(handle, "GET", `${CONFIG_MAPS}/a`);
    void send(handle, "GET", `${CONFIG_MAPS}/b`);
    const third = await send(handle, "GET", `${CONFIG_MAPS}/c`);
    expect(third.json).toMatchObject({ code: 429, reason: "TooManyRequests" });
    expect(third.headers["retry-after"]).toBe("1");
    void send(handle, "POST", CONFIG_MAPS, { body: {} });
    expect((await send(handle, "POST", CONFIG_MAPS, { body: {} })).status).toBe(429);
    expect((await send(handle, "GET", "/version")).status).toBe(200);
  });

  test("ends when requests do, also when they fail", async () => {
    let calls = 0;
    const { handle } = handler(
      {
        get: () => {
          calls += 1;
          return Promise.reject(new Error("a bug"));
        },
      },
      { limits },
    );
    for (let i = 0; i < 5; i++)
      expect((await send(handle, "GET", `${CONFIG_MAPS}/a`)).status).toBe(500);
    expect(calls).toBe(5);
  });

  test("watches do not count", async () => {
    const { handle } = handler(
      { watch: () => Promise.resolve({ stop: () => undefined }) },
      { limits },
    );
    const watches = Array.from({ length: 10 }, () => openStream(handle, `${CONFIG_MAPS}?watch=1`));
    const statuses = (await Promise.all(watches)).map(({ response }) => response.status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});

describe("deadlines", () => {
  test.each([
    ["", 60_000],
    ["?timeout=5s", 5000],
    ["?timeout=10m", 60_000],
    ["?timeout=0s", 60_000],
    ["?timeout=-3s", 60_000],
  ])("a request %s is given up after %d ms", async (query, afterMs) => {
    const { handle, clock } = handler({ get: never });
    let status = 0;
    const answer = send(handle, "GET", `${CONFIG_MAPS}/a${query}`).then((sent) => {
      status = sent.status;
      return sent;
    });
    await clock.advance(afterMs - 1);
    expect(status).toBe(0);
    await clock.advance(1);
    expect((await answer).json).toMatchObject({
      code: 504,
      reason: "Timeout",
      message: "Timeout: request did not complete within the allotted timeout",
    });
  });

  test("an answer in time leaves no timer behind", async () => {
    const { handle, clock } = handler({ get: () => Promise.reject(new Error("x")) });
    await send(handle, "GET", `${CONFIG_MAPS}/a`);
    expect(clock.nextDue()).toBeUndefined();
  });
});

test("a bug is a 500 without its details, and a line in the log", async () => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, error: (message, fields) => lines.push([message, fields]) };
  const secret = new Error("the secret");
  const { handle } = handler({ get: () => Promise.reject(secret) }, { log });
  const sent = await send(handle, "GET", `${CONFIG_MAPS}/a`);
  expect(sent.json).toMatchObject({ code: 500, reason: "InternalError" });
  expect(sent.text).not.toContain("secret");
  expect(lines).toMatchObject([["handling a request", { error: secret, method: "GET" }]]);
});

test("an object without stored bytes is encoded, also in lists", async () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  };
  const { handle } = handler({
    get: () => Promise.resolve({ object }),
    list: () =>
      Promise.resolve({
        resourceVersion: "7",
        // The second has bytes that are not those of a ConfigMap: they are not trusted.
        items: [{ object }, { object, bytes: Buffer.from('{"kind":"Other"}') }],
      }),
  });
  expect((await send(handle, "GET", `${CONFIG_MAPS}/a`)).json).toEqual(object);
  const { metadata } = object;
  expect((await send(handle, "GET", CONFIG_MAPS)).json).toEqual({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: { resourceVersion: "7" },
    items: [{ metadata }, { metadata }],
  });
});

describe("health", () => {
  const good: HealthCheck = { name: "ping", check: () => undefined };
  const bad: HealthCheck = { name: "disk", check: () => "the disk is full" };
  const broken: HealthCheck = {
    name: "broken",
    check: () => {
      throw new Error("a bug");
    },
  };

  test("one failed check fails the whole, unless it is left out", async () => {
    const { handle } = handler({}, { health: { live: [good], ready: [good, bad, broken] } });
    const ready = await send(handle, "GET", "/readyz");
    expect(ready.status).toBe(500);
    expect(ready.text).toBe(
      "[+]ping ok\n[-]disk failed: reason withheld\n[-]broken failed: reason withheld\nreadyz check failed\n",
    );
    expect((await send(handle, "GET", "/livez")).text).toBe("ok");
    expect((await send(handle, "GET", "/healthz")).text).toBe("ok");
    const excluded = await send(handle, "GET", "/readyz?exclude=disk&exclude=broken&verbose");
    expect(excluded.status).toBe(200);
    expect(excluded.text).toContain("[+]disk excluded: ok\n");
    const single = await send(handle, "GET", "/readyz/disk");
    expect(single).toMatchObject({
      status: 500,
      text: "internal server error: the disk is full\n",
    });
  });
});

describe("OpenAPI", () => {
  test("documents are served as they are given, known ones are not sent again", async () => {
    const { handle } = handler({});
    const index = await send(handle, "GET", "/openapi/v3");
    expect(index).toMatchObject({ status: 200, text: "{}" });
    expect(index.headers["cache-control"]).toBe("no-cache, private");
    const apps = await send(handle, "GET", "/openapi/v3/apis/apps/v1?hash=H");
    expect(apps).toMatchObject({ status: 200, text: "apis/apps/v1" });
    const again = await send(handle, "GET", "/openapi/v3/apis/apps/v1?hash=H", {
      headers: { "if-none-match": '"H"' },
    });
    expect(again).toMatchObject({ status: 304, text: "" });
    expect((await send(handle, "GET", "/openapi/v3/apis/nope")).status).toBe(404);
    expect((await send(handle, "GET", "/openapi/v1")).status).toBe(404);
  });

  test("the second version describes nothing, in both forms", async () => {
    const { handle } = handler({});
    const json = await send(handle, "GET", "/openapi/v2");
    expect(json.status).toBe(200);
    expect(JSON.parse(json.text)).toMatchObject({ swagger: "2.0", paths: {} });
    const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const protobuf = await send(handle, "GET", "/openapi/v2", { headers: { accept } });
    expect(protobuf.headers["content-type"]).toContain("protobuf");
    expect(protobuf.text.startsWith("\n\u00032.0\u0012")).toBe(true);
    expect(protobuf.text).toContain("Lifeboat");
    expect((await send(handle, "GET", "/openapi/v2/apis")).status).toBe(404);
  });
});
