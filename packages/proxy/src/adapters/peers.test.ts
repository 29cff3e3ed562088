/** A replica that has no tunnel of a cluster passes requests on to the one that has it, in the caller's name, and only once. */
import { afterEach, expect, it } from "vitest";
import type { PeerAccess } from "../routes.ts";
import { createGround, type Ground } from "./proxy-ground.suite.ts";

let ground: Ground | undefined;
let peer: PeerAccess | undefined;
afterEach(async () => {
  await ground?.close();
  [ground, peer] = [undefined, undefined];
});

async function create(): Promise<Ground> {
  ground = await createGround({ peerOf: (cluster) => (cluster === "m1" ? peer : undefined) });
  ground.routes.set("m1", { kind: "tunnel" });
  return ground;
}

function peerAt(on: Ground, { endpoint, caBundle = "" }: { endpoint: string; caBundle?: string }) {
  const { certificate, key } = on.admin;
  return { endpoint, caBundle, serverName: "localhost", certificate, key };
}

it("asks the other replica in the caller's name, by headers that callers cannot send", async () => {
  const on = await create();
  const other = await on.member((_request, response) => void response.end("there"));
  peer = peerAt(on, other.access);
  const headers = { "x-remote-user": "eve", "x-remote-group": "g", accept: "text/plain" };
  const answer = await on.ask("/api/v1/pods?limit=1", { headers, method: "POST", body: "hello" });
  expect(answer).toMatchObject({ status: 200, text: "there" });
  const [seen] = other.requests;
  expect(seen?.url).toBe("/apis/proxy.lifeboat.dev/v1alpha1/clusters/m1/proxy/api/v1/pods?limit=1");
  expect(seen?.headers).toMatchObject({ "x-remote-user": "admin", accept: "text/plain" });
  expect(seen?.headersDistinct["x-remote-group"]).toEqual(["system:masters"]);
  expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith("impersonate"))).toEqual(
    [],
  );
});

it("keeps to its own tunnel, and asks nobody about what was passed on to it", async () => {
  const on = await create();
  const other = await on.member((_request, response) => void response.end("there"));
  peer = peerAt(on, other.access);
  const request = {
    cluster: "m1",
    method: "GET",
    headers: {},
    path: "/api",
    query: "",
    user: { name: "ann", groups: [] },
    body: undefined,
    canBeTakenOver: false,
    signal: new AbortController().signal,
  };
  await expect(on.proxy.forward({ ...request, isForwarded: true })).rejects.toMatchObject({
    status: { code: 503 },
  });
  const stop = await on.agent("m1", await on.member((_one, response) => void response.end("here")));
  expect((await on.ask("/api")).text).toBe("here");
  expect(other.requests).toEqual([]);
  await stop();
});

it("tells in a sentence when the other replica is gone or does not believe this one", async () => {
  const on = await create();
  const other = await on.member((_request, response) => {
    response.statusCode = 401;
    response.end();
  });
  peer = peerAt(on, other.access);
  expect((await on.ask("/api")).status).toBe(502);
  await other.close();
  expect((await on.ask("/api")).status).toBe(502);
  expect(on.proxy.problem()).toBeUndefined();
});

it("passes the connection of a session on to the replica that awaits it", async () => {
  const on = await create();
  const other = await on.member(
    (_request, response) => void response.end(),
    (message, socket) => {
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: lifeboat-tunnel/1\r\n\r\n",
      );
      socket.write(String(message.url));
    },
  );
  peer = peerAt(on, other.access);
  const session = "a".repeat(64);
  const answer = await on.proxy.openTunnel({
    cluster: "m1",
    method: "GET",
    headers: { connection: "Upgrade", upgrade: "lifeboat-tunnel/1" },
    path: "/",
    query: `session=${session}`,
    user: { name: "system:karmada:agent:m1", groups: [] },
    body: undefined,
    canBeTakenOver: true,
    signal: new AbortController().signal,
  });
  expect(answer.status).toBe(101);
  expect(answer.headers["upgrade"]).toBe("lifeboat-tunnel/1");
  if ("drop" in answer.body) answer.body.drop();
});
