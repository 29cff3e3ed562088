/**
 * The gateway for MultiClusterIngresses in a process of its own, with one host over TLS and one backend that answers large
 * texts slowly enough that clients leave before the end, and changes protocols on request.
 *
 * Program: gateway-process.ts DIRECTORY HOST. It prints `listening PORT` and keeps its certificates in the directory.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { openPki } from "@lifeboat/apiserver/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { createGateway } from "@lifeboat/traffic/adapters";

const POOL = "default/web/web/80";
const TEXT = "x".repeat(256 * 1024);

const [directory = "", host = ""] = process.argv.slice(2);
const backend = createServer((request, response) => {
  request.resume();
  response.write(TEXT);
  setTimeout(() => response.end(TEXT), 20);
});
backend.on("upgrade", (_request, socket) => {
  socket.on("error", () => undefined);
  socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n");
  socket.write(TEXT);
  socket.pipe(socket);
});
await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
const { port } = backend.address() as AddressInfo;

const clock = createRealClock();
const listen = { host: "127.0.0.1", port: 0 };
const ports = { clock, random: createRandom(1), log: silentLog, metrics: silentMetrics };
const gateway = createGateway(ports, { listen, tlsListen: listen });
const { tlsPort } = await gateway.open();
const { certificate, key } = await (await openPki(clock, directory)).server([host]);
await gateway.apply(
  {
    routes: [{ host, path: "/", pathType: "Prefix", isDefault: false, pool: POOL }],
    pools: [
      {
        id: POOL,
        backends: [{ cluster: "a", address: "127.0.0.1", port, weight: 1, state: "serving" }],
      },
    ],
    certificates: [],
    problems: [],
    generations: {},
    draining: new Set(),
  },
  [{ hosts: [host], certificate, key }],
);
process.stdout.write(`listening ${tlsPort}\n`);
