/** What a request for a member passes before it is handed on: path, user, rights, and nothing of its body. */
import { PassThrough } from "node:stream";
import { createWorld } from "@lifeboat/testkit";
import { describe, expect, test } from "vitest";
import { allowMasters } from "../authorization/allow-masters.ts";
import type { Attributes } from "../authorization/authorizer.ts";
import type { HttpResponse } from "./exchange.ts";
import { makeRequest, openStream, send, type SendOptions, type Sent } from "./exchange.suite.ts";
import type { MemberProxy, MemberRequest } from "./member-proxy.ts";

const KARMADA = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
const OWN = "/apis/proxy.lifeboat.dev/v1alpha1/clusters/m1";
const ANSWER: HttpResponse = { status: 200, headers: { "x-from": "m1" }, body: Buffer.from("hi") };

interface Ground {
  readonly asked: Attributes[];
  readonly forwarded: MemberRequest[];
  readonly tunnels: MemberRequest[];
  readonly ask: (method: string, url: string, options?: SendOptions) => Promise<Sent>;
}

async function createGround(allows = true): Promise<Ground> {
  const asked: Attributes[] = [];
  const forwarded: MemberRequest[] = [];
  const tunnels: MemberRequest[] = [];
  const members: MemberProxy = {
    forward: (request) => {
      forwarded.push(request);
      return Promise.resolve(ANSWER);
    },
    openTunnel: (request) => {
      tunnels.push(request);
      return Promise.resolve(ANSWER);
    },
  };
  const world = await createWorld({
    members,
    authorizer: {
      ...allowMasters,
      allows: (attributes) => {
        if (attributes.kind === "resource" && attributes.plural !== "clusters") return true;
        asked.push(attributes);
        return allows;
      },
    },
  });
  const ask: Ground["ask"] = (...request) => send(world.server.handle, ...request);
  return { asked, forwarded, tunnels, ask };
}

describe("a request for a member", () => {
  test("is in discovery, where it can be handed on", async () => {
    const path = "/apis/cluster.karmada.io/v1alpha1";
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "clusters.cluster.karmada.io" },
      spec: {
        group: "cluster.karmada.io",
        scope: "Cluster",
        names: { plural: "clusters", kind: "Cluster" },
        versions: [
          {
            name: "v1alpha1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
          },
        ],
      },
    };
    const { ask } = await createGround();
    await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: crd });
    const { json } = await ask("GET", path);
    expect(json["resources"]).toContainEqual({
      name: "clusters/proxy",
      singularName: "",
      namespaced: false,
      kind: "Cluster",
      verbs: ["create", "delete", "get", "patch", "update"],
    });
  });

  test.each([
    ["GET", "get"],
    ["HEAD", "get"],
    ["POST", "create"],
    ["PUT", "update"],
    ["PATCH", "patch"],
    ["DELETE", "delete"],
  ])("%s needs the right to %s clusters/proxy", async (method, verb) => {
    const { asked, forwarded, ask } = await createGround();
    const sent = await ask(method, `${KARMADA}/api/v1/pods?limit=1&x=%2F`);
    expect(sent).toMatchObject({ status: 200, text: "hi", headers: { "x-from": "m1" } });
    expect(asked).toMatchObject([
      {
        kind: "resource",
        verb,
        group: "cluster.karmada.io",
        version: "v1alpha1",
        plural: "clusters",
        subresource: "proxy",
        name: "m1",
        namespace: "",
      },
    ]);
    expect(forwarded).toMatchObject([
      { cluster: "m1", method, path: "/api/v1/pods", query: "limit=1&x=%2F" },
    ]);
    expect(forwarded[0]?.user.name).toBe("admin");
  });

  test("is authorized in the group of its path", async () => {
    const { asked, ask } = await createGround();
    await ask("GET", `${OWN}/proxy/version`);
    expect(asked).toMatchObject([{ group: "proxy.lifeboat.dev", subresource: "proxy" }]);
  });

  test("without rights gets our 403, and nothing is handed on or read", async () => {
    const { forwarded, tunnels, ask } = await createGround(false);
    let wasRead = false;
    const incoming = {
      [Symbol.asyncIterator]: () => {
        wasRead = true;
        throw new Error("nothing is read");
      },
    };
    const sent = await ask("POST", `${KARMADA}/api/v1/namespaces`, { over: { incoming } });
    expect(sent).toMatchObject({ status: 403, json: { reason: "Forbidden" } });
    expect((await ask("GET", `${OWN}/attach`)).status).toBe(403);
    expect([wasRead, forwarded, tunnels]).toEqual([false, [], []]);
  });

  test("is made in the name of the user that the caller acts as", async () => {
    const { forwarded, ask } = await createGround();
    const headers = { "impersonate-user": "bob", "impersonate-group": "devs" };
    await ask("GET", `${KARMADA}/version`, { headers });
    expect(forwarded[0]?.user).toMatchObject({
      name: "bob",
      groups: ["devs", "system:authenticated"],
    });
  });

  test("hands its body on as it arrives; reads have none", async () => {
    const { forwarded, ask } = await createGround();
    const incoming = (async function* () {
      yield Buffer.from("a");
    })();
    await ask("POST", `${KARMADA}/x`, { over: { incoming } });
    await ask("GET", `${KARMADA}/x`, { over: { incoming } });
    await ask("PUT", `${KARMADA}/x`, { body: "whole" });
    expect(forwarded[0]?.body).toBe(incoming);
    expect(forwarded[1]?.body).toBeUndefined();
    const pieces: Uint8Array[] = [];
    for await (const piece of forwarded[2]?.body ?? []) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe("whole");
  });

  test.each([
    ["OPTIONS", `${KARMADA}/x`, 405],
    ["TRACE", `${KARMADA}/x`, 405],
    ["POST", `${OWN}/attach`, 405],
    ["GET", `${KARMADA}/../m2/proxy/x`, 400],
    ["GET", `${KARMADA}/%2e%2e/m2`, 400],
    ["GET", `${KARMADA}/x?a b`, 400],
    ["GET", `${KARMADA}/x?a#b`, 400],
    ["GET", `${KARMADA}/x?\u00fc`, 400],
    ["GET", `${KARMADA}/x?a\r\nHost: evil`, 400],
  ])("%s %s gets %s", async (method, url, status) => {
    const { forwarded, tunnels, ask } = await createGround();
    expect((await ask(method, url)).status).toBe(status);
    expect([...forwarded, ...tunnels]).toEqual([]);
  });

  test("leads nowhere on a server without members", async () => {
    const world = await createWorld();
    expect((await send(world.server.handle, "GET", `${KARMADA}/x`)).status).toBe(404);
    expect(world.server.streams(`${KARMADA}/x`)).toBe(false);
  });
});

