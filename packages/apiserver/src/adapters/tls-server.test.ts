/** The transport over loopback: both protocols, certificates, limits, hostile bytes, shutting down. */
import * as http2 from "node:http2";
import * as https from "node:https";
import { connect as connectTcp } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tls from "node:tls";
import { createRealClock } from "@lifeboat/base/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Handle, HttpRequest, HttpStreamSink, Identify } from "../http/exchange.ts";
import { type CertifiedKey, openPki, type Pki } from "./pki.ts";
import { createTlsServer, type TlsServer } from "./tls-server.ts";
import type { TlsServerLimits } from "./tls-server-limits.ts";

let directory: string;
let pki: Pki;
let other: Pki;
let serverKey: CertifiedKey;
let admin: CertifiedKey;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tls-server-"));
  pki = await openPki(createRealClock(), join(directory, "own"));
  other = await openPki(createRealClock(), join(directory, "other"));
  serverKey = await pki.server([]);
  admin = await pki.client("admin", ["system:masters", "ops"]);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

let running: TlsServer[] = [];
afterEach(async () => {
  await Promise.all(running.map((server) => server.close(0)));
  running = [];
});

async function start(
  handle: Handle,
  limits: Partial<TlsServerLimits> = {},
  identifyClient: Identify = identify,
) {
  const server = createTlsServer({
    handle,
    identify: identifyClient,
    metrics: silentMetrics,
    log: silentLog,
    host: "127.0.0.1",
    port: 0,
    ...serverKey,
    clientCa: pki.ca,
    limits,
  });
  running.push(server);
  const { port } = await server.listen();
  return { server, port };
}

const identify: Identify = ({ certificateUser }) => certificateUser?.name;

