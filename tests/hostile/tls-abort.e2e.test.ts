/**
 * No peer aborts the process. Node ends a process with an assertion when two parties write to one TLS connection at a
 * time, and HTTP/2 sessions write beneath the socket's own queue: so whatever a peer without credentials does to a
 * handshake or a connection, however slow it is, and however long the process itself is paused, the next honest request
 * is answered by the same process. See docs/decisions/0010-http2-over-tls.md.
 */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import {
  askVersion,
  finishLate,
  type Peer,
  peersAfterTheHandshake,
  peersBeforeTheHandshake,
  recordHello,
} from "./tls-peers.ts";

/** The server's limit for a handshake, and a little more. */
const LATE_MS = 10_500;
const PAUSE_MS = 12_000;
/** Connections of the storm; `.ci/weekly` asks for more. */
const PEERS = Number(process.env["LIFEBOAT_HOSTILE_PEERS"] ?? "10000");
const AT_A_TIME = 100;

let running: RunningLifeboat;

beforeEach(async () => {
  running = await startLifeboat({ args: ONLY_API });
});

afterEach(async () => {
  await running.process.stop("SIGKILL");
  await running.stop();
});

it("survives peers that finish their handshake when its time is over", async () => {
  const { port } = running;
  const late = wait(LATE_MS);
  const peers = Array.from({ length: 60 }, (_, i) =>
    finishLate(port, i % 2 === 0 ? "h2" : "http/1.1", late),
  );
  await Promise.all(peers);
  await expectAlive();
});

it("survives a pause longer than a handshake may take", async () => {
  const { port } = running;
  const { pid } = running.process;
  const asked = Array.from({ length: 60 }, () => askVersion(port));
  await wait(20);
  process.kill(pid, "SIGSTOP");
  asked.push(...Array.from({ length: 60 }, () => askVersion(port)));
  await wait(PAUSE_MS);
  process.kill(pid, "SIGCONT");
  await Promise.all(asked);
  await expectAlive();
});

it(`survives ${PEERS} aborted handshakes, half-closed and reset connections, and pauses between`, async () => {
  const { port } = running;
  const { pid } = running.process;
  const before = peersBeforeTheHandshake(await recordHello("h2"));
  const after = peersAfterTheHandshake();
  const kinds: readonly Peer[] = [...before, ...after];
  for (let met = 0; met < PEERS; met += AT_A_TIME) {
    const round = Array.from({ length: AT_A_TIME }, (_, i) =>
      (kinds[(met + i) % kinds.length] as Peer).meet(port),
    );
    const isPaused = (met / AT_A_TIME) % 5 === 0;
    if (isPaused) {
      await wait(10);
      process.kill(pid, "SIGSTOP");
      await wait(200);
      process.kill(pid, "SIGCONT");
    }
    await Promise.all(round);
    await expectAlive();
  }
});

async function expectAlive(): Promise<void> {
  const answer = await askVersion(running.port);
  expect(answer, running.process.output().slice(-4000)).toBe(200);
}
