/** Requests through the whole way: TLS client → transport → handle → proxy → a scripted member, directly and by a tunnel. */
import { createHash } from "node:crypto";
import type * as http from "node:http";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  allowAll,
  createGround,
  type Ground,
  type GroundOptions,
  type ScriptedMember,
} from "./proxy-ground.suite.ts";

let ground: Ground | undefined;
afterEach(async () => {
  await ground?.close();
  ground = undefined;
});

type Way = "push" | "tunnel";
const WAYS: readonly Way[] = ["push", "tunnel"];

interface Lined {
  readonly ground: Ground;
  readonly member: ScriptedMember;
}

/** A ground with the member m1, reached by this way. */
async function lined(
  way: Way,
  onRequest: http.RequestListener,
  onUpgrade?: Parameters<Ground["member"]>[1],
  options?: GroundOptions,
): Promise<Lined> {
  ground = await createGround(options);
  const member = await ground.member(onRequest, onUpgrade);
  if (way === "push") ground.routes.set("m1", { kind: "push", access: member.access });
  else {
    ground.routes.set("m1", { kind: "tunnel" });
    await ground.agent("m1", member);
  }
  return { ground, member };
}

const echoHead: http.RequestListener = (request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({ method: request.method, url: request.url, raw: request.rawHeaders }),
  );
};

function valuesOf(raw: readonly string[], name: string): readonly string[] {
  return raw.flatMap((text, i) =>
    i % 2 === 0 && text.toLowerCase() === name ? [raw[i + 1] ?? ""] : [],
  );
}

const collect: http.RequestListener = (request, response) => {
  const hash = createHash("sha256");
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    hash.update(chunk);
    size += chunk.length;
  });
  request.on("end", () => response.end(JSON.stringify({ size, hash: hash.digest("hex") })));
};

