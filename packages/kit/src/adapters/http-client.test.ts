/** The HTTP adapter against scripted servers: what each kind of failure becomes, and what is repeated. */
import * as http from "node:http";
import * as net from "node:net";
import type { AddressInfo } from "node:net";
import { type AnyObject, Refused, type Resource, type WatchEvent } from "@lifeboat/api";
import { afterEach, expect, test, vi } from "vitest";
import { NotSent, OutcomeUnknown, type WatchEnd } from "../client.ts";
import { type CredentialSource, fixedCredential } from "./credentials.ts";
import { type Lease, leases } from "../leader-election.ts";
import { createHttpClient, type HttpClientConfig } from "./http-client.ts";
import { LANE_LIMITS, laneOf } from "./request-lanes.ts";

const things: Resource = {
  group: "ex.io",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: true,
};
const key = { namespace: "ns", name: "a" };
const thing = { apiVersion: "ex.io/v1", kind: "Thing", metadata: { namespace: "ns", name: "a" } };

/** No test waits for it: those it is for move the time. */
const CALL_TIMEOUT_MS = 60_000;

const cleanUps: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type Answer = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function serve(answer: Answer) {
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push(`${request.method} ${request.url}`);
      answer(request, response, Buffer.concat(chunks).toString("utf8"));
    });
  });
  const port = await listen(server);
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server: `http://127.0.0.1:${port}`, requests };
}

function connect(server: string, options: Partial<HttpClientConfig> = {}) {
  const client = createHttpClient({
    server,
    credentials: fixedCredential({ headers: {} }),
    userAgent: "test/1",
    callTimeoutMs: CALL_TIMEOUT_MS,
    ...options,
  });
  cleanUps.push(() => client.close());
  return client;
}

/** A server that never answers, in a time that passes only by `passTime`: once it has the next request, the call's is up. */
async function serveSilence() {
  let heard: () => void = () => undefined;
  const { server } = await serve(() => heard());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const passTime = async (): Promise<void> => {
    await new Promise<void>((resolve) => (heard = resolve));
    vi.advanceTimersByTime(CALL_TIMEOUT_MS);
  };
  return { server, passTime };
}

