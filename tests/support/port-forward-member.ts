/**
 * A member with one pod whose port repeats what it is sent, for `kubectl port-forward`: it speaks as much of SPDY/3.1 as that needs.
 * Of each forwarded connection a client opens the stream of errors first and the stream of data second, so that ids tell them
 * apart and no header has to be read.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { constants, createDeflate, type Deflate } from "node:zlib";

const CONTROL = 0x80;
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const PING = 6;
const HEAD_BYTES = 8;
const FIN = 1;
/** A header block of no headers. */
const NO_HEADERS = Buffer.alloc(4);

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "web", image: "x" }] },
  status: { phase: "Running" },
};

const DOCUMENTS: Readonly<Record<string, object>> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [] },
  "/api/v1": {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      { name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs: ["get"] },
    ],
  },
  "/api/v1/namespaces/default/pods/web": POD,
};

export interface PortForwardMember {
  readonly server: string;
  /** What was asked for by Upgrade, in order. */
  readonly upgrades: readonly string[];
  /** In whose name. */
  readonly callers: ReadonlySet<string>;
  close(): void;
}

export async function startPortForwardMember(): Promise<PortForwardMember> {
  const upgrades: string[] = [];
  const callers = new Set<string>();
  const server = createServer((request, response) => {
    const document = DOCUMENTS[(request.url ?? "").split("?")[0] ?? ""];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? { kind: "Status", code: 404 }));
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const protocol = request.headers.upgrade ?? "";
    upgrades.push(protocol);
    callers.add(String(request.headers["impersonate-user"]));
    socket.on("error", () => socket.destroy());
    // Clients try WebSocket first, and SPDY where that is refused.
    if (protocol.toLowerCase() !== "spdy/3.1") {
      socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n",
    );
    if (head.length > 0) socket.unshift(head);
    void serveSpdy(socket).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upgrades,
    callers,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function serveSpdy(socket: Duplex): Promise<void> {
  const headers = createDeflate();
  let pending = Buffer.alloc(0);
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk as Buffer]);
    while (pending.length >= HEAD_BYTES) {
      const length = pending.readUIntBE(5, 3);
      if (pending.length < HEAD_BYTES + length) break;
      const frame = pending.subarray(0, HEAD_BYTES + length);
      pending = pending.subarray(HEAD_BYTES + length);
      await answer(socket, headers, frame);
    }
  }
}

async function answer(socket: Duplex, headers: Deflate, frame: Buffer): Promise<void> {
  const body = frame.subarray(HEAD_BYTES);
  if (((frame[0] ?? 0) & CONTROL) !== 0) {
    const type = frame.readUInt16BE(2);
    if (type === PING) socket.write(frame);
    if (type === SYN_STREAM) await reply(socket, headers, body.readUInt32BE(0) & 0x7fffffff);
    return;
  }
  const stream = frame.readUInt32BE(0) & 0x7fffffff;
  const isData = stream % 4 === 3;
  // Data is repeated, its end included; the client ends the stream of errors by itself, and there are none.
  if (isData) socket.write(frame);
  if (isData && ((frame[4] ?? 0) & FIN) !== 0) socket.write(dataFrame(stream - 2, FIN));
}

async function reply(socket: Duplex, headers: Deflate, stream: number): Promise<void> {
  const block = await new Promise<Buffer>((resolve) => {
    headers.write(NO_HEADERS);
    headers.flush(constants.Z_SYNC_FLUSH, () => resolve((headers.read() as Buffer) ?? NO_HEADERS));
  });
  const head = Buffer.alloc(HEAD_BYTES + 4);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(SYN_REPLY, 2);
  head.writeUIntBE(4 + block.length, 5, 3);
  head.writeUInt32BE(stream, HEAD_BYTES);
  socket.write(Buffer.concat([head, block]));
}

function dataFrame(stream: number, flags: number): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES);
  frame.writeUInt32BE(stream, 0);
  frame[4] = flags;
  return frame;
}
