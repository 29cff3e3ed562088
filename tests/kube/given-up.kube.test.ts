/** What the wait for late requests rests on: how a real server treats those whose time, or whose object, is gone. */
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

it("an update that names the uid of an object which is gone makes no new one, where updates may", async () => {
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", rules: [] };
  const update = async (uid: string): Promise<number> => {
    const body = { ...role, metadata: { name: "gone", ...(uid === "" ? {} : { uid }) } };
    return (await server.call("PUT", `${path}/gone`, body)).code;
  };
  expect(await update("7c5b9ff0-0000-4000-8000-000000000000")).toBe(409);
  expect(await update("")).toBe(201);
});