function sendJson(response: http.ServerResponse, code: number, body: unknown, headers = {}): void {
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Collects a watch: its events, and its end when it comes. */
function collect() {
  const events: WatchEvent[] = [];
  const ends: WatchEnd[] = [];
  let ended: () => void;
  const end = new Promise<void>((resolve) => (ended = resolve));
  const sink = {
    event: (event: WatchEvent) => void events.push(event),
    end: (why: WatchEnd) => {
      ends.push(why);
      ended();
    },
  };
  return { events, ends, end, sink };
}

test("each verb is the request Kubernetes expects", async () => {
  const bodies: [string | undefined, unknown][] = [];
  const { server, requests } = await serve((request, response, body) => {
    if (body !== "") bodies.push([request.headers["content-type"], JSON.parse(body)]);
    sendJson(response, 200, { ...thing, items: [] });
  });
  const client = connect(`${server}/prefix/`);
  await client.get(things, key, { subresource: "status", resourceVersion: "0" });
  await client.list(things, { labelSelector: "a in (b,c)", limit: 5, continue: "tok" });
  await client.list(things, { namespace: "ns" });
  await client.create(things, thing, { dryRun: true, fieldManager: "m" });
  await client.update(things, thing as AnyObject, { subresource: "status" });
  await client.patch(things, key, { type: "apply", body: {}, force: true }, { fieldManager: "m" });
  await client.patch(things, key, { type: "json", body: [] });
  await client.delete(things, key, { propagationPolicy: "Orphan", preconditions: { uid: "u" } });
  await client.deleteCollection(things, { namespace: "ns", fieldSelector: "x=y" });
  expect(requests.map((line) => line.replace("/prefix/apis/ex.io/v1", ""))).toEqual([
    "GET /namespaces/ns/things/a/status?resourceVersion=0",
    "GET /things?labelSelector=a+in+%28b%2Cc%29&limit=5&continue=tok",
    "GET /namespaces/ns/things",
    "POST /namespaces/ns/things?dryRun=All&fieldManager=m&timeout=60s",
    "PUT /namespaces/ns/things/a/status?timeout=60s",
    "PATCH /namespaces/ns/things/a?fieldManager=m&force=true&timeout=60s",
    "PATCH /namespaces/ns/things/a?timeout=60s",
    "DELETE /namespaces/ns/things/a?timeout=60s",
    "DELETE /namespaces/ns/things?fieldSelector=x%3Dy&timeout=60s",
  ]);
  expect(bodies.map(([type]) => type)).toEqual([
    "application/json",
    "application/json",
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/json",
    "application/json",
  ]);
  expect(bodies[4]?.[1]).toMatchObject({
    kind: "DeleteOptions",
    propagationPolicy: "Orphan",
    preconditions: { uid: "u" },
  });
});

test.each([
  ["/api/v1/namespaces/ns/pods/web-0.x", "/api/v1/namespaces/ns/pods/web-0.x"],
  ["/apis/ex.io/v1/things/a%2Fb", "/apis/ex.io/v1/things/a%2Fb"],
  ["/api/v1/pods/a b\u00e9", "/api/v1/pods/a%20b%C3%A9"],
  ["/api/v1/pods/#x", "/api/v1/pods/%23x"],
  ["/api/../secrets", "/secrets"],
  ["/api/./v1/%2e%2E/pods", "/api/pods"],
  ["/api/v1/..pods", "/api/v1/..pods"],
  ["/healthz/", "/healthz/"],
])("the path %s is sent as a URL writes it", async (path, sent) => {
  const { server, requests } = await serve((_, response) => sendJson(response, 200, {}));
  await connect(server).read(path);
  await connect(`${server}/prefix`).read(path);
  const url = new URL(server);
  url.pathname = path;
  expect(url.pathname).toBe(sent);
  url.pathname = `/prefix${path}`;
  expect(requests).toEqual([`GET ${sent}`, `GET ${url.pathname}`]);
});

test("items get kind and apiVersion, lose managedFields, and are frozen", async () => {
  const { server } = await serve((_, response) => {
    const items = [{ metadata: { name: "a", managedFields: [{}] }, spec: { x: 1 } }];
    sendJson(response, 200, { kind: "ThingList", metadata: { resourceVersion: "7" }, items });
  });
  const list = await connect(server).list(things);
  expect(list).toEqual({
    apiVersion: "ex.io/v1",
    kind: "ThingList",
    metadata: { resourceVersion: "7" },
    items: [{ apiVersion: "ex.io/v1", kind: "Thing", metadata: { name: "a" }, spec: { x: 1 } }],
  });
  expect(Object.isFrozen(list.items[0]?.["spec"])).toBe(true);
});

test("a Status is a refusal with its details, and Retry-After joins them", async () => {
  const { server, requests } = await serve((_, response) =>
    sendJson(
      response,
      429,
      { kind: "Status", apiVersion: "v1", reason: "TooManyRequests", message: "slow", code: 429 },
      { "retry-after": "3" },
    ),
  );
  const error = await connect(server)
    .create(things, thing)
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Refused);
  expect((error as Refused).status).toMatchObject({
    reason: "TooManyRequests",
    details: { retryAfterSeconds: 3 },
  });
  expect(requests).toHaveLength(1);
});

test("a refusal without Status gets one", async () => {
  const { server } = await serve((_, response) => {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("404 page not found\n");
  });
  const error = await connect(server)
    .get(things, key)
    .catch((e: unknown) => e);
  expect((error as Refused).status).toMatchObject({
    kind: "Status",
    code: 404,
    reason: "NotFound",
    message: "HTTP 404: the answer is not a Status",
  });
  expect((error as Refused).status.details).toBeUndefined();
});

test.each([
  { code: 502, message: "bad gateway", write: OutcomeUnknown },
  { code: 504, message: "Timeout: request did not complete", write: OutcomeUnknown },
  { code: 500, message: "etcdserver: request timed out", write: OutcomeUnknown },
  { code: 500, message: "resourceVersion should not be set", write: Refused },
  { code: 503, message: "not ready", write: Refused },
  { code: 409, message: "already exists", write: Refused },
])(
  "$code ($message) on a write is $write.name, on a read Refused",
  async ({ code, message, write }) => {
    const { server } = await serve((_, response) => {
      response.writeHead(code, { "content-type": "text/plain" });
      response.end(message);
    });
    const client = connect(server);
    await expect(client.create(things, thing)).rejects.toBeInstanceOf(write);
    await expect(client.get(things, key)).rejects.toBeInstanceOf(Refused);
  },
);

test("a refused connection is NotSent, also for a write", async () => {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const client = connect(`http://127.0.0.1:${port}`);
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(NotSent);
  await expect(client.get(things, key)).rejects.toBeInstanceOf(NotSent);
});

