/** What a command in a pod passes before it is run: rights, the change of protocol, its words. */
import { createWorld } from "@lifeboat/testkit";
import { describe, expect, test } from "vitest";
import { allowMasters } from "../authorization/allow-masters.ts";
import { makeRequest, send } from "./exchange.suite.ts";
import type { AskedStream } from "./pod-streams.ts";

const EXEC = "/api/v1/namespaces/shop/pods/web/exec";
const HEADERS = {
  connection: "Upgrade",
  upgrade: "WebSocket",
  "sec-websocket-protocol": "v5.channel.k8s.io, v4.channel.k8s.io",
};

async function createGround(refusedVerbs: readonly string[] = []) {
  const opened: AskedStream[] = [];
  const world = await createWorld({
    podStreams: {
      open: (asked) => {
        opened.push(asked);
        const body = { take: () => undefined, drop: () => undefined };
        return Promise.resolve({ status: 101, headers: {}, body });
      },
    },
    authorizer: {
      ...allowMasters,
      allows: (asked) =>
        asked.kind !== "resource" || asked.plural !== "pods" || !refusedVerbs.includes(asked.verb),
    },
  });
  const ask = (url: string, change: object = {}, method = "GET") => {
    const request = makeRequest(method, url, { headers: HEADERS });
    return world.server.handle({ ...request, canBeTakenOver: true, ...change });
  };
  return { opened, ask, world };
}

describe("a command in a pod", () => {
  test("is read from path, query and headers", async () => {
    const { opened, ask } = await createGround();
    const query = "command=sh&command=-c&command=a+b&stdin=true&stdout=1&container=c";
    expect((await ask(`${EXEC}?${query}`)).status).toBe(101);
    expect(opened).toEqual([
      {
        kind: "exec",
        namespace: "shop",
        pod: "web",
        container: "c",
        command: ["sh", "-c", "a b"],
        stdin: true,
        stdout: true,
        stderr: false,
        tty: false,
        upgrade: "websocket",
        protocols: ["v5.channel.k8s.io", "v4.channel.k8s.io"],
      },
    ]);
  });

  test.each([
    ["GET without the right to create", "GET", ["create"]],
    ["GET without the right to get", "GET", ["get"]],
    ["POST without the right to create", "POST", ["create"]],
  ])("%s is refused", async (_what, method, verbs) => {
    const { opened, ask } = await createGround(verbs);
    expect((await ask(`${EXEC}?command=x`, {}, method)).status).toBe(403);
    expect(opened).toEqual([]);
  });

  test.each([
    ["without a change of protocol", `${EXEC}?command=x`, { canBeTakenOver: false }, "GET", 400],
    ["without a command", EXEC, {}, "GET", 400],
    ["by DELETE", `${EXEC}?command=x`, {}, "DELETE", 405],
  ])("%s is refused", async (_what, url, change, method, status) => {
    const { opened, ask } = await createGround();
    expect((await ask(url, change, method)).status).toBe(status);
    expect(opened).toEqual([]);
  });

  test("is in discovery where it is served, and only there", async () => {
    const { world } = await createGround();
    const names = async (handle: typeof world.server.handle): Promise<readonly string[]> => {
      const { text } = await send(handle, "GET", "/api/v1");
      const { resources } = JSON.parse(text) as { resources: { name: string }[] };
      return resources.map(({ name }) => name).filter((name) => name.startsWith("pods/"));
    };
    const streams = ["pods/attach", "pods/exec", "pods/portforward"];
    expect(await names(world.server.handle)).toEqual(expect.arrayContaining(streams));
    const plain = await createWorld({});
    for (const name of streams) expect(await names(plain.server.handle)).not.toContain(name);
  });
});
