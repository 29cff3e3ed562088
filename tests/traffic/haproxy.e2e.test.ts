/** A real HAProxy, held to what every provider must do, and what its configuration must withstand. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { assembleTable, compileIngress } from "@lifeboat/core/traffic";
import { createHaproxy } from "@lifeboat/traffic/adapters";
import { expect, it } from "vitest";
import {
  ask,
  backendOf,
  describeProvider,
  type ProviderUnderTest,
  tableOf,
  TestBackend,
} from "../../packages/traffic/src/provider.suite.ts";
import { ingressOf, pathTo, servedBy } from "../../packages/core/src/traffic/traffic.suite.ts";
import { freePort, removeDirectory, temporaryDirectory } from "../support/processes.ts";

const ports = {
  clock: createRealClock(),
  random: createRandom(1),
  log: silentLog,
  metrics: silentMetrics,
};

function haproxyIn(directory: string, port = 0, tlsPort?: number): ProviderUnderTest["provider"] {
  return createHaproxy(ports, {
    listen: { host: "127.0.0.1", port },
    ...(tlsPort !== undefined && { tlsListen: { host: "127.0.0.1", port: tlsPort } }),
    binary: "haproxy",
    directory,
  });
}

describeProvider("haproxy", async () => {
  const directory = temporaryDirectory("haproxy");
  const provider = haproxyIn(directory, 0, await freePort());
  const end = async (): Promise<void> => {
    await provider.close(500);
    removeDirectory(directory);
  };
  return { provider, end };
});

it("an HAProxy that outlived its process is taken over: requests go on, and the table is read again", async () => {
  const directory = temporaryDirectory("haproxy");
  const backend = new TestBackend("a");
  await backend.listen();
  const pool = "default/web/web/80";
  const table = tableOf([{ pool }], [{ id: pool, backends: [backendOf(backend)] }]);
  const first = haproxyIn(directory);
  const { port } = await first.open();
  await first.apply(table, []);
  const master = readFileSync(join(directory, "haproxy.pid"), "utf8");
  // The first process is gone without a word; the second one finds what it left.
  const second = haproxyIn(directory, port);
  await second.open();
  expect((await ask(port, "/")).code).toBe(200);
  await second.apply(table, []);
  expect(readFileSync(join(directory, "haproxy.pid"), "utf8")).toBe(master);
  expect((await ask(port, "/")).code).toBe(200);
  await second.close(500);
  await wait(100);
  backend.close();
  removeDirectory(directory);
});

it("an HAProxy that is killed is reported, and started again by the next table", async () => {
  const directory = temporaryDirectory("haproxy");
  const backend = new TestBackend("a");
  await backend.listen();
  const pool = "default/web/web/80";
  const table = tableOf([{ pool }], [{ id: pool, backends: [backendOf(backend)] }]);
  const provider = haproxyIn(directory);
  const { port } = await provider.open();
  await provider.apply(table, []);
  process.kill(Number(readFileSync(join(directory, "haproxy.pid"), "utf8")), "SIGKILL");
  for (let i = 0; i < 100 && provider.problem() === undefined; i++) await wait(20);
  expect(provider.problem()).toBe("HAProxy does not run");
  await provider.apply(table, []);
  expect(provider.problem()).toBeUndefined();
  expect((await ask(port, "/")).code).toBe(200);
  await provider.close(500);
  backend.close();
  removeDirectory(directory);
});

it("a member that reports one address twice stops no table", async () => {
  const directory = temporaryDirectory("haproxy");
  const backend = new TestBackend("a");
  await backend.listen();
  const places = { addresses: ["127.0.0.1"], draining: ["127.0.0.1"] };
  const group = { ports: { "80": backend.port }, ...places };
  const published = servedBy({ a: { endpoints: [group, group] } });
  const table = assembleTable([compileIngress(ingressOf([pathTo("web")], { published }))]);
  const provider = haproxyIn(directory);
  const { port } = await provider.open();
  await provider.apply(table, []);
  expect((await ask(port, "/")).code).toBe(200);
  await provider.close(500);
  backend.close();
  removeDirectory(directory);
});

it("reads every path that an ingress may have as it is", async () => {
  const { renderConfig } = await import("../../packages/traffic/src/haproxy/render.ts");
  const directory = temporaryDirectory("haproxy");
  const paths = ["/a'b", "/$HOME", "/a;b", "/(x)", "/%20", "/a=b&c", "/!*,:@~+"];
  const pool = "default/web/web/80";
  const table = tableOf(
    paths.map((path) => ({ pool, path })),
    [{ id: pool, backends: [] }],
  );
  const { text } = renderConfig(table, {
    socket: join(directory, "s"),
    stateFile: join(directory, "t"),
    bind: "127.0.0.1:0",
  });
  writeFileSync(
    join(directory, "c.cfg"),
    text.replace("bind '127.0.0.1:0'", "bind 127.0.0.1:59999"),
  );
  execFileSync("haproxy", ["-c", "-q", "-f", join(directory, "c.cfg")]);
  removeDirectory(directory);
});