test("an unknown host is NotSent", async () => {
  const client = connect("http://nowhere.invalid:1");
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(NotSent);
});

test("a failed TLS handshake is NotSent", async () => {
  const { server, requests } = await serve((_, response) => sendJson(response, 200, thing));
  const client = connect(server.replace("http:", "https:"));
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(NotSent);
  expect(requests).toEqual([]);
});

test("a connection lost after a write was sent is OutcomeUnknown, after a read NotSent", async () => {
  const { server } = await serve((request) => request.socket.destroy());
  const client = connect(server);
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(OutcomeUnknown);
  await expect(client.delete(things, key)).rejects.toBeInstanceOf(OutcomeUnknown);
  await expect(client.get(things, key)).rejects.toBeInstanceOf(NotSent);
});

test("an answer that breaks off is OutcomeUnknown for a write, NotSent for a read", async () => {
  const { server } = await serve((request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"kind":', () => request.socket.destroy());
  });
  const client = connect(server);
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(OutcomeUnknown);
  await expect(client.get(things, key)).rejects.toBeInstanceOf(NotSent);
});

test("an answer that is not JSON is OutcomeUnknown for a write, NotSent for a read", async () => {
  const { server } = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end("<html>");
  });
  const client = connect(server);
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(OutcomeUnknown);
  await expect(client.get(things, key)).rejects.toBeInstanceOf(NotSent);
});

test("a call that takes too long ends", async () => {
  const { server, passTime } = await serveSilence();
  const client = connect(server);
  void passTime();
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(OutcomeUnknown);
  void passTime();
  await expect(client.get(things, key)).rejects.toBeInstanceOf(NotSent);
});

test("a call that was given up ends, and one given up before it began is never sent", async () => {
  const { server, requests } = await serve(() => stop.abort());
  const stop = new AbortController();
  const client = connect(server);
  await expect(client.create(things, thing, { signal: stop.signal })).rejects.toBeInstanceOf(
    OutcomeUnknown,
  );
  await expect(client.create(things, thing, { signal: stop.signal })).rejects.toBeInstanceOf(
    NotSent,
  );
  expect(requests).toHaveLength(1);
});

test("a write that is given up while it waits for a connection is never sent", async () => {
  const stop = new AbortController();
  let answerFirst: () => void = () => undefined;
  const { server, requests } = await serve((request, response) => {
    if (request.method === "GET") sendJson(response, 200, thing);
    else {
      answerFirst = () => sendJson(response, 201, thing);
      stop.abort();
    }
  });
  const client = connect(server, { maxConnections: { writes: 1 } });
  const first = client.create(things, thing);
  await expect(
    client.update(things, thing as AnyObject, { signal: stop.signal }),
  ).rejects.toBeInstanceOf(NotSent);
  answerFirst();
  await first;
  await client.get(things, key);
  expect(requests.map((line) => line.split(" ", 1)[0])).toEqual(["POST", "GET"]);
});

test("an answer that is too large is cut off", async () => {
  const { server } = await serve((_, response) => sendJson(response, 200, { x: "x".repeat(5000) }));
  const client = connect(server, { limits: { maxBytes: 1000 } });
  await expect(client.get(things, key)).rejects.toThrow("larger than 1000 bytes");
});

test("a read on a kept-alive connection that died is sent again; a write is not", async () => {
  let calls = 0;
  const { server, requests } = await serve((request, response) => {
    calls += 1;
    if (calls === 2 || calls === 5) request.socket.resetAndDestroy();
    else sendJson(response, 200, thing);
  });
  const client = connect(server, { maxConnections: { reads: 1, writes: 1 } });
  await client.get(things, key);
  await client.get(things, key);
  expect(requests).toHaveLength(3);
  await client.create(things, thing);
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(OutcomeUnknown);
  expect(requests).toHaveLength(5);
});

/** A server that lets all requests hang but those that `answers` names. */
async function serveSlowly(answers: (request: http.IncomingMessage) => boolean) {
  let hanging = 0;
  let heard: () => void = () => undefined;
  const isLess = (count: number): boolean => hanging < count;
  const { server } = await serve((request, response) => {
    if (answers(request)) {
      sendJson(response, 200, { ...thing, items: [] });
      return;
    }
    hanging += 1;
    heard();
  });
  const hang = async (count: number): Promise<void> => {
    while (isLess(count)) await new Promise<void>((resolve) => (heard = resolve));
  };
  return { server, hang };
}

