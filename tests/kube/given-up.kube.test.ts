/** What the wait for late creates rests on: a real server gives a write up when the request says so. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

let server: RealApiServer;
beforeAll(async () => {
  server = await startRealApiServer();
});
afterAll(() => server.stop());

async function create(name: string, timeout: string): Promise<number> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
  return (await server.call("POST", `${CONFIG_MAPS}?timeout=${timeout}`, body)).code;
}

async function read(name: string): Promise<number> {
  return (await server.call("GET", `${CONFIG_MAPS}/${name}`)).code;
}

it("a write whose time is up takes no effect, and one whose is not does", async () => {
  expect(await create("late", "1us")).toBe(504);
  expect(await read("late")).toBe(404);
  expect(await create("in-time", "32s")).toBe(201);
  expect(await read("in-time")).toBe(200);
});
