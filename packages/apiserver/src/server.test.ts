/** The composed server through `handle`: what goes over the wire, byte for byte where clients look closely. */
import { expect, test } from "vitest";
import type { HttpRequest, HttpResponse } from "@lifeboat/apiserver";
import { createWorld, type World } from "@lifeboat/testkit";

const admin = { name: "admin", groups: ["system:masters", "system:authenticated"] };

interface Answer {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly body: unknown;
}

async function ask(
  world: World,
  method: string,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const request: HttpRequest = {
    method,
    url,
    headers: { accept: "application/json", "content-type": "application/json", ...headers },
    body: body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body)),
    certificateUser: admin,
    signal: new AbortController().signal,
  };
  const response = await world.server.handle(request);
  return { status: response.status, headers: response.headers, body: parse(response.body) };
}

function parse(body: HttpResponse["body"]): unknown {
  if ("start" in body || "take" in body) throw new Error("the answer is a stream");
  const parts = body instanceof Uint8Array ? [body] : body;
  const text = parts.map((part) => new TextDecoder().decode(part)).join("");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

test("an object is created, read, changed and deleted over HTTP", async () => {
  const world = await createWorld();
  const created = await ask(world, "POST", maps, map("a"));
  expect(created.status).toBe(201);
  const read = await ask(world, "GET", `${maps}/a`);
  expect(read).toMatchObject({ status: 200, body: created.body });
  const patched = await ask(
    world,
    "PATCH",
    `${maps}/a`,
    { data: { x: "1" } },
    {
      "content-type": "application/merge-patch+json",
    },
  );
  expect(patched).toMatchObject({ status: 200, body: { data: { x: "1" } } });
  const { uid } = (created.body as { metadata: { uid: string } }).metadata;
  const deleted = await ask(world, "DELETE", `${maps}/a`);
  expect(deleted.status).toBe(200);
  expect(deleted.body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "a", kind: "configmaps", uid },
  });
});

test("items of built-in lists leave out kind and apiVersion", async () => {
  const world = await createWorld({ housekeeping: false });
  await ask(world, "POST", maps, map("a"));
  const list = await ask(world, "GET", maps);
  expect(list.body).toMatchObject({
    kind: "ConfigMapList",
    apiVersion: "v1",
    items: [{ metadata: { name: "a" } }],
  });
  const [item] = (list.body as { items: object[] }).items;
  expect(Object.keys(item ?? {})).toEqual(["metadata"]);
});

test("what Warn validation notices comes as a header", async () => {
  const world = await createWorld();
  const url = `${maps}?fieldValidation=Warn`;
  const created = await ask(world, "POST", url, { ...map("a"), foo: 1 });
  expect(created.status).toBe(201);
  expect(JSON.stringify(created.headers)).toContain(
    JSON.stringify('299 - "unknown field \\"foo\\""').slice(1, -1),
  );
});

const refusals = [
  {
    name: "a body for another namespace",
    call: ["POST", maps, { ...map("c9"), metadata: { name: "c9", namespace: "other" } }],
    want: {
      status: 400,
      body: {
        message:
          "the namespace of the provided object does not match the namespace sent on the request",
        reason: "BadRequest",
      },
    },
  },
  {
    name: "a body for another name",
    call: ["PUT", `${maps}/c1`, map("c2")],
    want: {
      status: 400,
      body: { message: "the name of the object (c2) does not match the name on the URL (c1)" },
    },
  },
  {
    name: "an absent object",
    call: ["GET", `${maps}/nope`, undefined],
    want: {
      status: 404,
      body: {
        kind: "Status",
        message: 'configmaps "nope" not found',
        details: { name: "nope", kind: "configmaps" },
      },
    },
  },
  {
    name: "an absent group",
    call: ["GET", "/apis/none.io/v1/things", undefined],
    want: { status: 404, body: "404 page not found\n" },
  },
] as const;
for (const { name, call, want } of refusals) {
  test(`HTTP answers ${name} as a real server does`, async () => {
    const world = await createWorld();
    const [method, url, body] = call;
    expect(await ask(world, method, url, body)).toMatchObject(want);
  });
}

test("a new server has the first namespaces, and a second start changes nothing", async () => {
  const world = await createWorld({ housekeeping: false });
  const names = async () => {
    const { body } = await ask(world, "GET", "/api/v1/namespaces");
    return (body as { items: { metadata: { name: string; resourceVersion: string } }[] }).items.map(
      ({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`,
    );
  };
  const before = await names();
  expect(before.map((text) => text.split(" ")[0])).toEqual([
    "default",
    "kube-node-lease",
    "kube-public",
    "kube-system",
  ]);
  await world.restart();
  expect(await names()).toEqual(before);
});

test("readiness ends when the server closes", async () => {
  const world = await createWorld();
  expect((await ask(world, "GET", "/readyz")).status).toBe(200);
  await world.close();
  expect((await ask(world, "GET", "/readyz")).status).toBe(500);
  expect((await ask(world, "GET", "/livez")).status).toBe(200);
});

test("a broken storage fails readiness and liveness by name; reads go on", async () => {
  const world = await createWorld();
  world.storage.fail(world.random);
  expect((await ask(world, "POST", maps, map("a"))).status).toBe(500);
  expect(await ask(world, "GET", "/readyz")).toMatchObject({
    status: 500,
    body: "[+]ping ok\n[-]storage failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n",
  });
  expect(await ask(world, "GET", "/livez")).toMatchObject({
    status: 500,
    body: "[+]ping ok\n[-]storage failed: reason withheld\nlivez check failed\n",
  });
  expect((await ask(world, "GET", "/livez/storage")).body).toBe(
    "internal server error: the simulated disk failed\n",
  );
  expect((await ask(world, "GET", maps)).status).toBe(200);
  await world.restart();
  expect((await ask(world, "GET", "/readyz")).body).toBe("ok");
});

test("a full storage of a control plane fails readiness by name until there is room, and liveness never", async () => {
  const world = await createWorld({ unreadyWhenFull: true });
  world.storage.fill();
  expect((await ask(world, "POST", maps, map("a"))).status).toBe(507);
  expect(await ask(world, "GET", "/readyz")).toMatchObject({
    status: 500,
    body: "[+]ping ok\n[+]storage ok\n[-]disk failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n",
  });
  expect((await ask(world, "GET", "/readyz/disk")).body).toBe(
    "internal server error: the simulated disk is full\n",
  );
  expect((await ask(world, "GET", "/readyz?exclude=disk")).body).toBe("ok");
  expect((await ask(world, "GET", "/livez")).body).toBe("ok");
  world.storage.free();
  // Without any write: the first question finds out, the next one is answered by it.
  await ask(world, "GET", "/readyz");
  expect((await ask(world, "GET", "/readyz")).body).toBe("ok");
});

test("a full storage of a member fails no check: it is no reason to move what runs there", async () => {
  const world = await createWorld();
  world.storage.fill();
  expect((await ask(world, "POST", maps, map("a"))).status).toBe(507);
  expect((await ask(world, "GET", "/readyz")).body).toBe("ok");
  expect((await ask(world, "GET", "/livez")).body).toBe("ok");
});
