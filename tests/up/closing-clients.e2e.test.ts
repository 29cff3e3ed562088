/**
 * HTTP/2 clients that close early. Node shuts TLS down when a client ends its side and lets the HTTP/2 session write
 * on; each such write fails inside TLS, and two of them end the process with an assertion. Go clients that race several
 * connections and keep one do this all the time. The second write needs luck, so the first is looked for instead: Node
 * tells of it on request.
 */
import { createServer, connect as connectTcp, type AddressInfo } from "node:net";
import { once } from "node:events";
import { connect } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { lifeboatCommand } from "../support/lifeboat.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";

const directory = temporaryDirectory("closing-clients");
let running: RunningProcess | undefined;

afterEach(async () => {
  await running?.stop("SIGKILL");
  removeDirectory(directory);
});

it("writes nothing to an HTTP/2 client that closed right after the handshake", async () => {
  running = startProcess(
    process.execPath,
    [lifeboatCommand, "up", "--data-dir", directory, "--listen", "127.0.0.1:0"],
    { NODE_DEBUG_NATIVE: "TLS" },
  );
  await running.printed(/^ready$/m);
  const [, port] = await running.printed(/https:\/\/127\.0\.0\.1:(\d+)/);
  for (let i = 0; i < 5; i++) await closeAtOnce(Number(port));
  expect(running.output()).toContain("SSL_CB_HANDSHAKE_DONE");
  expect(running.output()).not.toContain("returning UV_EPROTO");
});

/** A handshake whose last bytes reach the server together with the client's goodbye, by way of a proxy. */
async function closeAtOnce(port: number): Promise<void> {
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connectTcp({ port, host: "127.0.0.1", allowHalfOpen: true });
    const held: Buffer[] = [];
    client.once("data", (hello: Buffer) => {
      server.write(hello);
      client.on("data", (chunk: Buffer) => held.push(chunk));
    });
    client.once("end", () => server.end(Buffer.concat(held)));
    server.pipe(client);
    server.on("error", () => client.destroy());
    client.on("error", () => server.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const socket = connect({
    port: (proxy.address() as AddressInfo).port,
    host: "127.0.0.1",
    ALPNProtocols: ["h2"],
    rejectUnauthorized: false,
  });
  socket.on("error", () => undefined);
  socket.once("secureConnect", () => socket.end());
  socket.resume();
  await once(socket, "close");
  proxy.close();
  await once(proxy, "close");
}