describe.each(WAYS)("by %s", (way) => {
  test("a request reaches the member's path in the caller's name, and nothing of the caller's own", async () => {
    const { ground } = await lined(way, echoHead, undefined, { authorizer: allowAll });
    const answer = await ground.ask("/api/v1/pods?limit=5&x=%2F", {
      headers: {
        authorization: "Bearer stolen",
        cookie: "a=b",
        accept: "application/json;as=Table",
        "impersonate-user": "bob",
        "impersonate-group": ["devs", "ops"],
        "impersonate-extra-team%2fname": "blue",
        "x-remote-user": "root",
        "x-forwarded-for": "1.2.3.4",
        "lifeboat-tunnel": "dial",
        connection: "x-secret",
        "x-secret": "hop",
      },
    });
    expect(answer.status).toBe(200);
    const seen = JSON.parse(answer.text) as { method: string; url: string; raw: string[] };
    expect(seen).toMatchObject({ method: "GET", url: "/api/v1/pods?limit=5&x=%2F" });
    const token = way === "push" ? "impersonator-token" : "agent-token";
    expect(valuesOf(seen.raw, "authorization")).toEqual([`Bearer ${token}`]);
    expect(valuesOf(seen.raw, "impersonate-user")).toEqual(["bob"]);
    expect(valuesOf(seen.raw, "impersonate-group")).toEqual(["devs", "ops"]);
    expect(valuesOf(seen.raw, "impersonate-extra-team%2fname")).toEqual(["blue"]);
    expect(valuesOf(seen.raw, "accept")).toEqual(["application/json;as=Table"]);
    for (const name of [
      "cookie",
      "x-remote-user",
      "x-forwarded-for",
      "lifeboat-tunnel",
      "x-secret",
    ])
      expect(valuesOf(seen.raw, name)).toEqual([]);
  });

  test.each([
    ["with its length", {}],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])("a large body passes whole, %s", async (_name, headers) => {
    const { ground } = await lined(way, collect);
    const body = Buffer.alloc(20 * 1024 * 1024, "abcdefg");
    const length = "transfer-encoding" in headers ? {} : { "content-length": body.length };
    const answer = await ground.ask("/x", {
      method: "POST",
      body,
      headers: { ...headers, ...length },
    });
    const hash = createHash("sha256").update(body).digest("hex");
    expect(JSON.parse(answer.text)).toEqual({ size: body.length, hash });
  });

  test("a body of DELETE is framed, and the next request is a request of its own", async () => {
    const { ground, member } = await lined(way, collect);
    const body = "GET /evil HTTP/1.1\r\nhost: a\r\n\r\n";
    for (let i = 0; i < 3; i++) {
      const headers = { "transfer-encoding": "chunked" };
      const answer = await ground.ask("/x", { method: "DELETE", body, headers });
      expect(JSON.parse(answer.text)).toMatchObject({ size: body.length });
    }
    expect(member.requests.map(({ url }) => url)).toEqual(["/x", "/x", "/x"]);
  });

  test("a large answer passes whole to a slow reader, and the member waits for it", async () => {
    const whole = Buffer.alloc(30 * 1024 * 1024, "0123456789");
    const { ground } = await lined(way, (_request, response) => void response.end(whole));
    const response = await ground.open("/big");
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of response) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(size).toBe(whole.length);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(whole).digest("hex"));
  });

  test("a stream arrives line by line, and ends in the member when the caller goes", async () => {
    let log: http.ServerResponse | undefined;
    const { ground } = await lined(way, (_request, response) => {
      log = response;
      response.write("one\n");
    });
    const response = await ground.open("/log?follow=true");
    const lines = response[Symbol.asyncIterator]();
    expect(String((await lines.next()).value)).toBe("one\n");
    log?.write("two\n");
    expect(String((await lines.next()).value)).toBe("two\n");
    const gone = new Promise((resolve) => void log?.once("close", resolve));
    response.destroy();
    await gone;
  });

  test("an answer that breaks off is broken off for the caller, not ended", async () => {
    const { ground } = await lined(way, (_request, response) => {
      response.write("half");
      setTimeout(() => response.destroy(), 20);
    });
    const response = await ground.open("/x");
    await expect(
      (async () => {
        for await (const _ of response);
      })(),
    ).rejects.toThrow();
    expect((await ground.ask("/x", { cluster: "m2" })).status).toBe(404);
  });

  test.each([301, 302, 303, 307, 308, 300])(
    "a redirect (%s) is neither followed nor passed on",
    async (status) => {
      let followed = 0;
      const { ground } = await lined(way, (request, response) => {
        if (request.url === "/evil") followed += 1;
        response.writeHead(status, { location: "/evil" }).end();
      });
      const answer = await ground.ask("/x");
      expect(answer).toMatchObject({ status: 502 });
      expect(answer.headers.location).toBeUndefined();
      expect(answer.text).toContain("redirect");
      expect(followed).toBe(0);
    },
  );

  test("a refused credential is no matter of the caller's credential", async () => {
    const { ground } = await lined(way, (_request, response) => {
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
    });
    const answer = await ground.ask("/x");
    expect(answer.status).toBe(502);
    expect(answer.headers["www-authenticate"]).toBeUndefined();
    expect(answer.text).toContain("does not accept the credential");
  });

  test("the member's own refusal is passed on", async () => {
    const { ground } = await lined(way, (_request, response) => {
      response.writeHead(403, { "set-cookie": "a=b", "x-kubernetes-pf-flowschema-uid": "u" });
      response.end('{"kind":"Status"}');
    });
    const answer = await ground.ask("/x");
    expect(answer).toMatchObject({ status: 403, text: '{"kind":"Status"}' });
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(answer.headers["x-kubernetes-pf-flowschema-uid"]).toBe("u");
  });

  test.each([204, 304])("%s has no body, and the next request is answered", async (status) => {
    const { ground } = await lined(
      way,
      (_request, response) => void response.writeHead(status).end(),
    );
    for (let i = 0; i < 3; i++) expect(await ground.ask("/x")).toMatchObject({ status, text: "" });
    expect((await ground.ask("/x", { method: "HEAD" })).status).toBe(status);
  });

  test("HEAD has no body", async () => {
    const { ground } = await lined(way, (_request, response) => void response.end());
    expect(await ground.ask("/x", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  });

  test("a caller that breaks off its body breaks off the member's request", async () => {
    let broken: (() => void) | undefined;
    const wasBroken = new Promise<void>((resolve) => {
      broken = resolve;
    });
    const { ground, member } = await lined(way, (request) => {
      request.once("close", () => (request.complete ? undefined : broken?.()));
      request.resume();
    });
    const headers = { "content-length": 1000 };
    const sending = ground.open("/x", { method: "POST", headers, body: "half" });
    sending.catch(() => undefined);
    await until(() => member.requests.length === 1);
    await ground.hangUp();
    await wasBroken;
    await expect(sending).rejects.toThrow();
  });

  describe("another protocol", () => {
    const switching =
      (speak: (socket: Socket, head: Buffer) => void) =>
      (_message: http.IncomingMessage, socket: Socket, head: Buffer): void => {
        socket.on("error", () => undefined);
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n",
        );
        speak(socket, head);
      };

    test("bytes are copied both ways after 101", async () => {
      const { ground, member } = await lined(
        way,
        echoHead,
        switching((socket) => void socket.pipe(socket)),
      );
      const upgraded = await ground.upgrade("/api/v1/namespaces/a/pods/p/exec?command=sh", {
        headers: { "sec-websocket-protocol": "v5.channel.k8s.io", "sec-websocket-key": "k" },
      });
      if (upgraded.kind !== "switched") throw new Error(JSON.stringify(upgraded.answer));
      expect(upgraded.head.headers).toMatchObject({
        upgrade: "websocket",
        "sec-websocket-accept": "x",
      });
      const [request] = member.requests;
      expect(request?.headers).toMatchObject({
        "sec-websocket-protocol": "v5.channel.k8s.io",
        "impersonate-user": "admin",
        "impersonate-group": "system:masters",
      });
      const sent = Buffer.alloc(3 * 1024 * 1024, "xyz");
      upgraded.socket.write(sent);
      const back: Buffer[] = [];
      let size = 0;
      for await (const chunk of upgraded.socket) {
        back.push(chunk as Buffer);
        size += (chunk as Buffer).length;
        if (size >= sent.length) break;
      }
      expect(Buffer.concat(back).equals(sent)).toBe(true);
    });

    test("the end of either side ends the other", async () => {
      const sockets: Socket[] = [];
      const { ground } = await lined(
        way,
        echoHead,
        switching((socket) => {
          sockets.push(socket);
          socket.resume();
        }),
      );
      const first = await ground.upgrade("/exec");
      const second = await ground.upgrade("/exec");
      if (first.kind !== "switched" || second.kind !== "switched") throw new Error("no 101");
      const memberGone = new Promise((resolve) => void sockets[0]?.once("close", resolve));
      first.socket.destroy();
      await memberGone;
      const callerGone = new Promise((resolve) => void second.socket.once("close", resolve));
      second.socket.resume();
      sockets[1]?.destroy();
      await callerGone;
    });

    test("a refusal is an answer", async () => {
      const { ground } = await lined(way, (_request, response) => {
        response.writeHead(403).end("no");
      });
      expect(await ground.upgrade("/exec")).toMatchObject({
        kind: "answered",
        answer: { status: 403, text: "no" },
      });
    });

    test.each(["h2c", "tls/1.0", "websocket, h2c", "lifeboat-tunnel/1"])(
      "%s is not asked for",
      async (upgrade) => {
        const { ground, member } = await lined(way, echoHead);
        const answer = await ground.upgrade("/exec", { headers: { upgrade } });
        expect(answer).toMatchObject({ kind: "answered", answer: { status: 400 } });
        expect(member.requests).toEqual([]);
      },
    );
  });
});

