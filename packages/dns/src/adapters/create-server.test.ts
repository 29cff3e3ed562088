/** The server on real sockets: many messages in one connection, limits, hostile clients, and what a file keeps. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRealClock } from "@lifeboat/base/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { afterEach, describe, expect, it } from "vitest";
import { APEX, ask, exampleSet, exampleZone, KEY, readMessage } from "../dns.suite.ts";
import { createDnsMetrics } from "../metrics.ts";
import { isNotifyAnswer } from "../notify.ts";
import { sign } from "../wire/tsig.ts";
import { u16 } from "../wire/records.ts";
import type { Zone } from "../zone/zone.ts";
import { createDnsServer, type DnsServer, type DnsServerOptions } from "./create-server.ts";
import { nodeHmac } from "./hmac.ts";
import { zoneFile } from "./zone-file.ts";

let server: DnsServer | undefined;
const sockets: Socket[] = [];
let publish: (zone: Zone) => void = () => undefined;

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
});

async function serve(
  options: Partial<DnsServerOptions> = {},
  zone = exampleZone(),
): Promise<number> {
  const ports = {
    clock: createRealClock(),
    log: silentLog,
    dnsMetrics: createDnsMetrics(silentMetrics),
  };
  const state = { zone, content: undefined, held: undefined, ageMs: 0 };
  server = await createDnsServer(
    ports,
    { state: () => state, onPublished: (handler) => (publish = handler) },
    { host: "127.0.0.1", port: 0, keys: [KEY], secondaries: [], rateLimit: 0, ...options },
  );
  return server.port;
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

function framed(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]);
}

/** Reads so many messages. */
async function messagesOf(socket: Socket, count: number): Promise<readonly Uint8Array[]> {
  const messages: Uint8Array[] = [];
  let pending = Buffer.alloc(0);
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk as Buffer]);
    while (pending.length >= 2 && pending.length >= u16(pending, 0) + 2) {
      messages.push(new Uint8Array(pending.subarray(2, u16(pending, 0) + 2)));
      pending = pending.subarray(u16(pending, 0) + 2);
    }
    if (messages.length >= count) break;
  }
  return messages;
}

describe("connections", () => {
  it("answer many messages in their order, in whatever pieces they arrive", async () => {
    const socket = await dial(await serve());
    const count = 500;
    const all = Buffer.concat(
      Array.from({ length: count }, (_none, id) =>
        framed(ask(`store.mynamespace.${APEX}`, "SRV", { id })),
      ),
    );
    const reading = messagesOf(socket, count);
    for (let at = 0; at < all.length; at += 777) socket.write(all.subarray(at, at + 777));
    const answers = (await reading).map(readMessage);
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_none, id) => id));
    expect(answers.every((answer) => answer.answers.length === 11)).toBe(true);
  });

  it("a client that does not read delays no other, and what it sends waits", async () => {
    const zone = exampleZone([exampleSet(5, 20)]);
    const port = await serve({}, zone);
    const greedy = await dial(port);
    greedy.pause();
    const question = framed(ask(`store.mynamespace.${APEX}`, "SRV"));
    for (let count = 0; count < 20_000; count += 1) greedy.write(question);
    const polite = await dial(port);
    polite.write(question);
    expect(await messagesOf(polite, 1)).toHaveLength(1);
  });

  it("are closed when there are too many of one address, or when they are idle", async () => {
    const port = await serve({ limits: { connections: 10, perAddress: 2, idleMs: 200 } });
    const first = await dial(port);
    await dial(port);
    const third = connect(port, "127.0.0.1");
    sockets.push(third);
    third.on("error", () => undefined);
    await once(third, "close");
    await once(first, "close");
    const later = await dial(port);
    later.write(framed(ask(APEX, "SOA")));
    expect(await messagesOf(later, 1)).toHaveLength(1);
  });

  it("nonsense gets no answer or a refusal, and the server goes on", async () => {
    const port = await serve();
    const hostile = await dial(port);
    hostile.write(framed(new Uint8Array(5)));
    hostile.write(framed(new Uint8Array(0)));
    hostile.write(framed(ask(APEX, "SOA").slice(0, 20)));
    expect((await messagesOf(hostile, 1)).map((message) => readMessage(message).rcode)).toEqual([
      1,
    ]);
    const signed = sign(ask(APEX, "AXFR", { flags: 0 }), KEY, {
      hmac: nodeHmac,
      now: Math.floor(createRealClock().now() / 1000),
    });
    const other = await dial(port);
    other.write(framed(signed.message));
    const [transfer] = await messagesOf(other, 1);
    expect(readMessage(transfer ?? new Uint8Array(12)).answers.length).toBeGreaterThan(50);
  });
});

describe("datagrams", () => {
  it("above the rate of a network come back truncated, or not at all", async () => {
    const port = await serve({ rateLimit: 10 });
    const socket = createSocket("udp4");
    const found: boolean[] = [];
    // Ten are answered and half of the rest comes back, more if a second ends meanwhile.
    const enough = new Promise<void>((resolve) => {
      socket.on("message", (message) => {
        if (found.push(readMessage(message).isTruncated) === 25) resolve();
      });
    });
    for (let count = 0; count < 40; count += 1)
      socket.send(ask(`store.mynamespace.${APEX}`, "SRV", { edns: 1232 }), port, "127.0.0.1");
    await enough;
    socket.close();
    expect(found.filter((isTruncated) => !isTruncated).length).toBeLessThanOrEqual(20);
    expect(found.filter((isTruncated) => isTruncated).length).toBeGreaterThan(0);
  });

  it("tell secondaries of a new zone until they confirm", async () => {
    const secondary = createSocket("udp4");
    secondary.bind(0, "127.0.0.1");
    await once(secondary, "listening");
    const { port } = secondary.address();
    await serve({ secondaries: [{ host: "127.0.0.1", port }] });
    publish(exampleZone());
    const [first] = (await once(secondary, "message")) as [Buffer];
    // Not confirmed: it comes again.
    const [again, from] = (await once(secondary, "message")) as [Buffer, { port: number }];
    expect(u16(again, 0)).toBe(u16(first, 0));
    expect(u16(again, 2) >> 11).toBe(4);
    expect(readMessage(again).answers[0]).toContain("SOA");
    const answer = Uint8Array.from(again).with(2, (again[2] ?? 0) | 0x80);
    expect(isNotifyAnswer(answer, u16(first, 0))).toBe(true);
    secondary.send(answer, from.port, "127.0.0.1");
    secondary.close();
  });
});

describe("the file of the zone", () => {
  const directory = mkdtempSync(join(tmpdir(), "lifeboat-zone-"));
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it("is absent, whole or refused", async () => {
    const store = zoneFile(join(directory, "zone.json"));
    expect(await store.load()).toBeUndefined();
    await store.save({ serial: 7, sets: [exampleSet()], at: 5 });
    expect(await store.load()).toEqual({ serial: 7, sets: [exampleSet()], at: 5 });
    for (const text of ["{", "{}", '{"serial":"x","sets":[]}']) {
      writeFileSync(join(directory, "zone.json"), text);
      await expect(store.load()).rejects.toThrow();
    }
  });
});
