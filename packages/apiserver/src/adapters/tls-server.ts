/**
 * The transport: HTTP/2 and HTTP/1.1 over TLS on one port, chosen by ALPN, for any `Handle`. This file is about TLS and the
 * life of connections; `tls-http1.ts` and `tls-http2.ts` speak the protocols, `tls-bodies.ts` reads bodies,
 * `tls-answers.ts` sends answers.
 *
 * 1. A client certificate names a user only if it chains to `clientCa`, is meant for clients, has not expired and is not
 *    revoked, which is checked again on each request; `dropRevoked` ends what is open. Sessions are not resumed, so no old decision is taken over.
 * 2. Nothing waits for a client for ever: handshake, headers, body, a full send buffer and idle connections have limits.
 * 3. A protocol gets a connection when its handshake is over. Until then nothing is written to it but by TLS, and when it
 *    fails or takes too long it is destroyed (docs/decisions/0010-http2-over-tls.md).
 * 4. `close` stops listening, sends clients elsewhere (GOAWAY, `connection: close`), ends response streams in
 *    order, lets other requests finish, and cuts what is left at the deadline.
 */
import { constants as cryptoConstants } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type Server as NodeTlsServer, type TLSSocket } from "node:tls";
import type { Log, Metrics } from "@lifeboat/kit";
import type { Handle, Identify, Streams } from "../http/exchange.ts";
import { Answers } from "./tls-answers.ts";
import { Bodies } from "./tls-bodies.ts";
import { Http1 } from "./tls-http1.ts";
import { Http2 } from "./tls-http2.ts";
import { type ClientIdentity, identityOf, type RefusalOf } from "./tls-server-identity.ts";
import { DEFAULT_TLS_SERVER_LIMITS, type TlsServerLimits } from "./tls-server-limits.ts";

export interface TlsMaterial {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities of client certificates, PEM; several one after the other. */
  readonly clientCa: string;
}

export interface TlsServerOptions extends TlsMaterial {
  readonly handle: Handle;
  /** Asked before a body is read. */
  readonly identify: Identify;
  /** Asked on each request with a certificate; absent: none is revoked. */
  readonly refusalOf?: RefusalOf;
  /** Which requests are handed over while their bodies arrive; absent: none. */
  readonly streams?: Streams;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly limits?: Partial<TlsServerLimits>;
}

export interface TlsServer {
  /** Resolves with the address once connections are accepted. */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  /** New connections use this certificate and this authority from now on. */
  renew(material: TlsMaterial): void;
  /** Ends the connections, with all requests and watches, of clients whose certificate is revoked by now. */
  dropRevoked(): void;
  /** Resolves when everything is closed, at the latest `deadlineMs` from now. Idempotent. */
  close(deadlineMs: number): Promise<void>;
}

/** Builds a server; nothing is opened before `listen`. */
export function createTlsServer(options: TlsServerOptions): TlsServer {
  return new Server(options);
}

const KEEP_ALIVE_PROBE_MS = 30_000;
/** Node takes a longer time for none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

class Server implements TlsServer {
  readonly #options: TlsServerOptions;
  readonly #server: NodeTlsServer;
  readonly #answers: Answers;
  readonly #http1: Http1;
  readonly #http2: Http2;
  /** Of every connection, also of those whose handshake is not over. */
  readonly #sockets = new Set<Socket>();
  /** Those whose handshake is over, with what their certificate proves. */
  readonly #secured = new Map<TLSSocket, ClientIdentity>();
  readonly #refusalOf: RefusalOf;
  #closing: Promise<void> | undefined;

  constructor(options: TlsServerOptions) {
    const { handle, identify, log, metrics } = options;
    const limits = { ...DEFAULT_TLS_SERVER_LIMITS, ...options.limits };
    this.#options = options;
    this.#refusalOf = options.refusalOf ?? (() => undefined);
    this.#answers = new Answers(handle, log, limits.stallTimeoutMs);
    const bodies = new Bodies(identify, limits, metrics);
    const streams = options.streams ?? (() => false);
    this.#http1 = new Http1(this.#answers, bodies, limits, streams);
    this.#http2 = new Http2(this.#answers, bodies, limits, log, streams);
    this.#server = createServer({
      ...secureContext(options),
      ALPNProtocols: ["h2", "http/1.1"],
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: limits.handshakeTimeoutMs,
    });
    this.#server.maxConnections = limits.maxConnections;
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#server.on("secureConnection", (socket) => this.#onConnection(socket));
    this.#server.on("tlsClientError", (error, socket) => {
      // Node destroys the connection after some of these errors, and leaves it open after others.
      socket.destroy();
      log.debug("TLS handshake", { error });
    });
  }

  listen(): Promise<{ readonly host: string; readonly port: number }> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#options.port, this.#options.host, () => {
        server.off("error", reject);
        server.on("error", (error) => this.#options.log.error("listening for requests", { error }));
        this.#http1.open();
        const { address, port } = server.address() as AddressInfo;
        resolve({ host: address, port });
      });
    });
  }

  renew(material: TlsMaterial): void {
    this.#server.setSecureContext(secureContext(material));
  }

  dropRevoked(): void {
    for (const [socket, identity] of this.#secured)
      // seed: revoked-connection
      if (identity.refusal() !== undefined) socket.destroy();
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  #onConnection(socket: TLSSocket): void {
    if (this.#closing !== undefined) {
      socket.destroy();
      return;
    }
    const identity = identityOf(socket, this.#refusalOf);
    this.#secured.set(socket, identity);
    socket.once("close", () => this.#secured.delete(socket));
    endWithCertificate(socket, identity);
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    socket.setNoDelay(true);
    // Before a protocol hears of it, so that it finds the connection gone and writes nothing into broken TLS.
    socket.on("error", () => socket.destroy());
    if (socket.alpnProtocol === "h2") this.#http2.accept(socket, identity);
    else this.#http1.accept(socket, identity);
  }

  async #close(deadlineMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#answers.close();
    this.#http2.close();
    this.#http1.close();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, deadlineMs);
    await closed;
    clearTimeout(timer);
  }
}

/**
 * Ends a connection with the certificate that opened it: a watch, a stream or a tunnel would otherwise outlive the identity that may
 * have it. A client that has a newer certificate by then connects again.
 */
function endWithCertificate(socket: TLSSocket, { validUntil }: ClientIdentity): void {
  if (validUntil === Infinity) return;
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const left = validUntil - Date.now();
    if (left < 0) socket.destroy();
    else timer = setTimeout(look, Math.min(left + 1, LONGEST_TIMER_MS)).unref();
  };
  look();
  socket.once("close", () => clearTimeout(timer));
}

function secureContext(material: TlsMaterial): {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly minVersion: "TLSv1.2";
  readonly secureOptions: number;
} {
  return {
    cert: material.certificate,
    key: material.key,
    ca: material.clientCa,
    minVersion: "TLSv1.2",
    secureOptions: cryptoConstants.SSL_OP_NO_TICKET | cryptoConstants.SSL_OP_NO_RENEGOTIATION,
  };
}