const leaseKey = { namespace: "ns", name: "leader" };
const lease: Lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { ...leaseKey, uid: "u", resourceVersion: "1", creationTimestamp: "" },
};

test("a Lease is renewed and read at once while more lists and writes hang than there are connections", async () => {
  const { server, hang } = await serveSlowly(({ url }) => url?.includes("/leases") === true);
  const client = connect(server);
  const givenUp = new AbortController();
  const { signal } = givenUp;
  const calls = Array.from({ length: 100 }, () => [
    client.list(things, { signal }).catch(() => undefined),
    client.create(things, thing, { signal }).catch(() => undefined),
  ]).flat();
  await hang(LANE_LIMITS.reads + LANE_LIMITS.writes);
  await client.update(leases, lease);
  await client.get(leases, leaseKey);
  await client.list(leases, { namespace: "ns", labelSelector: "replica=true" });
  givenUp.abort();
  await Promise.all(calls);
});

test("a write is sent at once while more reads hang than there are connections", async () => {
  const { server, hang } = await serveSlowly(({ method }) => method !== "GET");
  const client = connect(server);
  const givenUp = new AbortController();
  const { signal } = givenUp;
  const reads = Array.from({ length: 100 }, () =>
    client.list(things, { signal }).catch(() => undefined),
  );
  await hang(LANE_LIMITS.reads);
  await client.update(things, thing as AnyObject);
  givenUp.abort();
  await Promise.all(reads);
});

test.each([
  ["GET", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a", "leases"],
  ["PUT", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a", "leases"],
  ["POST", "/apis/coordination.k8s.io/v1/namespaces/ns/leases", "leases"],
  ["GET", "/apis/coordination.k8s.io/v1/leases", "leases"],
  ["GET", "/apis/coordination.k8s.io/v1", "reads"],
  ["GET", "/apis/coordination.k8s.io/v1/namespaces/leases/leasecandidates", "reads"],
  ["GET", "/apis/ex.io/v1/namespaces/ns/leases/a", "reads"],
  ["DELETE", "/apis/ex.io/v1/namespaces/ns/things/a", "writes"],
] as const)("%s %s is among the %s", (method, path, lane) => {
  expect(laneOf(method, path)).toBe(lane);
});

test("a 401 leads to one fresh credential and one more attempt, for writes too", async () => {
  let token = "old";
  const credentials: CredentialSource = {
    current: async () => ({ headers: { authorization: `Bearer ${token}` } }),
    refresh: async () => {
      const changed = token !== "new";
      token = "new";
      return changed;
    },
  };
  let wanted = "Bearer new";
  const { server, requests } = await serve((request, response) => {
    if (request.headers.authorization === wanted) sendJson(response, 201, thing);
    else sendJson(response, 401, { kind: "Status", apiVersion: "v1", code: 401 });
  });
  const client = connect(server, { credentials });
  await client.create(things, thing);
  expect(requests).toHaveLength(2);
  wanted = "Bearer other";
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(Refused);
  expect(requests).toHaveLength(3);
});

test("credentials that cannot be had are NotSent", async () => {
  const credentials: CredentialSource = {
    current: () => Promise.reject(new Error("no plugin")),
    refresh: () => Promise.resolve(false),
  };
  const client = connect("http://127.0.0.1:1", { credentials });
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(NotSent);
});

test("a watch is cut at newlines, wherever the chunks break, also within a character", async () => {
  const lines =
    `${JSON.stringify({ type: "ADDED", object: { ...thing, text: "gr\u00fc\u00df \u{1F6DF}" } })}\n` +
    `${JSON.stringify({ type: "DELETED", object: thing })}\n` +
    `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } } })}\n`;
  const bytes = Buffer.from(lines);
  const { server } = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const send = (at: number): void => {
      if (at >= bytes.length) response.end();
      else response.write(bytes.subarray(at, at + 3), () => send(at + 3));
    };
    send(0);
  });
  const { events, ends, end, sink } = collect();
  connect(server).watch(things, {}, sink);
  await end;
  expect(events).toEqual([
    { type: "ADDED", object: { ...thing, text: "gr\u00fc\u00df \u{1F6DF}" } },
    { type: "DELETED", object: thing },
    { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: true },
  ]);
  expect(Object.isFrozen(events[0])).toBe(false);
  expect(Object.isFrozen((events[0] as { object: object }).object)).toBe(true);
  expect(ends).toEqual([{ kind: "closed" }]);
});

