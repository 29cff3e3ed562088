/** Name resolution against a real DNS server on loopback that works, fails, hangs, lies, flaps, or answers slowly. */
import { createSocket, type Socket } from "node:dgram";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { resolveNameProbe } from "./resolve-name.ts";

const FULL = "kubernetes.default.svc.cluster.local";
const SEARCH = "search shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5";
const [A, AAAA] = [1, 28];

interface Question {
  readonly name: string;
  readonly type: number;
  readonly bytes: Buffer;
}

interface Reply {
  readonly code?: number;
  /** Addresses as bytes, of the type of the question. */
  readonly addresses?: readonly (readonly number[])[];
  /** Another id than that of the question. */
  readonly wrongId?: boolean;
  readonly garbage?: boolean;
  readonly afterMs?: number;
}

type Behaviour = (question: Question) => Reply | undefined;

const sockets: Socket[] = [];
let directory = "";
let files = 0;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "lifeboat-dns-"));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});
afterAll(() => rm(directory, { recursive: true }));

function read(message: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString());
    at += length + 1;
  }
  return {
    name: labels.join("."),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(12, at + 5),
  };
}

function encode(
  id: number,
  { bytes, type }: Question,
  { code = 0, addresses = [] }: Reply,
): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(id, 0);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(address.length, 10);
    return Buffer.concat([record, Buffer.from(address)]);
  });
  return Buffer.concat([head, bytes, ...records]);
}

/** Serves on loopback; answers its address. */
function serve(behaviour: Behaviour): Promise<string> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  socket.on("message", (message, { port, address }) => {
    const question = read(message);
    const reply = behaviour(question);
    if (reply === undefined) return;
    const id = message.readUInt16BE(0) ^ (reply.wrongId ? 1 : 0);
    const answer = reply.garbage ? Buffer.from("nonsense") : encode(id, question, reply);
    const send = (): void => {
      if (sockets.includes(socket)) socket.send(answer, port, address);
    };
    if (reply.afterMs === undefined) send();
    else setTimeout(send, reply.afterMs);
  });
  return new Promise((resolve) => {
    socket.bind(0, "127.0.0.1", () => resolve(`127.0.0.1:${socket.address().port}`));
  });
}

const REFUSED = { code: 5 };
const SERVFAIL = { code: 2 };
const NXDOMAIN = { code: 3 };
const works: Behaviour = ({ name, type }) =>
  name !== FULL ? NXDOMAIN : type === A ? { addresses: [[10, 96, 0, 1]] } : {};
const silent: Behaviour = () => undefined;

async function detect(
  servers: readonly string[],
  timeoutMs = 600,
  conf = SEARCH,
): Promise<boolean> {
  files += 1;
  const resolvConf = join(directory, `${files}.conf`);
  await writeFile(
    resolvConf,
    [...servers.map((server) => `nameserver ${server}`), conf].join("\n"),
  );
  const probe = resolveNameProbe({ name: "kubernetes.default", resolvConf, timeoutMs });
  return probe(AbortSignal.timeout(timeoutMs));
}

describe("a detection", () => {
  test.each<readonly [string, Behaviour, boolean]>([
    ["an address", works, true],
    [
      "an IPv6 address alone",
      ({ name, type }) =>
        name === FULL && type === AAAA ? { addresses: [Array.from({ length: 16 }, () => 1)] } : {},
      true,
    ],
    ["no such name", () => NXDOMAIN, false],
    ["NOERROR without an address", () => ({}), false],
    ["a server that fails", () => SERVFAIL, false],
    ["a server that refuses", () => REFUSED, false],
    ["a server that hangs", silent, false],
    ["an answer to another question", (question) => ({ ...works(question), wrongId: true }), false],
    ["garbage", () => ({ garbage: true }), false],
    ["an answer in time", (question) => ({ ...works(question), afterMs: 30 }), true],
    ["an answer after the period", (question) => ({ ...works(question), afterMs: 900 }), false],
  ])("%s", async (_, behaviour, success) => {
    expect(await detect([await serve(behaviour)])).toBe(success);
  });

  it("follows a server that flaps", async () => {
    let isUp = true;
    const server = await serve((question) => (isUp ? works(question) : SERVFAIL));
    for (const up of [true, false, true, false, false, true]) {
      isUp = up;
      expect(await detect([server])).toBe(up);
    }
  });

  it("asks the next server when one is silent, fails, or is no address", async () => {
    const good = await serve(works);
    expect(await detect([await serve(silent), good], 1000)).toBe(true);
    expect(await detect([await serve(() => SERVFAIL), good])).toBe(true);
    expect(await detect(["not-an-address", good])).toBe(true);
  });

  it("believes the first server that answers, as a pod does", async () => {
    expect(await detect([await serve(() => NXDOMAIN), await serve(works)])).toBe(false);
  });

  it("uses the search list and ndots, and fails without servers or without the file", async () => {
    const server = await serve(works);
    expect(await detect([server], 600, "search elsewhere")).toBe(false);
    expect(await detect([server], 600, "search svc.cluster.local")).toBe(true);
    expect(await detect([])).toBe(false);
    const probe = resolveNameProbe({
      name: "x",
      resolvConf: join(directory, "none"),
      timeoutMs: 100,
    });
    await expect(probe(AbortSignal.timeout(100))).rejects.toThrow(/ENOENT/);
  });
});