describe("the way", () => {
  test("leads nowhere for a cluster that is not there, or is closed, or whose agent is away", async () => {
    ground = await createGround();
    expect((await ground.ask("/x", { cluster: "m9" })).status).toBe(404);
    ground.routes.set("m1", { kind: "closed", message: "it has no impersonator" });
    expect(await ground.ask("/x")).toMatchObject({
      status: 503,
      text: expect.stringContaining("it has no impersonator") as string,
    });
    ground.routes.set("m1", { kind: "tunnel" });
    expect(await ground.ask("/x")).toMatchObject({
      status: 503,
      text: expect.stringContaining("no tunnel open") as string,
    });
  });

  test("changes with the endpoint at once: nothing more is sent to the old one", async () => {
    const { ground, member } = await lined("push", echoHead);
    await ground.ask("/x");
    const other = await ground.member(echoHead);
    ground.routes.set("m1", { kind: "push", access: other.access });
    await ground.ask("/y");
    ground.routes.delete("m1");
    expect((await ground.ask("/z")).status).toBe(404);
    expect([member.requests.length, other.requests.length]).toEqual([1, 1]);
    await until(() => member.sockets.size === 0 && other.sockets.size === 0);
  });

  test("is not taken when the certificate is not of the member's authority", async () => {
    const { ground, member } = await lined("push", echoHead);
    const { caBundle: _, ...access } = member.access;
    ground.routes.set("m1", { kind: "push", access });
    expect((await ground.ask("/x")).status).toBe(502);
    expect(member.requests).toEqual([]);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["garbage", (socket) => void socket.write("\u0000\u0001garbage\r\n\r\n")],
    [
      "an endless head",
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`),
    ],
    [
      "a head of many lines",
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}`),
    ],
    ["no answer at all", (socket) => void socket.once("data", () => socket.destroy())],
    [
      "101 unasked",
      (socket) =>
        void socket.write("HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\nevil"),
    ],
    [
      "two lengths",
      (socket) =>
        void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
    ],
    ["a bad status", (socket) => void socket.write("HTTP/1.1 999 OK\r\ncontent-length: 0\r\n\r\n")],
  ])("of a member that sends %s ends with 502, and others are served", async (_name, speak) => {
    const { ground } = await lined("push", echoHead);
    const hostile = await ground.rawMember(speak);
    ground.routes.set("m2", { kind: "push", access: hostile.access });
    expect((await ground.ask("/x", { cluster: "m2" })).status).toBe(502);
    expect((await ground.ask("/x")).status).toBe(200);
  });
});