test.each([
  {
    name: "an ERROR event",
    answer: (_: http.IncomingMessage, response: http.ServerResponse) => {
      const object = { kind: "Status", apiVersion: "v1", code: 410, reason: "Expired" };
      response.write(`${JSON.stringify({ type: "ERROR", object })}\n{"type":"ADDED"`);
    },
    want: { kind: "refused", status: { code: 410, reason: "Expired" } },
  },
  {
    name: "a refusal",
    answer: (_: http.IncomingMessage, response: http.ServerResponse) =>
      sendJson(response, 403, { kind: "Status", apiVersion: "v1", reason: "Forbidden", code: 403 }),
    want: { kind: "refused", status: { code: 403 } },
  },
  {
    name: "a broken connection",
    answer: (request: http.IncomingMessage, response: http.ServerResponse) => {
      response.write("{", () => request.socket.destroy());
    },
    want: { kind: "lost" },
  },
  {
    name: "a line that is not JSON",
    answer: (_: http.IncomingMessage, response: http.ServerResponse) => void response.write("{{\n"),
    want: { kind: "lost" },
  },
  {
    name: "a line without object",
    answer: (_: http.IncomingMessage, response: http.ServerResponse) => void response.write("{}\n"),
    want: { kind: "lost" },
  },
  {
    name: "an unknown type",
    answer: (_: http.IncomingMessage, response: http.ServerResponse) =>
      void response.write('{"type":"FROB","object":{}}\n'),
    want: { kind: "lost" },
  },
  {
    name: "an endless line",
    answer: (_: http.IncomingMessage, response: http.ServerResponse) =>
      void response.write("x".repeat(5000)),
    want: { kind: "lost" },
  },
])("a watch ends once: $name", async ({ answer, want }) => {
  const { server } = await serve(answer);
  const { events, ends, end, sink } = collect();
  connect(server, { limits: { maxObjectBytes: 1000 } }).watch(things, {}, sink);
  await end;
  await new Promise(setImmediate);
  expect(events).toEqual([]);
  expect(ends).toMatchObject([want]);
});

test("a watch that gets no answer is lost once its time is up", async () => {
  const { server, passTime } = await serveSilence();
  const { ends, end, sink } = collect();
  connect(server).watch(things, {}, sink);
  await passTime();
  await end;
  expect(ends).toMatchObject([{ kind: "lost" }]);
});

test("a watch that is stopped ends once as closed, and stopping it again does nothing", async () => {
  const { server } = await serve((_, response) => {
    response.write(`${JSON.stringify({ type: "ADDED", object: thing })}\n`);
  });
  const { ends, end, sink } = collect();
  const watch = connect(server).watch(things, {}, { event: () => watch.stop(), end: sink.end });
  await end;
  watch.stop();
  await new Promise(setImmediate);
  expect(ends).toEqual([{ kind: "closed" }]);
});

test("a watch that is stopped before it was sent is never sent", async () => {
  const { server, requests } = await serve(() => undefined);
  const { ends, end, sink } = collect();
  connect(server).watch(things, {}, sink).stop();
  expect(ends).toEqual([]);
  await end;
  await new Promise(setImmediate);
  expect(requests).toEqual([]);
});

test("paths are read as JSON or text", async () => {
  const { server, requests } = await serve((request, response) => {
    if (request.url?.startsWith("/version") === true) sendJson(response, 200, { major: "1" });
    else response.end("ok");
  });
  const client = connect(server);
  expect(await client.read("/version?timeout=5s")).toEqual({ major: "1" });
  expect(await client.read("/readyz")).toBe("ok");
  expect(requests[0]).toBe("GET /version?timeout=5s");
});

test.each([
  ["a client certificate", { headers: {}, certificate: "broken", key: "broken" }, {}],
  ["an authority", { headers: {} }, { certificateAuthority: "-----BEGIN CERTIFICATE-----\nx\n" }],
])("%s that cannot be used leaves the request unsent", async (_name, credential, options) => {
  const client = connect("https://127.0.0.1:1", {
    credentials: fixedCredential(credential),
    ...options,
  });
  await expect(client.get(things, key)).rejects.toBeInstanceOf(NotSent);
  await expect(client.create(things, thing)).rejects.toBeInstanceOf(NotSent);
  const ended = await new Promise<WatchEnd>((resolve) => {
    client.watch(things, {}, { event: () => {}, end: resolve });
  });
  expect(ended.kind).toBe("lost");
});
