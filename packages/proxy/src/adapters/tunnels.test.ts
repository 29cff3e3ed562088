/** Tunnels under hostile and unlucky peers: the control plane goes on, and what others ask for is answered. */
import * as https from "node:https";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createGround, type Ground } from "./proxy-ground.suite.ts";

let ground: Ground | undefined;
afterEach(async () => {
  await ground?.close();
  ground = undefined;
});

async function create(): Promise<Ground> {
  ground = await createGround();
  ground.routes.set("m1", { kind: "tunnel" });
  const well = await ground.member((_request, response) => void response.end("well"));
  ground.routes.set("well", { kind: "push", access: well.access });
  return ground;
}

/** Opens a tunnel by hand, as a peer that then does as it likes. */
function openTunnel(
  { port, pki, admin }: Ground,
  options: { readonly query?: string; readonly upgrade?: string } = {},
): Promise<Socket | number> {
  return new Promise((resolve, reject) => {
    const request = https.request({
      host: "127.0.0.1",
      port,
      ca: pki.ca,
      cert: admin.certificate,
      key: admin.key,
      agent: false,
      path: `/apis/proxy.lifeboat.dev/v1alpha1/clusters/m1/attach${options.query ?? ""}`,
      headers: { connection: "Upgrade", upgrade: options.upgrade ?? "lifeboat-tunnel/1" },
    });
    request.on("error", reject);
    request.once("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once("upgrade", (_response, socket: Socket) => {
      socket.on("error", () => undefined);
      resolve(socket);
    });
    request.end();
  });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => void setTimeout(resolve, 5));
}

describe("a peer", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["sends garbage", (socket) => void socket.write(Buffer.alloc(100_000, "garbage"))],
    ["sends an HTTP/1.1 answer", (socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\n")],
    ["ends its side at once", (socket) => void socket.end()],
    ["vanishes", (socket) => void socket.destroy()],
    [
      "sends a frame of 16 MB",
      (socket) => void socket.write(Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])),
    ],
    [
      "sends a goodbye and goes on",
      (socket) => {
        socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
        socket.write(Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        socket.write(Buffer.alloc(1000));
      },
    ],
  ])("that %s loses its tunnel, and others are served", async (_name, act) => {
    const ground = await create();
    const socket = await openTunnel(ground);
    if (typeof socket === "number") throw new Error(`refused: ${socket}`);
    const asked = ground.ask("/x").catch(() => ({ status: 0 }));
    act(socket);
    await until(() => !ground.proxy.hasTunnel("m1"));
    expect((await ground.ask("/x", { cluster: "well" })).text).toBe("well");
    expect((await ground.ask("/x")).status).toBe(503);
    // What was asked before has failed, or the caller gives it up.
    await ground.hangUp();
    expect([0, 502, 503]).toContain((await asked).status);
  });

  test("that answers nothing keeps only its own callers waiting, and they may go", async () => {
    const ground = await create();
    const socket = await openTunnel(ground);
    if (typeof socket === "number") throw new Error(`refused: ${socket}`);
    const asked = ground.ask("/x").catch(() => "gone");
    expect((await ground.ask("/x", { cluster: "well" })).text).toBe("well");
    await ground.hangUp();
    expect(await asked).toBe("gone");
    socket.destroy();
  });

  test.each([
    ["another protocol", { upgrade: "websocket" }, 400],
    ["an id that nothing awaits", { query: `?session=${"a".repeat(64)}` }, 404],
    ["an id that is none", { query: "?session=../x" }, 404],
  ])("that asks for %s is refused", async (_name, options, status) => {
    const ground = await create();
    expect(await openTunnel(ground, options)).toBe(status);
    expect(ground.proxy.hasTunnel("m1")).toBe(false);
  });
});

describe("a tunnel", () => {
  test("is replaced by the newest, and what is under way on the old one finishes", async () => {
    const ground = await create();
    let finish: (() => void) | undefined;
    const first = await ground.member((_request, response) => {
      response.write("first");
      finish = () => response.end(" and last");
    });
    const second = await ground.member((_request, response) => void response.end("second"));
    await ground.agent("m1", first);
    const underWay = await ground.open("/x");
    await ground.agent("m1", second);
    await until(async () => (await ground.ask("/y").catch(() => undefined))?.text === "second");
    finish?.();
    let text = "";
    for await (const chunk of underWay) text += String(chunk);
    expect(text).toBe("first and last");
  });

  test("is opened again when it is lost", async () => {
    const ground = await create();
    const member = await ground.member((_request, response) => void response.end("here"));
    await ground.agent("m1", member);
    expect((await ground.ask("/x")).text).toBe("here");
    ground.proxy.cutTunnels();
    await until(async () => (await ground.ask("/x")).text === "here");
  });

  test("whose member does not answer tells so", async () => {
    const ground = await create();
    const member = await ground.member(() => undefined);
    await ground.agent("m1", member);
    await member.close();
    const answer = await ground.ask("/x");
    expect(answer.status).toBe(502);
    expect(answer.text).toContain("its agent could not pass the request on");
    expect(await ground.upgrade("/x")).toMatchObject({ answer: { status: 502 } });
  });
});
