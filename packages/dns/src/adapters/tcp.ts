/**
 * The server's connections: messages behind their length, answered in order, as many as a client sends.
 *
 * 1. Connections are limited, overall and per address; one that sends nothing for a while, or does not read, is closed.
 * 2. While a client does not read its answers, nothing more is read from it.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { Log } from "@lifeboat/kit";
import { type Answering, answerStream } from "../answer.ts";
import type { DnsMetrics } from "../metrics.ts";

export interface TcpOptions {
  readonly host: string;
  readonly port: number;
  readonly answering: Answering;
  readonly metrics: DnsMetrics;
  readonly log: Log;
  readonly limits?: TcpLimits;
}

export interface TcpLimits {
  readonly connections: number;
  readonly perAddress: number;
  readonly idleMs: number;
}

export const DEFAULT_TCP_LIMITS: TcpLimits = Object.freeze({
  connections: 512,
  perAddress: 64,
  idleMs: 10_000,
});

export interface TcpServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function serveTcp(options: TcpOptions): Promise<TcpServer> {
  const limits = options.limits ?? DEFAULT_TCP_LIMITS;
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    const address = socket.remoteAddress ?? "";
    const others = open.get(address) ?? new Set();
    if (count >= limits.connections || others.size >= limits.perAddress) {
      options.metrics.refusedConnection();
      socket.destroy();
      return;
    }
    count += 1;
    open.set(address, others.add(socket));
    socket.on("close", () => {
      count -= 1;
      others.delete(socket);
      if (others.size === 0) open.delete(address);
    });
    serveConnection(socket, options, limits.idleMs);
  });
  await listen(server, options);
  server.on("error", (error) => options.log.error("the socket for connections failed", { error }));
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const sockets of open.values()) for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server, { host, port }: TcpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function serveConnection(socket: Socket, options: TcpOptions, idleMs: number): void {
  const { answering, metrics, log } = options;
  let pending: Buffer = Buffer.alloc(0);
  socket.setTimeout(idleMs, () => socket.destroy());
  // What breaks is the client's connection, and its own affair.
  socket.on("error", () => socket.destroy());
  const work = (): void => {
    while (pending.length >= 2) {
      const size = pending.readUInt16BE(0);
      if (pending.length < size + 2) return;
      const message = pending.subarray(2, size + 2);
      pending = pending.subarray(size + 2);
      for (const answer of answerStream(message, answering)) {
        metrics.answered("tcp", answer);
        socket.write(framed(answer));
      }
      if (socket.writableNeedDrain) {
        socket.pause();
        return;
      }
    }
  };
  const safely = (): void => {
    try {
      work();
    } catch (error) {
      metrics.failed("tcp");
      log.error("a message could not be answered", { error });
      socket.destroy();
    }
  };
  socket.on("drain", () => {
    safely();
    if (!socket.writableNeedDrain) socket.resume();
  });
  socket.on("data", (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    safely();
  });
  socket.on("end", () => socket.end());
}

function framed(answer: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(answer.length + 2);
  bytes.writeUInt16BE(answer.length, 0);
  bytes.set(answer, 2);
  return bytes;
}