test("a tunnel is authorized as get clusters/attach with the name", async () => {
  const { asked, tunnels, ask } = await createGround();
  await ask("GET", `${OWN}/attach?session=a`);
  expect(asked).toMatchObject([{ verb: "get", subresource: "attach", name: "m1" }]);
  expect(tunnels).toMatchObject([{ cluster: "m1", path: "/", query: "session=a" }]);
});

test("a stream and a connection end when the right to them is taken away", async () => {
  let allows = true;
  const listeners: (() => void)[] = [];
  const ended: string[] = [];
  const world = await createWorld({
    authorizer: {
      ...allowMasters,
      allows: () => allows,
      onChange: (listener) => {
        listeners.push(listener);
        return () => undefined;
      },
    },
    members: {
      forward: () =>
        Promise.resolve({
          ...ANSWER,
          body: { start: () => undefined, stop: () => void ended.push("stream") },
        }),
      openTunnel: () =>
        Promise.resolve({
          ...ANSWER,
          status: 101,
          body: { take: () => undefined, drop: () => undefined },
        }),
    },
  });
  const { reader } = await openStream(world.server.handle, `${KARMADA}/log`);
  const answer = await world.server.handle(makeRequest("GET", `${OWN}/attach`));
  if (!("take" in answer.body)) throw new Error("not taken over");
  const connection = Object.assign(new PassThrough(), {
    destroy: () => ended.push("connection"),
  });
  answer.body.take(connection);
  for (const listener of listeners) listener();
  await world.advance("5s");
  expect([ended, reader.aborted]).toEqual([[], 0]);
  allows = false;
  for (const listener of listeners) listener();
  await world.advance("5s");
  expect([ended.sort(), reader.aborted]).toEqual([["connection", "stream"], 1]);
});

test("/readyz/tunnels fails while members cannot be asked, and does not depend on agents", async () => {
  let problem: string | undefined;
  const members: MemberProxy = {
    forward: () => Promise.resolve(ANSWER),
    openTunnel: () => Promise.resolve(ANSWER),
    problem: () => problem,
  };
  const world = await createWorld({ members });
  const ask = () => send(world.server.handle, "GET", "/readyz/tunnels");
  expect((await ask()).status).toBe(200);
  problem = "the proxy into members is closed";
  expect(await ask()).toMatchObject({ status: 500, text: expect.stringContaining(problem) });
});