/** Answers what it was asked, as JSON. */
const echo: Handle = async (request) => {
  const { method, url, body, certificateUser, certificateRefused, bodyTooLarge } = request;
  const answer = {
    method,
    url,
    size: body.length,
    user: certificateUser,
    refused: certificateRefused,
    tooLarge: bodyTooLarge,
    group: request.headers["impersonate-group"],
  };
  return {
    status: bodyTooLarge === true ? 413 : 200,
    headers: { "content-type": "application/json", warning: ['299 - "a"', '299 - "b"'] },
    body: Buffer.from(JSON.stringify(answer)),
  };
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface AskOptions {
  readonly client?: CertifiedKey;
  readonly method?: string;
  readonly path?: string;
  readonly body?: Uint8Array;
  readonly headers?: Record<string, string | string[]>;
}

type Ask = (port: number, options?: AskOptions) => Promise<Answer>;

const overHttp1: Ask = (port, { client, method = "GET", path = "/x", body, headers } = {}) =>
  new Promise((resolve, reject) => {
    const request = https.request(
      {
        port,
        host: "127.0.0.1",
        method,
        path,
        headers,
        ca: pki.ca,
        agent: false,
        ...(client && { cert: client.certificate, key: client.key }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on("error", reject);
    request.end(body);
  });

function connectHttp2(port: number, client?: CertifiedKey): http2.ClientHttp2Session {
  const session = http2.connect(`https://127.0.0.1:${port}`, {
    ca: pki.ca,
    ...(client && { cert: client.certificate, key: client.key }),
  });
  session.on("error", () => undefined);
  return session;
}

function askOn(session: http2.ClientHttp2Session, options: AskOptions = {}): Promise<Answer> {
  const { method = "GET", path = "/x", body, headers } = options;
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ":method": method, ":path": path, ...headers },
      { endStream: body === undefined },
    );
    let received: http2.IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on("response", (head) => {
      received = head;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("end", () =>
      resolve({
        status: received[":status"] as unknown as number,
        headers: received,
        text: Buffer.concat(chunks).toString(),
      }),
    );
    stream.end(body);
  });
}

const overHttp2: Ask = async (port, options = {}) => {
  const session = connectHttp2(port, options.client);
  try {
    return await askOn(session, options);
  } finally {
    session.destroy();
  }
};

/** A body that stops before its end. */
function hangingBody(port: number, bytes: number, client?: CertifiedKey) {
  const session = connectHttp2(port, client);
  const stream = session.request({ ":method": "POST", ":path": "/x" });
  let isCutOff = false;
  stream.on("error", () => undefined);
  stream.once("close", () => {
    isCutOff = true;
  });
  stream.resume();
  stream.write(Buffer.alloc(bytes));
  return { isCutOff: () => isCutOff, hangUp: () => session.destroy() };
}

const PROTOCOLS: readonly { readonly name: string; readonly ask: Ask }[] = [
  { name: "HTTP/1.1", ask: overHttp1 },
  { name: "HTTP/2", ask: overHttp2 },
];

describe.each(PROTOCOLS)("$name", ({ ask }) => {
  test("a request reaches the handler whole, and the answer comes back whole", async () => {
    const { port } = await start(echo);
    const answer = await ask(port, {
      client: admin,
      method: "POST",
      path: "/a/b?c=%2F",
      body: Buffer.alloc(100_000),
      headers: { "impersonate-group": ["g1", "g2"] },
    });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({
      method: "POST",
      url: "/a/b?c=%2F",
      size: 100_000,
      group: "g1, g2",
    });
    expect(answer.headers["content-length"]).toBe(String(answer.text.length));
    expect(answer.headers["warning"]).toBe('299 - "a", 299 - "b"');
  });

  test("HEAD has the headers and no body", async () => {
    const { port } = await start(echo);
    const answer = await ask(port, { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe("");
    expect(Number(answer.headers["content-length"])).toBeGreaterThan(0);
  });

  test("a certificate of our authority names its user and groups", async () => {
    const { port } = await start(echo);
    const answer = JSON.parse((await ask(port, { client: admin })).text) as { user: object };
    expect(answer.user).toMatchObject({
      name: "admin",
      groups: ["system:masters", "ops"],
      extra: {
        "authentication.kubernetes.io/credential-id": [
          expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/),
        ],
      },
    });
  });

  test("without a certificate there is no user and nothing is refused", async () => {
    const { port } = await start(echo);
    const answer = JSON.parse((await ask(port)).text) as object;
    expect(answer).toMatchObject({ refused: false });
    expect(answer).not.toHaveProperty("user");
  });

  test("certificates of another authority and server certificates are refused", async () => {
    const { port } = await start(echo);
    const foreign = await other.client("admin", ["system:masters"]);
    for (const client of [foreign, serverKey]) {
      const answer = JSON.parse((await ask(port, { client })).text) as object;
      expect(answer).toMatchObject({ refused: true });
      expect(answer).not.toHaveProperty("user");
    }
  });

  test("a client that takes time to be identified loses nothing of its body, and is known when it is read", async () => {
    const limits = { maxBodyBytes: 300_000, maxUnauthenticatedBodyBytes: 10 };
    const later: Identify = ({ headers }) =>
      new Promise((resolve, reject) => {
        setTimeout(() => {
          if (headers["x-user"] === "broken") reject(new Error("a bug"));
          else resolve(headers["x-user"]);
        }, 20);
      });
    const { port } = await start(echo, limits, later);
    const send = (user?: string): Promise<Answer> =>
      ask(port, {
        method: "POST",
        body: Buffer.alloc(200_000),
        headers: user === undefined ? {} : { "x-user": user },
      });
    expect(JSON.parse((await send("bob")).text)).toMatchObject({ size: 200_000 });
    expect(JSON.parse((await send()).text)).toMatchObject({ size: 0, tooLarge: true });
    expect(JSON.parse((await send("broken")).text)).toMatchObject({ size: 0, tooLarge: true });
  });

  test("a body above the limit is not read further", async () => {
    const { port } = await start(echo, { maxBodyBytes: 50_000, maxUnauthenticatedBodyBytes: 10 });
    const nobody = await ask(port, { method: "POST", body: Buffer.alloc(11) });
    expect(JSON.parse(nobody.text)).toMatchObject({ size: 0, tooLarge: true });
    const client = admin;
    const exact = await ask(port, { client, method: "POST", body: Buffer.alloc(50_000) });
    expect(JSON.parse(exact.text)).toMatchObject({ size: 50_000, tooLarge: false });
    const large = await ask(port, { client, method: "POST", body: Buffer.alloc(60_000) });
    expect(large.status).toBe(413);
    expect(JSON.parse(large.text)).toMatchObject({ size: 0, tooLarge: true });
    const announced = await ask(port, {
      client,
      method: "POST",
      body: Buffer.alloc(60_000),
      headers: { "content-length": "60000" },
    });
    expect(announced.status).toBe(413);
  });

  test("bodies of a user are bounded, what was answered no longer counts, and who sends too much is told", async () => {
    const { port } = await start(echo, { maxPendingBodyBytes: 400_000 });
    for (let i = 0; i < 5; i++) {
      const fits = await ask(port, { client: admin, method: "POST", body: Buffer.alloc(90_000) });
      expect(fits.status).toBe(200);
    }
    const outcome = await ask(port, {
      client: admin,
      method: "POST",
      body: Buffer.alloc(210_000),
    }).then(
      ({ status, headers }) => `${status}, again after ${String(headers["retry-after"])} s`,
      // A client that still sends may hear only that the connection is gone.
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(outcome).toMatch(/^(429, again after 1 s|ECONNRESET|EPIPE)$/);
    const small = await ask(port, { client: admin, method: "POST", body: Buffer.alloc(90_000) });
    expect(small.status).toBe(200);
  });

  test("unfinished bodies of one user and of clients without one leave room for others", async () => {
    const { port } = await start(echo, {
      maxPendingBodyBytes: 400_000,
      maxUnauthenticatedPendingBytes: 100_000,
      maxUnauthenticatedBodyBytes: 40_000,
    });
    const greedy = await pki.client("greedy", []);
    const hanging = [
      ...Array.from({ length: 20 }, () => hangingBody(port, 60_000, greedy)),
      ...Array.from({ length: 20 }, () => hangingBody(port, 30_000)),
    ];
    // There is room for three of the user's, and for one of the others.
    await eventually(() => hanging.filter(({ isCutOff }) => isCutOff()).length >= 36);
    for (let i = 0; i < 5; i++)
      for (const whose of [{ client: admin }, { client: greedy }, {}]) {
        const answer = await ask(port, { ...whose, method: "POST", body: Buffer.alloc(20_000) });
        expect(answer.status).toBe(200);
      }
    for (const { hangUp } of hanging) hangUp();
  });

  test("what is sent with a read is thrown away", async () => {
    const { port } = await start(echo);
    const headers = { "content-length": "200000" };
    const answer = await ask(port, { method: "GET", body: Buffer.alloc(200_000), headers });
    expect(JSON.parse(answer.text)).toMatchObject({ size: 0, tooLarge: false });
  });

  test("a handler that fails costs its request alone", async () => {
    let calls = 0;
    const { port } = await start(async (request) => {
      calls += 1;
      if (calls === 1) throw new Error("a bug");
      return echo(request);
    });
    const outcome = await ask(port).then(
      (answer) => answer.status,
      () => "lost",
    );
    expect(outcome).not.toBe(200);
    expect((await ask(port)).status).toBe(200);
  });
});

/** A stream under the test's hand. */
function streaming() {
  const log = { starts: 0, stops: 0, out: undefined as HttpStreamSink | undefined, aborted: 0 };
  const handle: Handle = async (request: HttpRequest) => {
    request.signal.addEventListener("abort", () => {
      log.aborted += 1;
    });
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: {
        start: (out) => {
          log.starts += 1;
          log.out = out;
          out.write(Buffer.from("first\n"));
        },
        stop: () => {
          log.stops += 1;
        },
      },
    };
  };
  return { log, handle };
}

interface OpenStream {
  readonly received: () => string;
  readonly until: (text: string) => Promise<void>;
  readonly ended: Promise<void>;
  readonly hangUp: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
}

function reading(source: NodeJS.ReadableStream, hangUp: () => void): OpenStream {
  let text = "";
  const waiting = new Set<() => void>();
  source.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    for (const check of waiting) check();
  });
  source.on("error", () => undefined);
  return {
    received: () => text,
    until: (wanted) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!text.includes(wanted)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    ended: new Promise((resolve) => {
      source.once("end", () => resolve());
    }),
    hangUp,
    pause: () => source.pause(),
    resume: () => source.resume(),
  };
}

type Open = (port: number) => Promise<OpenStream>;

const openHttp1: Open = (port) =>
  new Promise((resolve, reject) => {
    const request = https.get({ port, host: "127.0.0.1", path: "/w", ca: pki.ca, agent: false });
    request.on("error", reject);
    request.on("response", (response) => resolve(reading(response, () => request.destroy())));
  });

const openHttp2: Open = async (port) => {
  const session = connectHttp2(port);
  const stream = session.request({ ":path": "/w" });
  stream.once("close", () => session.close());
  const open = reading(stream, () => session.destroy());
  await new Promise((resolve) => {
    stream.once("response", resolve);
  });
  return open;
};

async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe.each([
  { name: "HTTP/1.1", open: openHttp1 },
  { name: "HTTP/2", open: openHttp2 },
])("streams over $name", ({ open }) => {
  test("what is written arrives at once, and the end is a proper end", async () => {
    const { log, handle } = streaming();
    const { port } = await start(handle);
    const stream = await open(port);
    await stream.until("first\n");
    log.out?.write(Buffer.from("second\n"));
    await stream.until("second\n");
    log.out?.end();
    await stream.ended;
    expect(stream.received()).toBe("first\nsecond\n");
    expect(log).toMatchObject({ starts: 1, stops: 0 });
  });

  test("a client that goes away stops its stream once", async () => {
    const { log, handle } = streaming();
    const { port } = await start(handle);
    const stream = await open(port);
    await stream.until("first\n");
    stream.hangUp();
    await eventually(() => log.stops > 0 && log.aborted > 0);
    expect(log.out?.write(Buffer.from("late"))).toBe(false);
    log.out?.end();
    expect(log).toMatchObject({ stops: 1, aborted: 1 });
  });

  test("a slow client is told by write and drain, and loses nothing", async () => {
    const { log, handle } = streaming();
    const { port } = await start(handle);
    const stream = await open(port);
    await stream.until("first\n");
    stream.pause();
    const out = log.out as HttpStreamSink;
    let drains = 0;
    out.onDrain(() => {
      drains += 1;
    });
    const chunk = Buffer.alloc(64 * 1024, "x");
    let written = 0;
    for (let i = 0; i < 1000 && written < 64 * 1024 * 1024; i++) {
      written += chunk.length;
      if (!out.write(chunk)) break;
    }
    expect(written).toBeLessThan(64 * 1024 * 1024);
    stream.resume();
    await eventually(() => drains > 0);
    out.write(Buffer.from("last\n"));
    out.end();
    await stream.ended;
    expect(stream.received().length).toBe("first\n".length + written + "last\n".length);
  });

  test("a client that takes nothing is cut off after a time", async () => {
    const { log, handle } = streaming();
    const { port } = await start(handle, { stallTimeoutMs: 100 });
    const stream = await open(port);
    await stream.until("first\n");
    stream.pause();
    const chunk = Buffer.alloc(256 * 1024);
    while (log.out?.write(chunk) === true);
    await eventually(() => log.stops > 0);
    expect(log.stops).toBe(1);
  });

  test("closing the server ends streams properly and lets requests finish", async () => {
    const { log, handle } = streaming();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let waiting = 0;
    const { server, port } = await start(async (request) => {
      if (request.url === "/w") return handle(request);
      waiting += 1;
      await released;
      return echo(request);
    });
    const stream = await open(port);
    await stream.until("first\n");
    const [one, two] = [overHttp1(port, { path: "/slow" }), overHttp2(port, { path: "/slow" })];
    await eventually(() => waiting === 2);
    const closed = server.close(10_000);
    await stream.ended;
    expect(log.stops).toBe(1);
    release();
    expect((await one).status).toBe(200);
    expect((await two).status).toBe(200);
    await closed;
    await expect(overHttp1(port)).rejects.toThrow();
  });
});

describe("limits", () => {
  test("a handshake, headers and a body that do not come are given up", async () => {
    const { port } = await start(echo, {
      handshakeTimeoutMs: 100,
      headersTimeoutMs: 100,
      requestTimeoutMs: 200,
      idleTimeoutMs: 300,
    });
    const silent = tls.connect({
      port,
      host: "127.0.0.1",
      ca: pki.ca,
      ALPNProtocols: ["http/1.1"],
    });
    const halfHeader = tls.connect({
      port,
      host: "127.0.0.1",
      ca: pki.ca,
      ALPNProtocols: ["http/1.1"],
    });
    halfHeader.write("GET / HTTP/1.1\r\nhost: x\r\n");
    const session = connectHttp2(port);
    const body = session.request({ ":method": "POST", ":path": "/", "content-length": "10" });
    body.on("error", () => undefined);
    body.write("12");
    for (const socket of [silent, halfHeader]) socket.on("error", () => undefined).resume();
    await Promise.all(
      [silent, halfHeader, body, session].map(
        (end) => new Promise((resolve) => void end.once("close", resolve)),
      ),
    );
    // A machine with much else to do may itself be too slow for these limits, now and then.
    const answers = async (): Promise<boolean> => {
      const answer = await overHttp1(port).catch(() => undefined);
      return answer?.status === 200;
    };
    while (!(await answers()));
  });

  test("requests that wait for nothing leave an idle HTTP/2 connection that is closed", async () => {
    const { port } = await start(echo, { idleTimeoutMs: 500 });
    const session = connectHttp2(port);
    expect((await askOn(session)).status).toBe(200);
    await new Promise((resolve) => void session.once("close", resolve));
  });

  test("an idle connection with a silent watch stays", async () => {
    const { log, handle } = streaming();
    const { port } = await start(handle, { idleTimeoutMs: 250 });
    const stream = await openHttp2(port);
    // Two connections without a watch, one after the other, live as long as idle ones may: twice that time passes.
    for (let i = 0; i < 2; i++) {
      const idle = connectHttp2(port);
      await new Promise((resolve) => void idle.once("close", resolve));
    }
    log.out?.write(Buffer.from("still here\n"));
    await stream.until("still here\n");
    stream.hangUp();
  });
});

test("closing does not wait for handshakes", async () => {
  const { server, port } = await start(echo);
  const silent = connectTcp({ port, host: "127.0.0.1" });
  silent.on("error", () => undefined);
  await new Promise((resolve) => void silent.once("connect", resolve));
  const gone = new Promise((resolve) => void silent.once("close", resolve));
  const before = performance.now();
  await server.close(0);
  await gone;
  expect(performance.now() - before).toBeLessThan(5000);
});

test("a handshake that takes too long ends with its connection, without a word", async () => {
  const { port } = await start(echo, { handshakeTimeoutMs: 50 });
  const silent = connectTcp({ port, host: "127.0.0.1" });
  let received = 0;
  silent.on("data", (chunk) => {
    received += chunk.length;
  });
  await new Promise((resolve) => void silent.once("close", resolve));
  expect(received).toBe(0);
});

describe("hostile bytes", () => {
  const speak = (port: number, bytes: Uint8Array, protocol: string): Promise<void> =>
    new Promise((resolve) => {
      const socket = tls.connect({
        port,
        host: "127.0.0.1",
        ca: pki.ca,
        ALPNProtocols: [protocol],
      });
      socket.on("error", () => undefined);
      socket.once("close", () => resolve());
      socket.once("secureConnect", () => socket.end(bytes));
      socket.resume();
    });

  test.each([
    ["nothing but line ends", "\r\n\r\n"],
    ["no target", "GET\r\n\r\n"],
    ["an unknown version", "GET / HTTP/9.9\r\n\r\n"],
    ["a negative length", "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    ],
    ["a bad chunk", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["an endless header", `GET / HTTP/1.1\r\n${"x".repeat(100_000)}`],
    ["an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("HTTP/1.1 gets %s and goes on", async (_name, text) => {
    const { port } = await start(echo);
    await speak(port, Buffer.from(text), "http/1.1");
    expect((await overHttp1(port)).status).toBe(200);
  });

  test("random bytes after either handshake, and instead of one, harm nobody", async () => {
    const { port } = await start(echo);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.constantFrom("h2", "http/1.1"),
        fc.boolean(),
        async (bytes, protocol, withPreface) => {
          const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
          await speak(port, withPreface ? Buffer.concat([preface, bytes]) : bytes, protocol);
        },
      ),
      { numRuns: 60 },
    );
    expect((await overHttp2(port)).status).toBe(200);
    expect((await overHttp1(port)).status).toBe(200);
  });
});

test("a renewed certificate serves new connections", async () => {
  const { server, port } = await start(echo);
  const before = await certificateOf(port);
  const renewed = await pki.server(["renewed.example"]);
  server.renew({ ...renewed, clientCa: pki.ca });
  expect(await certificateOf(port)).not.toBe(before);
  expect((await overHttp1(port, { client: admin })).text).toContain('"admin"');
});

function certificateOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: "127.0.0.1", ca: pki.ca }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("TLS 1.1 is not spoken", async () => {
  const { port } = await start(echo);
  const old = tls.connect({
    port,
    host: "127.0.0.1",
    ca: pki.ca,
    maxVersion: "TLSv1.1",
    minVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  });
  await expect(
    new Promise((resolve, reject) => {
      old.once("secureConnect", resolve);
      old.once("error", reject);
    }),
  ).rejects.toThrow();
});

test("a port that is taken is refused", async () => {
  const { port } = await start(echo);
  const second = createTlsServer({
    handle: echo,
    identify,
    metrics: silentMetrics,
    log: silentLog,
    host: "127.0.0.1",
    port,
    ...serverKey,
    clientCa: pki.ca,
  });
  await expect(second.listen()).rejects.toThrow(/EADDRINUSE/);
});
