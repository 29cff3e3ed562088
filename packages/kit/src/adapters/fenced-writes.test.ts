/** Writes of a leader that wait for a connection when its term ends: over HTTP none of them leaves afterwards. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import type { Resource } from "@lifeboat/api";
import { afterEach, expect, test } from "vitest";
import { NotSent } from "../client.ts";
import { fencedClient } from "../fenced-client.ts";
import { fixedCredential } from "./credentials.ts";
import { createHttpClient } from "./http-client.ts";

const things: Resource = {
  group: "ex.io",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: true,
};
const named = (name: string) => ({
  apiVersion: "ex.io/v1",
  kind: "Thing",
  metadata: { namespace: "ns", name },
});

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** A server that keeps the answers to the first writes back, a client with few connections for writes, and a term. */
async function setUp({ writes = 1, over = new AbortController(), held = Infinity } = {}) {
  const waiting: (() => void)[] = [];
  const written: string[] = [];
  let heard: () => void = () => undefined;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answer = (): void => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(named("a")));
      };
      if (request.method === "GET") {
        answer();
        return;
      }
      const { metadata } = JSON.parse(Buffer.concat(chunks).toString()) as {
        metadata: { name: string };
      };
      written.push(metadata.name);
      if (written.length > held) answer();
      else waiting.push(answer);
      heard();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = createHttpClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: fixedCredential({ headers: {} }),
    userAgent: "test/1",
    maxConnections: { writes },
  });
  cleanUps.push(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const state = { isHeld: true };
  const term = { isHeld: () => state.isHeld, signal: over.signal };
  const arrived = async (count: number): Promise<void> => {
    while (written.length < count) await new Promise<void>((resolve) => (heard = resolve));
  };
  const end = (): void => {
    state.isHeld = false;
    over.abort();
  };
  return { client, leading: fencedClient(client, term), state, end, arrived, waiting, written };
}

test("a write that waits for a connection when the term ends is given up then, and never sent", async () => {
  const { client, leading, end, arrived, waiting, written } = await setUp();
  // The connection is taken by a client that no term concerns.
  const first = client.create(things, named("first"));
  await arrived(1);
  const caller = new AbortController();
  const queued = [
    leading.create(things, named("without signal")),
    leading.create(things, named("with signal"), { signal: caller.signal }),
  ];
  const ended = Promise.allSettled(queued);
  end();
  for (const one of await ended)
    expect(one).toMatchObject({ status: "rejected", reason: expect.any(NotSent) as unknown });
  waiting[0]?.();
  await first;
  await client.get(things, { namespace: "ns", name: "a" });
  expect(written).toEqual(["first"]);
});

test("a write gets its connection after the term, before any timer has rung: it is not sent either", async () => {
  const { client, leading, state, arrived, waiting, written } = await setUp();
  const first = client.create(things, named("first"));
  await arrived(1);
  const queued = leading.create(things, named("queued"));
  // What a process that was paused sees: its term is over by the clock, and the alarm has not rung yet.
  state.isHeld = false;
  const ended = expect(queued).rejects.toBeInstanceOf(NotSent);
  waiting[0]?.();
  await first;
  await ended;
  expect(written).toEqual(["first"]);
});

test("the caller's own signal still ends a write of a term, and leaves nothing on the term's", async () => {
  const { client, leading, arrived, waiting, written } = await setUp();
  const first = client.create(things, named("first"));
  await arrived(1);
  const caller = new AbortController();
  const queued = leading.create(things, named("queued"), { signal: caller.signal });
  const ended = expect(queued).rejects.toBeInstanceOf(NotSent);
  caller.abort();
  await ended;
  const more = leading.create(things, named("second"));
  waiting[0]?.();
  await arrived(2);
  waiting[1]?.();
  await Promise.all([first, more]);
  expect(written).toEqual(["first", "second"]);
});

test("hundreds of writes of one term leave no listener and no warning behind", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", note);
  cleanUps.push(() => process.off("warning", note));
  const over = new AbortController();
  const caller = new AbortController();
  const listeners = new Map([over, caller].map(({ signal }) => [signal, new Set<unknown>()]));
  for (const [signal, kept] of listeners) {
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      kept.add(given[1]);
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      kept.delete(given[1]);
      remove(...given);
    };
  }
  const count = (): readonly number[] => [...listeners.values()].map(({ size }) => size);
  const { leading, arrived, waiting } = await setUp({ writes: 64, over, held: 64 });
  const writes = Array.from({ length: 500 }, () =>
    leading.create(things, named("a"), { signal: caller.signal }),
  );
  await arrived(64);
  expect(count()).toEqual([500, 500]);
  for (const answer of waiting.splice(0)) answer();
  await Promise.all(writes);
  await expect(
    leading.create(things, named("a"), { signal: AbortSignal.abort() }),
  ).rejects.toBeInstanceOf(NotSent);
  await new Promise((resolve) => setImmediate(resolve));
  expect(count()).toEqual([0, 0]);
  expect(warnings).toEqual([]);
});
