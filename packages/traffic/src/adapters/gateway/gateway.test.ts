/** The gateway, held to what every provider must do, and what it does beyond that. */
import { request as send } from "node:http";
import { connect, type Socket } from "node:net";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { judgeAddressBy, silentLog, silentMetrics } from "@lifeboat/kit";
import { afterEach, describe, expect, it } from "vitest";
import type { LocalProvider } from "../../provider.ts";
import { ask, backendOf, describeProvider, tableOf, TestBackend } from "../../provider.suite.ts";
import { createGateway, type GatewayOptions } from "./gateway.ts";

const ports = {
  clock: createRealClock(),
  random: createRandom(1),
  log: silentLog,
  metrics: silentMetrics,
};
const listen = { host: "127.0.0.1", port: 0 };

describeProvider("embedded", () => {
  const provider = createGateway(ports, { listen, tlsListen: listen });
  return Promise.resolve({ provider, end: () => provider.close(0) });
});

describe("limits", () => {
  const open: { close(closeMs: number): unknown }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close(0);
  });

  async function start(
    limits: GatewayOptions["limits"] = {},
    options: Partial<GatewayOptions> = {},
    address = "127.0.0.1",
  ) {
    const backend = new TestBackend("a");
    await backend.listen();
    const gateway: LocalProvider = createGateway(ports, { listen, limits, ...options });
    open.push(backend, gateway);
    const { port } = await gateway.open();
    await gateway.apply(
      tableOf(
        [{ pool: "d/w/w/80" }],
        [{ id: "d/w/w/80", backends: [backendOf(backend, { address })] }],
      ),
      [],
    );
    return { backend, gateway, port };
  }

  function put(port: number, chunks: readonly string[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { host: "web.example.com" };
      const asked = send({ port, method: "PUT", path: "/", headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.once("error", reject);
      for (const chunk of chunks) asked.write(chunk);
      asked.end();
    });
  }

  it("bodies pass, small and large, and one that is too large is refused", async () => {
    const { port } = await start({ maxBodyBytes: 1_000_000 });
    expect(await put(port, ["small"])).toBe(200);
    expect(await put(port, ["x".repeat(60_000), "y".repeat(500_000)])).toBe(200);
    expect(
      await put(
        port,
        Array.from({ length: 20 }, () => "z".repeat(100_000)),
      ),
    ).toBe(413);
  });

  it("a backend that does not answer in time gives 504, and the client is not kept waiting", async () => {
    const { backend, port } = await start({ responseTimeoutMs: 100, maxAttempts: 1 });
    backend.onRequest = () => undefined;
    expect((await ask(port, "/")).code).toBe(504);
  });

  /** Sends a body in parts, with a pause before each; answers the code, or how it ended. */
  async function putSlowly(port: number, parts: readonly string[], pauseMs: number) {
    const headers = { host: "web.example.com", "transfer-encoding": "chunked" };
    const asked = send({ port, method: "PUT", path: "/", headers, agent: false });
    const answer = new Promise<number>((resolve, reject) => {
      asked.once("response", (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.once("error", reject);
    });
    asked.flushHeaders();
    for (const part of parts) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      asked.write(part);
    }
    return { asked, answer };
  }

  it.each([
    ["small", "x"],
    ["large", "x".repeat(80_000)],
  ])("a %s body may take longer than a silence may last, while it arrives", async (_size, part) => {
    const { port } = await start({ responseTimeoutMs: 200 });
    const { asked, answer } = await putSlowly(port, Array<string>(10).fill(part), 100);
    asked.end();
    expect(await answer).toBe(200);
  });

  it.each([
    ["before a backend has it", "x"],
    ["in its middle", "x".repeat(80_000)],
  ])("a body that stops %s gives 408, and the connection ends", async (_where, part) => {
    const { port } = await start({ responseTimeoutMs: 200 });
    const { asked, answer } = await putSlowly(port, [part], 0);
    const closed = new Promise((resolve) => asked.socket?.once("close", resolve));
    expect(await answer).toBe(408);
    await closed;
  });

  it("an answer may take longer than a silence may last, and one that stops halfway is broken off", async () => {
    const { backend, port } = await start({ responseTimeoutMs: 200 });
    backend.onRequest = (response) => {
      response.writeHead(200);
      let left = 10;
      const more = (): void => {
        response.write("x");
        left -= 1;
        if (left > 0) setTimeout(more, 100);
        else response.end();
      };
      more();
    };
    expect((await ask(port, "/")).text).toBe("x".repeat(10));
    backend.requests = 0;
    backend.onRequest = (response) => {
      response.writeHead(200);
      response.write("half");
    };
    await expect(ask(port, "/")).rejects.toThrow();
    expect(backend.requests).toBe(1);
  });

  it("an answer that is reset in its middle is asked of no other backend", async () => {
    const { backend, gateway, port } = await start();
    const other = new TestBackend("b");
    await other.listen();
    open.push(other);
    for (const one of [backend, other])
      one.onRequest = (response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("half");
        setTimeout(() => (response.socket as Socket).resetAndDestroy(), 20);
      };
    const pool = "d/w/w/80";
    const backends = [backendOf(backend), backendOf(other)];
    await gateway.apply(tableOf([{ pool }], [{ id: pool, backends }]), []);
    await expect(ask(port, "/")).rejects.toThrow();
    expect(backend.requests + other.requests).toBe(1);
  });

  it("an answer that breaks off never looks complete", async () => {
    const { backend, port } = await start();
    backend.onRequest = (response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setTimeout(() => response.destroy(), 20);
    };
    await expect(ask(port, "/")).rejects.toThrow();
  });

  /** Asks for another protocol; answers what came until the connection ended, and whether it broke off. */
  function upgrade(port: number): Promise<{ readonly text: string; readonly isBroken: boolean }> {
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      let isBroken = false;
      socket.on("data", (chunk) => (text += String(chunk)));
      socket.once("error", () => (isBroken = true));
      socket.once("close", () => resolve({ text, isBroken }));
      socket.write(
        "GET /ws HTTP/1.1\r\nhost: web.example.com\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n",
      );
    });
  }

  it.each(["localhost", "0x7f000001"])(
    "a name (%s) that resolves to what is never dialled is not dialled, for no kind of request",
    async (name) => {
      // Loopback stands for link-local here: a test cannot listen there.
      const judge = judgeAddressBy({ allowsLoopback: false });
      const { backend, port } = await start({}, { judge }, name);
      let connections = 0;
      backend.server.on("connection", () => (connections += 1));
      expect((await upgrade(port)).text).toMatch(/^HTTP\/1\.1 502 /);
      expect((await ask(port, "/")).code).toBe(502);
      expect(connections).toBe(0);
    },
  );

  it("a backend that does not answer an upgrade in time gives 504", async () => {
    const { backend, port } = await start({ responseTimeoutMs: 100 });
    backend.server.removeAllListeners("upgrade").on("upgrade", (_request, socket) => {
      socket.on("error", () => undefined);
    });
    expect((await upgrade(port)).text).toMatch(/^HTTP\/1\.1 504 /);
  });

  it("an upgrade that is refused by an answer that stops halfway is broken off", async () => {
    const { backend, port } = await start({ responseTimeoutMs: 200 });
    backend.server.removeAllListeners("upgrade").on("upgrade", (_request, socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    });
    expect(await upgrade(port)).toMatchObject({ isBroken: true });
  });

  it("an upgrade that is refused by an answer that breaks off never looks complete", async () => {
    const { backend, port } = await start();
    backend.server.removeAllListeners("upgrade").on("upgrade", (_request, socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n");
      setTimeout(() => socket.destroy(), 50);
    });
    const { text, isBroken } = await upgrade(port);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(isBroken).toBe(true);
  });

  it("what is no request is refused, and the gateway goes on", async () => {
    const { port } = await start();
    for (const text of [
      "GARBAGE\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "CONNECT evil.example.com:443 HTTP/1.1\r\nhost: evil.example.com\r\n\r\n",
      "GET / HTTP/1.1\r\nhost: web.example.com\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      `GET / HTTP/1.1\r\nhost: web.example.com\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
    ]) {
      const first = await new Promise<string>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(text));
        socket.once("data", (chunk) => {
          resolve(String(chunk).slice(0, 12));
          socket.destroy();
        });
        socket.once("error", () => resolve("closed"));
        socket.once("close", () => resolve("closed"));
      });
      expect(first).toMatch(/^HTTP\/1\.1 4|closed/);
    }
    expect((await ask(port, "/")).code).toBe(200);
  });

  it("ends in order: requests under way are answered, new ones are not taken", async () => {
    const { backend, gateway, port } = await start();
    const slow = ask(port, "/?held");
    for (let i = 0; i < 100 && backend.held === 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const closed = gateway.close(30_000);
    await expect(ask(port, "/")).rejects.toThrow();
    expect(backend.held).toBe(1);
    backend.release();
    expect((await slow).code).toBe(200);
    await closed;
  });
});