describe("room", () => {
  test("is bounded by caller and by member, and free again when streams end", async () => {
    const { ground } = await lined(
      "push",
      (_request, response) => void response.write("…"),
      undefined,
      { limits: { perUser: 2, perMember: 3 } },
    );
    const first = await ground.open("/a");
    const second = await ground.open("/b");
    const refused = await ground.ask("/c");
    expect(refused).toMatchObject({ status: 429 });
    expect(refused.headers["retry-after"]).toBe("1");
    const client = await ground.pki.client("other", ["system:masters"]);
    const third = await ground.open("/d", { client });
    expect((await ground.ask("/e", { client })).text).toContain("the cluster m1");
    for (const stream of [first, second, third]) stream.destroy();
    await until(async () => {
      const answer = await ground.open("/f");
      answer.destroy();
      return answer.statusCode === 200;
    });
  });
});

describe("a caller", () => {
  test.each([
    ["a group with a comma", { "impersonate-user": "bob" }, "devs,system:masters"],
    ["a name that is no header", { "impersonate-user": "b\u00f6b" }, "devs"],
  ])("with %s is not passed on as another one", async (_name, headers, group) => {
    const { ground, member } = await lined("push", echoHead, undefined, { authorizer: allowAll });
    const client = await ground.pki.client("eve", [group]);
    const asked = group.includes(",") ? { client } : { headers };
    const answer = await ground.ask("/x", asked);
    expect(answer.status).toBe(403);
    expect(member.requests).toEqual([]);
  });

  test("without the right to clusters/proxy gets our refusal; with it, the member's", async () => {
    const { ground, member } = await lined(
      "push",
      (_request, response) => void response.writeHead(403).end("the member refuses"),
      undefined,
      { authorizer: { ...allowAll, allows: ({ user }) => user.name !== "eve" } },
    );
    const eve = await ground.pki.client("eve", []);
    const ann = await ground.pki.client("ann", []);
    expect((await ground.ask("/x", { client: eve })).text).toContain(
      'clusters.cluster.karmada.io \\"m1\\" is forbidden',
    );
    expect(member.requests).toEqual([]);
    expect(await ground.ask("/x", { client: ann })).toMatchObject({
      status: 403,
      text: "the member refuses",
    });
    expect(member.requests[0]?.headers["impersonate-user"]).toBe("ann");
  });
});

/** Asks again until it holds; the test's own limit ends it. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => void setTimeout(resolve, 5));
}
