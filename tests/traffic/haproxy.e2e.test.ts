/** A real HAProxy, held to what every provider must do, and what its configuration must withstand. */
import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
import { eventually } from "../support/eventually.ts";
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

it("the number of a process that is an HAProxy of another directory is not taken over", async () => {
  const directories = [temporaryDirectory("haproxy"), temporaryDirectory("haproxy")] as const;
  const backend = new TestBackend("a");
  await backend.listen();
  const pool = "default/web/web/80";
  const table = tableOf([{ pool }], [{ id: pool, backends: [backendOf(backend)] }]);
  const other = haproxyIn(directories[0]);
  await other.open();
  await other.apply(table, []);
  const pid = readFileSync(join(directories[0], "haproxy.pid"), "utf8");
  // As after a restart of the machine: the number was kept, and another process has it now.
  writeFileSync(join(directories[1], "haproxy.pid"), pid);
  const provider = haproxyIn(directories[1]);
  const { port } = await provider.open();
  await provider.apply(table, []);
  expect((await ask(port, "/")).code).toBe(200);
  expect(other.problem()).toBeUndefined();
  await provider.close(500);
  expect(other.problem()).toBeUndefined();
  await other.close(500);
  backend.close();
  for (const directory of directories) removeDirectory(directory);
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

/** A name server on loopback that answers each question for an IPv4 address with `address`, and every other with nothing. */
async function startNameServer(): Promise<{
  address: string;
  readonly port: number;
  close(): void;
}> {
  const socket = createSocket("udp4");
  const server = { address: "127.0.0.1", port: 0, close: () => void socket.close() };
  socket.on("message", (asked, { port, address }) => {
    let end = 12;
    while ((asked[end] ?? 0) > 0) end += (asked[end] ?? 0) + 1;
    const question = asked.subarray(12, end + 5);
    const isAddress = asked.readUInt16BE(end + 1) === 1;
    const counts = [0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0];
    const record = [
      0xc0,
      12,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      1,
      0,
      4,
      ...server.address.split(".").map(Number),
    ];
    const head = Buffer.concat([asked.subarray(0, 2), Buffer.from(counts)]);
    socket.send(
      Buffer.concat([head, question, Buffer.from(isAddress ? record : [])]),
      port,
      address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return Object.assign(server, { port: socket.address().port });
}

it("a backend that is a name is resolved again while HAProxy runs", async () => {
  const { renderConfig } = await import("../../packages/traffic/src/haproxy/render.ts");
  const directory = temporaryDirectory("haproxy");
  const names = await startNameServer();
  const first = createServer((_request, response) => response.end("first"));
  await new Promise<void>((resolve) => first.listen(0, "127.0.0.1", resolve));
  const { port: backendPort } = first.address() as AddressInfo;
  const second = createServer((_request, response) => response.end("second"));
  await new Promise<void>((resolve) => second.listen(backendPort, "127.0.0.3", resolve));
  const pool = "default/web/web/80";
  const backend = backendOf({ name: "a", port: backendPort }, { address: "lb.example.invalid" });
  const port = await freePort();
  const { text } = renderConfig(tableOf([{ pool }], [{ id: pool, backends: [backend] }]), {
    socket: join(directory, "s"),
    stateFile: join(directory, "t"),
    bind: `127.0.0.1:${port}`,
  });
  const file = join(directory, "c.cfg");
  writeFileSync(file, text.replace("parse-resolv-conf", `nameserver one 127.0.0.1:${names.port}`));
  const haproxy = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  const answers = (wanted: string): Promise<void> =>
    eventually(async () => expect((await ask(port, "/")).text).toBe(wanted), 60_000);
  await answers("first");
  names.address = "127.0.0.3";
  await answers("second");
  haproxy.kill();
  await once(haproxy, "exit");
  for (const server of [first, second]) server.close();
  names.close();
  removeDirectory(directory);
});

it("reads every path that an ingress may have as it is, and servers that are names", async () => {
  const { renderConfig } = await import("../../packages/traffic/src/haproxy/render.ts");
  const directory = temporaryDirectory("haproxy");
  const paths = ["/a'b", "/$HOME", "/a;b", "/(x)", "/%20", "/a=b&c", "/!*,:@~+"];
  const pool = "default/web/web/80";
  const table = tableOf(
    paths.map((path) => ({ pool, path })),
    // A name, too: HAProxy has to take what resolves it.
    [{ id: pool, backends: [backendOf({ name: "a", port: 80 }, { address: "localhost" })] }],
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
