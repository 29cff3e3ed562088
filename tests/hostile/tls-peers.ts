/**
 * Peers that do not keep to TLS or HTTP: each opens one connection to a server, misbehaves in its own way, and resolves
 * when its connection is gone. None of them has credentials.
 */
import { once } from "node:events";
import * as http2 from "node:http2";
import * as net from "node:net";
import { Duplex } from "node:stream";
import * as tls from "node:tls";

const HOST = "127.0.0.1";
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** An empty SETTINGS frame. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** A record of TLS that no key fits. */
const BROKEN_RECORD = Buffer.concat([Buffer.from([23, 3, 3, 0, 64]), Buffer.alloc(64, 7)]);
/** handshake_failure, in the clear. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 40]);
const STALL_MS = 50;
/** Longer than any machine needs to notice, and than the server's own limit for a handshake. */
const KEPT_MS = 30_000;

/** Opens an HTTP/2 connection with more requests than the buffers of both sides hold answers, and a watch. */
const ASKING = asking();

function asking(): Buffer {
  const paths = [
    "/version",
    "/api/v1/namespaces?watch=1",
    ...Array<string>(30).fill("/openapi/v2"),
  ];
  // SETTINGS_INITIAL_WINDOW_SIZE and a window of the connection that never fill.
  const settings = frame(4, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]));
  const window = frame(8, 0, 0, Buffer.from([0x70, 0, 0, 0]));
  // The static table of HPACK: GET, https, and a literal path.
  const requests = paths.map((path, i) =>
    frame(1, 5, 2 * i + 1, Buffer.from([0x82, 0x87, 0x04, path.length, ...Buffer.from(path)])),
  );
  return Buffer.concat([PREFACE, settings, window, ...requests]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

type Protocol = "h2" | "http/1.1";

export interface Peer {
  readonly name: string;
  readonly meet: (port: number) => Promise<void>;
}

/** What a client sends first, recorded once, so that most peers need no cryptography of their own. */
export async function recordHello(protocol: Protocol, servername = ""): Promise<Buffer> {
  const server = net.createServer();
  server.listen(0, HOST);
  await once(server, "listening");
  const accepted = once(server, "connection");
  const { port } = server.address() as net.AddressInfo;
  const client = tls.connect({ port, host: HOST, servername, ALPNProtocols: [protocol] });
  client.on("error", () => undefined);
  const [socket] = (await accepted) as [net.Socket];
  const [hello] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

/** Peers that never finish a handshake. */
export function peersBeforeTheHandshake(hello: Buffer): readonly Peer[] {
  const raw = (name: string, bytes: Uint8Array, leave: Leave): Peer => ({
    name,
    meet: (port) => sendAndLeave(port, bytes, leave),
  });
  const nothing = Buffer.alloc(0);
  const half = hello.subarray(0, hello.length / 2);
  const twice = Buffer.concat([hello, hello]);
  return [
    raw("connects and resets", nothing, "reset"),
    raw("connects and ends its side", nothing, "end"),
    raw("sends half a hello and resets", half, "reset"),
    raw("sends half a hello and ends its side", half, "end"),
    raw("sends a hello and resets", hello, "reset"),
    raw("sends a hello and ends its side", hello, "end"),
    raw("sends a hello and resets at the answer", hello, "reset at an answer"),
    raw("sends a hello and ends its side at the answer", hello, "end at an answer"),
    raw("sends two hellos", twice, "end at an answer"),
    raw("sends an HTTP/2 preface without TLS", PREFACE, "end at an answer"),
    raw("sends HTTP without TLS", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "end at an answer"),
  ];
}

/** Peers that finish the handshake and then leave without a proper end. */
export function peersAfterTheHandshake(servername = ""): readonly Peer[] {
  const get = Buffer.from("GET /version HTTP/1.1\r\nhost: a\r\n\r\n");
  const post = Buffer.from(
    "POST /api/v1/namespaces HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{",
  );
  const secure = (name: string, protocol: Protocol, bytes: Uint8Array, leave: Leave): Peer => ({
    name: `${protocol}: ${name}`,
    meet: (port) => sendSecurelyAndLeave({ port, servername }, protocol, bytes, leave),
  });
  return [
    secure("resets after the handshake", "h2", Buffer.alloc(0), "reset"),
    secure("ends its side after the handshake", "h2", Buffer.alloc(0), "end"),
    secure("sends half a preface and ends its side", "h2", PREFACE.subarray(0, 9), "end"),
    secure("sends its preface and resets", "h2", Buffer.concat([PREFACE, SETTINGS]), "reset"),
    secure("sends its preface and ends its side", "h2", PREFACE, "end"),
    secure("sends HTTP/1.1 where HTTP/2 was agreed", "h2", get, "end at an answer"),
    secure("resets after the handshake", "http/1.1", Buffer.alloc(0), "reset"),
    secure("asks and resets", "http/1.1", get, "reset"),
    secure("asks and ends its side", "http/1.1", get, "end"),
    secure("sends half a header and ends its side", "http/1.1", get.subarray(0, 20), "end"),
    secure("sends half a body and resets", "http/1.1", post, "reset"),
    secure("sends half a body and ends its side", "http/1.1", post, "end"),
    secure("asks and breaks TLS", "http/1.1", get, "break"),
    secure("sends half a body and breaks TLS", "http/1.1", post, "break"),
    {
      name: "h2: ends its side with the last bytes of the handshake",
      meet: (port) => endWithTheHandshake({ port, servername }),
    },
    secure("asks and breaks TLS", "h2", ASKING, "break"),
    secure("asks and sends an alert", "h2", ASKING, "alert"),
    secure("asks and resets", "h2", ASKING, "reset"),
    secure("asks and resets at the answer", "h2", ASKING, "reset at an answer"),
    secure("asks and ends its side", "h2", ASKING, "end"),
    secure("asks and ends its side at the answer", "h2", ASKING, "end at an answer"),
    secure("asks, takes nothing and resets", "h2", ASKING, "stall"),
  ];
}

/** Peers that send a request of HTTP/1.1 and then leave, in every way. */
export function peersThatSend(request: string, name: string, servername = ""): readonly Peer[] {
  const leaves = ["reset", "end", "break", "alert", "reset at an answer", "stall"] as const;
  return leaves.map((leave) => ({
    name: `http/1.1: ${name} and leaves by: ${leave}`,
    meet: (port) =>
      sendSecurelyAndLeave({ port, servername }, "http/1.1", Buffer.from(request), leave),
  }));
}

/** A handshake whose last bytes are held back until `release` resolves; then the peer asks for `/version`. */
export async function finishLate(
  port: number,
  protocol: Protocol,
  release: Promise<unknown>,
  servername = "",
): Promise<void> {
  const { held, tcp } = heldAfterHello(port, release, false);
  const client = tls.connect({
    socket: held,
    servername,
    ALPNProtocols: [protocol],
    rejectUnauthorized: false,
  });
  client.on("error", () => undefined);
  client.resume();
  client.write(
    protocol === "h2"
      ? Buffer.concat([PREFACE, SETTINGS])
      : "GET /version HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
  );
  await release;
  await released(tcp);
  client.destroy();
}

/** Sends so much and waits; resolves when the server ends the connection. */
export async function waitForEnd(port: number, bytes: Uint8Array): Promise<void> {
  const socket = net.connect({ port, host: HOST });
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(bytes);
  await released(socket);
}

/** Asks for `/version` over HTTP/2 as an honest client does; answers the status, or why there was none. */
export async function askVersion(port: number): Promise<number | string> {
  const session = http2.connect(`https://${HOST}:${port}`, { rejectUnauthorized: false });
  try {
    return await new Promise((resolve) => {
      session.on("error", (error) => resolve(String(error)));
      session.on("close", () => resolve("the connection was closed"));
      const stream = session.request({ ":path": "/version" });
      stream.on("error", (error) => resolve(String(error)));
      stream.on("response", (headers) => resolve(Number(headers[":status"])));
      stream.resume();
    });
  } finally {
    session.destroy();
  }
}

type Leave =
  | "reset"
  | "end"
  | "break"
  | "alert"
  | "stall"
  | "reset at an answer"
  | "end at an answer";

async function sendAndLeave(port: number, bytes: Uint8Array, leave: Leave): Promise<void> {
  const socket = net.connect({ port, host: HOST });
  socket.on("error", () => undefined);
  socket.resume();
  socket.once("connect", () => socket.write(bytes, () => leaveBy(socket, socket, leave)));
  await released(socket);
}

/** Where a peer connects to; an empty name is not sent. */
interface At {
  readonly port: number;
  readonly servername: string;
}

async function sendSecurelyAndLeave(
  { port, servername }: At,
  protocol: Protocol,
  bytes: Uint8Array,
  leave: Leave,
): Promise<void> {
  const tcp = net.connect({ port, host: HOST });
  const socket = tls.connect({
    socket: tcp,
    servername,
    ALPNProtocols: [protocol],
    rejectUnauthorized: false,
  });
  tcp.on("error", () => undefined);
  socket.on("error", () => undefined);
  socket.resume();
  socket.once("secureConnect", () => socket.write(bytes, () => leaveBy(socket, tcp, leave)));
  await released(tcp);
  socket.destroy();
}

function leaveBy(socket: net.Socket, tcp: net.Socket, leave: Leave): void {
  const go = (): void => {
    if (leave.startsWith("reset")) tcp.resetAndDestroy();
    else if (leave === "break") tcp.write(BROKEN_RECORD);
    else if (leave === "alert") tcp.write(ALERT);
    else if (leave === "stall") {
      socket.pause();
      setTimeout(() => tcp.resetAndDestroy(), STALL_MS);
    } else socket.end();
  };
  if (leave.endsWith("at an answer")) socket.once("data", go);
  else go();
}

async function endWithTheHandshake({ port, servername }: At): Promise<void> {
  let go: () => void = () => undefined;
  const release = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { held, tcp } = heldAfterHello(port, release, true);
  const client = tls.connect({
    socket: held,
    servername,
    ALPNProtocols: ["h2"],
    rejectUnauthorized: false,
  });
  client.on("error", () => undefined);
  client.resume();
  client.once("secureConnect", () => {
    client.end();
    setImmediate(go);
  });
  await released(tcp);
  client.destroy();
}

/** A way to the server that passes the first bytes on and the rest together, once released. */
function heldAfterHello(
  port: number,
  release: Promise<unknown>,
  endsThen: boolean,
): { held: Duplex; tcp: net.Socket } {
  const tcp = net.connect({ port, host: HOST });
  let kept: Buffer[] | undefined = [];
  let isFirst = true;
  const held = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      if (isFirst || kept === undefined) tcp.write(chunk);
      else kept.push(chunk);
      isFirst = false;
      done();
    },
  });
  tcp.on("data", (chunk: Buffer) => held.push(chunk));
  tcp.on("error", () => undefined);
  tcp.on("end", () => held.push(null));
  void release.then(() => {
    const bytes = Buffer.concat(kept ?? []);
    kept = undefined;
    if (endsThen) tcp.end(bytes);
    else tcp.write(bytes);
  });
  return { held, tcp };
}

/** Resolves when the connection is gone; rejects when the server keeps one that is of no use any more. */
function released(tcp: net.Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    if (tcp.destroyed) resolve();
    const timer = setTimeout(() => {
      reject(new Error("the server keeps a connection whose peer has left or broken it"));
      tcp.destroy();
    }, KEPT_MS);
    tcp.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
