/** The HTTP adapter against a server that sends more than it may, or text that must not be shown. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { Refused, type Resource } from "@lifeboat/api";
import { afterEach, describe, expect, test } from "vitest";
import {
  excessIn,
  type ExcessiveResponse,
  NotSent,
  OutcomeUnknown,
  type WatchEnd,
} from "../client.ts";
import { fixedCredential } from "./credentials.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { MEMBER_LIMITS, type ResponseLimits, SLICE_BYTES } from "./response-limits.ts";

const things: Resource = {
  group: "ex.io",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: true,
};
const key = { namespace: "ns", name: "a" };
const MIB = 1024 * 1024;
const nestedIn = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type Answer = (response: http.ServerResponse, request: http.IncomingMessage) => void;

async function attacked(answer: Answer, limits: Partial<ResponseLimits> = {}) {
  const server = http.createServer((request, response) => answer(response, request));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const excesses: ExcessiveResponse[] = [];
  const client = createHttpClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: fixedCredential({ headers: { authorization: "Bearer secret" } }),
    userAgent: "test/1",
    limits: { ...MEMBER_LIMITS, ...limits },
    onExcess: (excess) => void excesses.push(excess),
  });
  cleanUps.push(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return { client, excesses };
}

function send(code: number, body: string, type = "application/json"): Answer {
  return (response) => {
    response.writeHead(code, { "content-type": type });
    response.end(body);
  };
}

const item = (i: number): string => `{"metadata":{"name":"t${i}"},"text":"${"x".repeat(300)}"}`;
const listOf = (items: readonly string[], more = ""): string =>
  `{"kind":"ThingList","metadata":{"resourceVersion":"7"${more}},"items":[${items.join(",")}]}`;
const manyItems = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => item(i));

describe("a response beyond its limits", () => {
  test.each<[string, string, Partial<ResponseLimits>, string]>([
    ["nested too deep, small", listOf([nestedIn(300)]), {}, "ResponseTooDeep"],
    ["nested too deep, ten megabytes", nestedIn(2 * MIB), {}, "ResponseTooDeep"],
    ["too large", `{"x":"${"x".repeat(17 * MIB)}"}`, {}, "ResponseTooLarge"],
    ["one object that is too large", `{"x":"${"x".repeat(5 * MIB)}"}`, {}, "ResponseTooLarge"],
    ["too many values", `{"x":[${"{},".repeat(200_000)}{}]}`, {}, "TooManyItems"],
    ["too many items", listOf(manyItems(6000)), {}, "TooManyItems"],
    ["too many small items", `{"items":[${"{},".repeat(20_000)}{}]}`, {}, "TooManyItems"],
    [
      "an item that is too large",
      listOf([item(1), `{"x":"${"x".repeat(5 * MIB)}"}`]),
      {},
      "ResponseTooLarge",
    ],
    ["deep metadata of a list", `{"metadata":${nestedIn(MIB)},"items":[]}`, {}, "ResponseTooDeep"],
  ])("%s is refused for what it is, and reported once", async (_name, body, limits, kind) => {
    const { client, excesses } = await attacked(send(200, body), limits);
    const error = await client.list(things).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(NotSent);
    expect(excessIn(error)?.kind).toBe(kind);
    expect(excesses.map((excess) => excess.kind)).toEqual([kind]);
  });

  test("of a write is an unknown outcome", async () => {
    const { client } = await attacked(send(201, nestedIn(300)));
    const object = { apiVersion: "ex.io/v1", kind: "Thing", metadata: { name: "a" } };
    await expect(client.create(things, object)).rejects.toBeInstanceOf(OutcomeUnknown);
  });

  test("without an end is cut off", async () => {
    const { client, excesses } = await attacked((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (!response.destroyed && response.write("1".repeat(65_536))) continue;
      };
      response.on("drain", more);
      more();
    });
    await expect(client.read("/apis")).rejects.toThrow("larger than 16777216 bytes");
    expect(excesses).toHaveLength(1);
  });

  test("in a watch ends it", async () => {
    for (const object of [nestedIn(300), `{"x":[${"{},".repeat(200_000)}1]}`]) {
      const line = `{"type":"ADDED","object":${object}}\n`;
      const { client, excesses } = await attacked((response) => void response.write(line));
      const why = await endOf(client);
      expect(why.kind).toBe("lost");
      expect(excesses).toHaveLength(1);
    }
  });

  test("is refused where a number does not fit", async () => {
    const { client } = await attacked(send(200, '{"status":{"x":1e999}}'));
    await expect(client.get(things, key)).rejects.toThrow("the answer is not JSON");
  });
});

test("large responses that failed give their places back", async () => {
  let body = `{"x":"${"x".repeat(2 * MIB)}"}`;
  const { client } = await attacked((response, request) => send(200, body)(response, request), {
    maxBytes: MIB,
  });
  for (let i = 0; i < 6; i++) await expect(client.list(things)).rejects.toThrow("larger than");
  body = listOf(manyItems(1500));
  expect((await client.list(things)).items).toHaveLength(1500);
});

function endOf(client: HttpClient): Promise<WatchEnd> {
  return new Promise((resolve) => {
    client.watch(things, {}, { event: () => undefined, end: resolve });
  });
}

describe("a large list within its limits", () => {
  const items = manyItems(4000);

  test("is the same as a small one", async () => {
    expect(listOf(items).length).toBeGreaterThan(4 * SLICE_BYTES);
    const { client } = await attacked(send(200, listOf(items, ',"continue":"more"')));
    const list = await client.list(things);
    expect(list.metadata).toEqual({ resourceVersion: "7", continue: "more" });
    expect(list.items).toHaveLength(4000);
    expect(list.items[17]).toEqual({
      apiVersion: "ex.io/v1",
      kind: "Thing",
      ...(JSON.parse(item(17)) as object),
    });
    expect(Object.isFrozen(list.items[17]?.metadata)).toBe(true);
  });

  test("is read in slices, between which other work is done", async () => {
    const { client } = await attacked(send(200, listOf(manyItems(4900), ',"x":1')));
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    const reading = client.list(things).then(() => (isOver = true));
    setImmediate(count);
    await reading;
    // Some 1.7 MB: seven slices to scan it and seven to parse it, beside the turns of the network.
    expect(turns).toBeGreaterThan(14);
  });

  test.each([
    ["a large one with other items", `{"items":${JSON.stringify("x".repeat(SLICE_BYTES))}}`],
    ["without items", '{"status":"please log in"}'],
    ["an array", "[]"],
    ["null", "null"],
  ])("that is no list is never taken for an empty one: %s", async (_name, body) => {
    const { client } = await attacked(send(200, body));
    await expect(client.list(things)).rejects.toThrow("the answer is no list of things");
  });

  test("of null is an empty list, as servers in Go write it", async () => {
    const { client } = await attacked(send(200, '{"metadata":{},"items":null}'));
    expect((await client.list(things)).items).toEqual([]);
  });
});

test.each(["null", "[]", "1", "{}", '{"metadata":"a"}'])(
  "an answer that is no object is refused: %s",
  async (body) => {
    const { client } = await attacked(send(200, body));
    await expect(client.get(things, key)).rejects.toThrow("the answer is no Thing");
  },
);

describe("what comes too fast", () => {
  const flood: Answer = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const event = `${JSON.stringify({ type: "ADDED", object: { metadata: { name: "a" } } })}\n`;
    const more = (): void => {
      while (!response.destroyed && response.write(event.repeat(100))) continue;
    };
    response.on("drain", more);
    more();
  };

  test("waits, and does not keep small answers waiting", async () => {
    const limits = { bytesPerSecond: 64 * 1024, burstBytes: 256 * 1024 };
    const { client } = await attacked((response, request) => {
      if (request.url?.includes("watch=true") === true) flood(response, request);
      else send(200, '{"kind":"Thing","metadata":{}}')(response, request);
    }, limits);
    let events = 0;
    const watch = client.watch(things, {}, { event: () => (events += 1), end: () => undefined });
    for (let i = 0; i < 20; i++) await client.get(things, key);
    const after = events;
    // An event counts as a KiB, so these are four bursts at the most.
    expect(after).toBeLessThan(1100);
    watch.stop();
  });
});

describe("words of a server", () => {
  test.each<[string, Answer, Partial<Refused["status"]>]>([
    [
      "a page",
      send(500, "<html>secret page</html>", "text/html"),
      { code: 500, reason: "InternalError", message: "HTTP 500: the answer is not a Status" },
    ],
    [
      "plain text",
      send(404, "secret page", "text/plain"),
      { code: 404, reason: "NotFound", message: "HTTP 404: the answer is not a Status" },
    ],
    [
      "a page in a Status",
      send(
        403,
        JSON.stringify({
          kind: "Status",
          apiVersion: "v1",
          code: 403,
          message: "no <BODY>secret page",
        }),
      ),
      { code: 403, reason: "Forbidden", message: "HTTP 403" },
    ],
    [
      "control characters and a made up reason",
      send(
        422,
        JSON.stringify({
          kind: "Status",
          apiVersion: "v1",
          code: 1e9,
          reason: "No Such Word",
          message: "spec.x:\u001b[31m\r\n \u202eInvalid\u0000 value: <nil>",
        }),
      ),
      { code: 422, reason: "Invalid", message: "spec.x: [31m Invalid value: <nil>" },
    ],
    [
      "a time that is no time",
      send(
        429,
        JSON.stringify({
          kind: "Status",
          apiVersion: "v1",
          code: 429,
          reason: "TooManyRequests",
          message: "slow",
          details: { retryAfterSeconds: "soon", a: { b: { c: { d: { e: {} } } } } },
        }),
      ),
      { code: 429, reason: "TooManyRequests", message: "slow", details: {} },
    ],
  ])("%s", async (_name, answer, want) => {
    const { client } = await attacked(answer);
    const error = await client.get(things, key).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Refused);
    expect((error as Refused).status).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      ...want,
    });
  });

  test("a long message is cut", async () => {
    const status = { kind: "Status", apiVersion: "v1", code: 400, message: "x".repeat(100_000) };
    const { client } = await attacked(send(400, JSON.stringify(status)));
    const error = await client.get(things, key).catch((e: unknown) => e);
    expect((error as Refused).message).toHaveLength(4096);
  });

  test("a refusal without an end is not read to its end, neither of a call nor of a watch", async () => {
    const { client } = await attacked((response) => {
      response.writeHead(503, { "content-type": "application/json" });
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536))) continue;
      };
      response.on("drain", more);
      more();
    });
    await expect(client.get(things, key)).rejects.toMatchObject({ status: { code: 503 } });
    expect(await endOf(client)).toMatchObject({ kind: "refused", status: { code: 503 } });
  });

  test("what is not JSON is not quoted", async () => {
    const { client } = await attacked(send(200, "secret page"));
    await expect(client.get(things, key)).rejects.toThrow(/^the answer is not JSON$/);
    const watched = await attacked((response) => void response.write("secret page\n"));
    expect(await endOf(watched.client)).toEqual({
      kind: "lost",
      error: new Error("an event is not JSON"),
    });
  });
});

test("a redirect is not followed, and the credential goes nowhere else", async () => {
  const elsewhere: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    elsewhere.push(request.headers.authorization);
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => void server.close());
  const location = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { client } = await attacked((response) => {
    response.writeHead(307, { location });
    response.end();
  });
  await expect(client.get(things, key)).rejects.toThrow("HTTP 307: redirects are not followed");
  expect(await endOf(client)).toMatchObject({ kind: "refused", status: { code: 307 } });
  expect(elsewhere).toEqual([]);
});
