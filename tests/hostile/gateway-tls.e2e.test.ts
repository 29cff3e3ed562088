/**
 * No peer ends or fills the gateway's TLS listener: it faces the clients of workloads, so its peers are strangers. Whatever they do
 * to a handshake, a request or a changed protocol, their connections are let go, and the same process answers the next request.
 */
import { request } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import {
  finishLate,
  type Peer,
  peersAfterTheHandshake,
  peersBeforeTheHandshake,
  peersThatSend,
  recordHello,
  waitForEnd,
} from "./tls-peers.ts";

const HOST = "web.example.com";
const PEERS = 1000;
const AT_A_TIME = 100;
/** The gateway's limit for a handshake is ten seconds. */
const LATE_MS = 13_000;

let gateway: RunningProcess;
let port: number;
const directory = temporaryDirectory("gateway-tls");

beforeAll(async () => {
  const program = fileURLToPath(new URL("gateway-process.ts", import.meta.url));
  const flags = ["--conditions=@lifeboat/source", "--import", "tsx"];
  gateway = startProcess(process.execPath, [...flags, program, directory, HOST]);
  const [, found = ""] = await gateway.printed(/listening (\d+)/);
  port = Number(found);
});

afterAll(async () => {
  await gateway?.stop("SIGKILL");
  removeDirectory(directory);
});

it(`17.1: the gateway survives ${PEERS} peers that do not keep to TLS or HTTP, and pauses between`, async () => {
  const hello = await recordHello("http/1.1", HOST);
  const kinds: readonly Peer[] = [
    ...peersBeforeTheHandshake(hello),
    ...peersAfterTheHandshake(HOST),
    ...peersThatSend(`GET / HTTP/1.1\r\nhost: ${HOST}\r\n\r\n`, "asks", HOST),
    ...peersThatSend(
      `GET / HTTP/1.1\r\nhost: ${HOST}\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`,
      "changes the protocol",
      HOST,
    ),
    ...peersThatSend(`CONNECT ${HOST}:443 HTTP/1.1\r\nhost: ${HOST}\r\n\r\n`, "tunnels", HOST),
  ];
  for (let met = 0; met < PEERS; met += AT_A_TIME) {
    const round = Array.from({ length: AT_A_TIME }, async (_, i) => {
      const peer = kinds[(met + i) % kinds.length];
      await peer?.meet(port).catch((error: unknown) => {
        throw new Error(`a peer: ${peer.name}`, { cause: error });
      });
    });
    if ((met / AT_A_TIME) % 5 === 0) {
      await wait(10);
      process.kill(gateway.pid, "SIGSTOP");
      await wait(200);
      process.kill(gateway.pid, "SIGCONT");
    }
    await Promise.all(round);
    expect(await ask(), gateway.output().slice(-4000)).toBe(200);
  }
});

it("17.1: the gateway lets handshakes go that take too long, and survives their end", async () => {
  const late = wait(LATE_MS);
  const hello = await recordHello("http/1.1", HOST);
  const waits = [Buffer.alloc(0), hello.subarray(0, hello.length / 2), hello].map((bytes) =>
    waitForEnd(port, bytes),
  );
  await Promise.all([
    ...waits,
    ...Array.from({ length: 30 }, () => finishLate(port, "http/1.1", late, HOST)),
  ]);
  expect(await ask(), gateway.output().slice(-4000)).toBe(200);
});

/** One honest request; answers its status, or why there was none. */
function ask(): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { host: HOST };
    const options = { port, host: "127.0.0.1", servername: HOST, headers, agent: false };
    request({ ...options, rejectUnauthorized: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
      response.once("error", (error) => resolve(String(error)));
    })
      .once("error", (error) => resolve(String(error)))
      .end();
  });
}
