/** Members behind an HTTP proxy: each connection is asked for by CONNECT, and the proxy sees the address alone. */
import * as net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { judgeAddressBy } from "@lifeboat/kit";
import { createGround, type Ground } from "./proxy-ground.suite.ts";

let ground: Ground | undefined;
const servers: net.Server[] = [];
afterEach(async () => {
  await ground?.close();
  ground = undefined;
  for (const server of servers.splice(0)) server.close();
});

/** A proxy that answers CONNECT with this, and then copies bytes where it is 200. */
async function startProxy(
  answer: string,
): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = net.createServer((client) => {
    client.on("error", () => undefined);
    client.once("data", (chunk: Buffer) => {
      const head = chunk.toString("latin1");
      seen.push(head);
      client.write(answer);
      const port = Number(/^CONNECT 127\.0\.0\.1:(\d+) /.exec(head)?.[1]);
      if (!answer.startsWith("HTTP/1.1 200")) return;
      const upstream = net.connect(port, "127.0.0.1");
      upstream.on("error", () => undefined);
      client.once("close", () => upstream.destroy());
      upstream.pipe(client).pipe(upstream);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  return { url: `127.0.0.1:${(server.address() as net.AddressInfo).port}`, seen };
}

async function behind(proxyUrl: string): Promise<Ground> {
  ground = await createGround();
  const member = await ground.member((_request, response) => void response.end("here"));
  const access = { ...member.access, proxyUrl, proxyHeaders: { "X-Pass": ["a", "b"] } };
  ground.routes.set("m1", { kind: "push", access });
  return ground;
}

describe("a member behind a proxy", () => {
  test("is reached through it, and its requests and credentials are not seen there", async () => {
    const { url, seen } = await startProxy("HTTP/1.1 200 Connection established\r\n\r\n");
    const ground = await behind(`http://me:secret@${url}`);
    expect(await ground.ask("/x")).toMatchObject({ status: 200, text: "here" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1\r\n/);
    expect(seen[0]).toContain(`Proxy-Authorization: Basic ${btoa("me:secret")}\r\n`);
    expect(seen[0]).toContain("X-Pass: a\r\nX-Pass: b\r\n");
    expect(seen[0]).not.toContain("impersonat");
  });

  test.each([
    ["refuses", "HTTP/1.1 403 Forbidden\r\n\r\n", /403 Forbidden/],
    ["redirects", "HTTP/1.1 302 Found\r\nLocation: http://evil\r\n\r\n", /302 Found/],
    ["sends garbage", "garbage\r\n\r\n", /garbage/],
    ["sends an endless head", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`, /too long/],
  ])("is not reached past it when it %s", async (_name, answer, message) => {
    const { url } = await startProxy(answer);
    const ground = await behind(`http://${url}`);
    const sent = await ground.ask("/x");
    expect(sent.status).toBe(502);
    expect(sent.text).toMatch(message);
    expect(sent.text).not.toContain("secret");
  });
});

describe("an address that is not dialled (T6)", () => {
  test("is refused with a sentence, for the member and for its proxy; a tunnel needs none", async () => {
    const { url, seen } = await startProxy("HTTP/1.1 200 Connection established\r\n\r\n");
    ground = await createGround({ judgeAddress: judgeAddressBy({ allowsLoopback: false }) });
    let reached = 0;
    const member = await ground.member((_request, response) => {
      reached += 1;
      response.end("here");
    });
    for (const access of [member.access, { ...member.access, proxyUrl: `http://${url}` }]) {
      ground.routes.set("m1", { kind: "push", access });
      const sent = await ground.ask("/x");
      expect(sent.status).toBe(502);
      expect(sent.text).toContain("127.0.0.1 is not dialled");
    }
    expect([reached, seen]).toEqual([0, []]);
    ground.routes.set("m1", { kind: "tunnel" });
    await ground.agent("m1", member);
    expect(await ground.ask("/x")).toMatchObject({ status: 200, text: "here" });
  });
});
