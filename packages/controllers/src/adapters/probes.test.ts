/** Probes against real servers on loopback that work, refuse, hang, fail, answer slowly, redirect, break off, or speak something else. */
import { createServer as createHttp, type RequestListener, type Server } from "node:http";
import { createServer as createTcp, type Server as TcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, test } from "vitest";
import { httpProbe } from "./probe-http.ts";
import { tcpProbe } from "./probe-tcp.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listening(server: Server | TcpServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const serve = (answer: RequestListener): Promise<number> => listening(createHttp(answer));
const accept = (answer: (socket: Socket) => void): Promise<number> => listening(createTcp(answer));

/** A port that was free a moment ago: connections to it are refused. */
async function closedPort(): Promise<number> {
  const server = createTcp();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

const get = (port: number, withinMs = 1000, path = "/healthz"): Promise<boolean> =>
  httpProbe({ url: new URL(`http://127.0.0.1:${port}${path}`), skipTlsVerify: false })(
    AbortSignal.timeout(withinMs),
  );
const open = (port: number, withinMs = 1000): Promise<boolean> =>
  tcpProbe({ host: "127.0.0.1", port })(AbortSignal.timeout(withinMs));

describe("over HTTP", () => {
  test.each([
    [200, true],
    [204, true],
    [302, true],
    [404, false],
    [500, false],
    [503, false],
  ])("the answer %d is success: %s", async (code, success) => {
    const port = await serve((_request, response) => response.writeHead(code).end("x"));
    expect(await get(port)).toBe(success);
  });

  it("asks for what the URL names, each time on a new connection, and follows nothing", async () => {
    const asked: string[] = [];
    let connections = 0;
    const server = createHttp((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["user-agent"]}`);
      response.writeHead(302, { location: "/elsewhere" }).end();
    });
    server.on("connection", () => (connections += 1));
    const port = await listening(server);
    expect([await get(port, 1000, "/a?b=c"), await get(port)]).toEqual([true, true]);
    expect(asked).toEqual(["GET /a?b=c lifeboat-detector", "GET /healthz lifeboat-detector"]);
    expect(connections).toBe(2);
  });

  it("fails where nothing listens, and where the name does not exist", async () => {
    expect(await get(await closedPort())).toBe(false);
    const url = new URL("http://name.invalid/");
    const probe = httpProbe({ url, skipTlsVerify: false });
    expect(await probe(AbortSignal.timeout(2000))).toBe(false);
  });

  it("waits for a slow answer, but not for longer than it may", async () => {
    const port = await serve((_request, response) => {
      setTimeout(() => response.end("ok"), 150);
    });
    expect(await get(port, 2000)).toBe(true);
    expect(await get(port, 40)).toBe(false);
  });

  it("fails when the server accepts and is silent, or sends its head drop by drop", async () => {
    expect(await get(await accept(() => undefined), 100)).toBe(false);
    const dripping = await accept((socket) => {
      const timer = setInterval(() => socket.write("X: y\r\n"), 10);
      socket.write("HTTP/1.1 200 OK\r\n");
      socket.on("close", () => clearInterval(timer));
    });
    expect(await get(dripping, 150)).toBe(false);
  });

  it("does not wait for the body", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200).write("the rest never comes");
    });
    expect(await get(port, 2000)).toBe(true);
  });

  test.each([
    ["breaks off", ""],
    ["speaks something else", "220 mail.example ESMTP\r\n"],
    ["changes the protocol", "HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
    ["sends a head without end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(200_000)}\r\n\r\n`],
  ])("fails when the server %s", async (_, text) => {
    const port = await accept((socket) => {
      socket.once("data", () => socket.end(text));
    });
    expect(await get(port)).toBe(false);
  });

  it("is over at once when its time has ended before", async () => {
    const port = await serve((_request, response) => response.end());
    const probe = httpProbe({ url: new URL(`http://127.0.0.1:${port}`), skipTlsVerify: false });
    expect(await probe(AbortSignal.abort())).toBe(false);
  });
});

describe("over TCP", () => {
  it("succeeds where a server accepts, and leaves no connection open", async () => {
    const ended: Promise<unknown>[] = [];
    const port = await accept((socket) => {
      socket.resume();
      ended.push(new Promise((resolve) => socket.once("close", resolve)));
    });
    expect(await open(port)).toBe(true);
    await Promise.all(ended);
    expect(ended).toHaveLength(1);
  });

  it("fails where nothing listens, and where the name does not exist", async () => {
    expect(await open(await closedPort())).toBe(false);
    const probe = tcpProbe({ host: "name.invalid", port: 80 });
    expect(await probe(AbortSignal.timeout(2000))).toBe(false);
  });

  it("fails when no answer comes in time", async () => {
    // An address of documentation: packets to it are dropped or refused, and never accepted.
    const probe = tcpProbe({ host: "192.0.2.1", port: 80 });
    expect(await probe(AbortSignal.timeout(100))).toBe(false);
    expect(await tcpProbe({ host: "127.0.0.1", port: 1 })(AbortSignal.abort())).toBe(false);
  });
});
