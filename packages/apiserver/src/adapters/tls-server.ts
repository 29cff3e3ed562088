/**
 * The transport: HTTP/2 and HTTP/1.1 over TLS on one port, chosen by ALPN, for any `Handle`.
 *
 * HTTP/2 requests are taken as raw streams, not through Node's compatibility objects, which cost more than the rest of a
 * small request. Both protocols end in the same three steps: read the body up to the limit, ask `handle`, write.
 *
 * 1. A client certificate names a user only if it chains to `clientCa`, is meant for clients and has not expired, which
 *    is looked at again on each request. Sessions are not resumed, so no old decision is taken over.
 * 2. Nothing waits for a client for ever: handshake, headers, body, a full send buffer and idle connections have limits.
 * 3. Bytes that are not HTTP harm only their own connection.
 * 4. A response stream is stopped exactly once, when it has ended, its client is gone, or the server closes.
 * 5. An HTTP/2 client that ends its side gets nothing more. Node would shut TLS down and let the session write on, and
 *    the second such write ends the whole process (an assertion in TLSWrap::DoWrite).
 * 6. `close` stops listening, tells clients to go elsewhere (GOAWAY, `connection: close`), ends response streams in
 *    order, lets other requests finish, and cuts what is left at the deadline.
 * 7. Nothing but its HTTP/2 session writes to an HTTP/2 connection, from the first byte of the handshake on: a second
 *    writer ends the whole process (the same assertion).
 */
import { anew } from "@lifeboat/base";
import { constants as cryptoConstants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Log } from "@lifeboat/kit";
import {
  Dropped,
  type Handle,
  type HttpRequest,
  type HttpResponse,
  type HttpStream,
} from "../http/exchange.ts";
import { GatheredWrites } from "./gathered-writes.ts";
import { type ClientIdentity, identityOf, NO_IDENTITY } from "./tls-server-identity.ts";

export interface TlsMaterial {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** The authority of client certificates. */
  readonly clientCa: string;
}

export interface TlsServerLimits {
  readonly maxBodyBytes: number;
  /** For clients that show neither a good certificate nor a token: they may not write, so nothing of theirs is kept. */
  readonly maxAnonymousBodyBytes: number;
  /** Of all requests together, until they are answered. */
  readonly maxPendingBodyBytes: number;
  readonly handshakeTimeoutMs: number;
  /** Until a request with its body has arrived. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** A connection on which nothing happens. */
  readonly idleTimeoutMs: number;
  /** A client that takes nothing of what is sent to it. */
  readonly stallTimeoutMs: number;
  readonly maxStreamsPerConnection: number;
  readonly maxConnections: number;
}

export const DEFAULT_TLS_SERVER_LIMITS: TlsServerLimits = Object.freeze({
  maxBodyBytes: 3 * 1024 * 1024,
  maxAnonymousBodyBytes: 64 * 1024,
  maxPendingBodyBytes: 512 * 1024 * 1024,
  handshakeTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  headersTimeoutMs: 15_000,
  idleTimeoutMs: 180_000,
  stallTimeoutMs: 60_000,
  maxStreamsPerConnection: 1000,
  maxConnections: 10_000,
});

export interface TlsServerOptions extends TlsMaterial {
  readonly handle: Handle;
  readonly log: Log;
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
  /** Resolves when everything is closed, at the latest `deadlineMs` from now. Idempotent. */
  close(deadlineMs: number): Promise<void>;
}

/** Builds a server; nothing is opened before `listen`. */
export function createTlsServer(options: TlsServerOptions): TlsServer {
  return new Server(options);
}

const NOTHING = new Uint8Array(0);
const MEBIBYTE = 1024 * 1024;
const KEEP_ALIVE_PROBE_MS = 30_000;
/** Server-side memory that one HTTP/2 connection may take before new streams are refused, in megabytes. */
const SESSION_MEMORY_MB = 256;

class Server implements TlsServer {
  readonly #options: TlsServerOptions;
  readonly #limits: TlsServerLimits;
  readonly #server: Http2SecureServer;
  readonly #sessions = new Map<ServerHttp2Session, SessionState>();
  readonly #sockets = new Map<TLSSocket, SocketState>();
  readonly #streaming = new Set<() => void>();
  #pendingBodyBytes = 0;
  #closing: Promise<void> | undefined;

  constructor(options: TlsServerOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_TLS_SERVER_LIMITS, ...options.limits };
    this.#server = this.#build();
  }

  listen(): Promise<{ readonly host: string; readonly port: number }> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#options.port, this.#options.host, () => {
        server.off("error", reject);
        server.on("error", (error) => this.#options.log.error("listening for requests", { error }));
        const { address, port } = server.address() as AddressInfo;
        resolve({ host: address, port });
      });
    });
  }

  renew(material: TlsMaterial): void {
    this.#server.setSecureContext(secureContext(material));
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  #build(): Http2SecureServer {
    const limits = this.#limits;
    const server = createSecureServer({
      ...secureContext(this.#options),
      allowHTTP1: true,
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: limits.handshakeTimeoutMs,
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: {
        maxConcurrentStreams: limits.maxStreamsPerConnection,
        initialWindowSize: MEBIBYTE,
        enablePush: false,
      },
    });
    server.maxConnections = limits.maxConnections;
    // These exist on the server when HTTP/1.1 is allowed; the types of this version do not say so.
    Object.assign(server, {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, limits.headersTimeoutMs),
    });
    server.on("request", (request, response) => {
      this.#onHttp1(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
    // Listening for "request" has made Node answer HTTP/2 streams through its compatibility layer: take that out again.
    server.removeAllListeners("stream");
    server.on("stream", (stream, headers) => this.#onStream(stream, headers));
    server.on("session", (session) => this.#onSession(session));
    server.on("secureConnection", (socket) => this.#onConnection(socket));
    server.on("tlsClientError", (error) => this.#options.log.debug("TLS handshake", { error }));
    server.on("sessionError", (error) => this.#options.log.debug("HTTP/2 session", { error }));
    server.on("clientError", (_error: Error, socket: TLSSocket) => {
      // Also called for handshakes that failed or took too long: nothing may be written to those.
      if (this.#sockets.has(socket) && socket.alpnProtocol !== "h2") refuseMalformed(socket);
      else socket.destroy();
    });
    return server;
  }

  #onConnection(socket: TLSSocket): void {
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    socket.setNoDelay(true);
    this.#sockets.set(socket, { requests: 0, identity: undefined });
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
    if (socket.alpnProtocol === "h2") socket.once("end", () => socket.destroy());
    if (this.#closing !== undefined) socket.destroy();
  }

  #onSession(session: ServerHttp2Session): void {
    const state: SessionState = { streams: 0, watches: 0, identity: undefined };
    this.#sessions.set(session, state);
    session.on("error", () => undefined);
    session.once("close", () => this.#sessions.delete(session));
    // The window of the whole connection, so that one large body does not wait for round trips.
    session.setLocalWindowSize(4 * MEBIBYTE);
    session.setTimeout(this.#limits.idleTimeoutMs, () => {
      // Nothing was sent or received for long. Watches may be silent; anything else is stuck or gone.
      if (state.watches === 0 || state.streams > state.watches) session.destroy();
    });
    if (this.#closing !== undefined) session.close();
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", () => undefined);
    const session = stream.session as ServerHttp2Session | undefined;
    const state = session === undefined ? undefined : this.#sessions.get(session);
    if (session === undefined || state === undefined) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    state.identity ??= identityOf(session.socket as TLSSocket);
    state.streams += 1;
    const request = new Request(
      String(headers[":method"]),
      String(headers[":path"]),
      headers as HttpRequest["headers"],
      state.identity,
    );
    stream.once("close", () => {
      state.streams -= 1;
      request.abandon();
    });
    if (headers["expect"] === "100-continue") stream.additionalHeaders({ ":status": 100 });
    const answer = (): void => {
      void this.#answer(request, new Http2Reply(stream, state, request.method === "HEAD"));
    };
    if (stream.endAfterHeaders) answer();
    else this.#readBody(stream, headers["content-length"], request, answer, () => stream.close());
  }

  #onHttp1(message: IncomingMessage, response: ServerResponse): void {
    const socket = message.socket as TLSSocket;
    const state = this.#sockets.get(socket);
    if (state === undefined) {
      socket.destroy();
      return;
    }
    state.identity ??= identityOf(socket);
    state.requests += 1;
    const { method = "", url = "", headers } = message;
    const request = new Request(method, url, headers as HttpRequest["headers"], state.identity);
    message.on("error", () => undefined);
    response.on("error", () => undefined);
    response.once("close", () => {
      state.requests -= 1;
      request.abandon();
      if (this.#closing !== undefined && state.requests === 0) socket.end();
    });
    const answer = (): void => {
      if (this.#closing !== undefined || request.bodyTooLarge)
        response.setHeader("connection", "close");
      void this.#answer(request, new Http1Reply(response, method === "HEAD"));
    };
    const hasBody =
      headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    if (!hasBody) answer();
    else
      this.#readBody(message, headers["content-length"], request, answer, () => socket.destroy());
  }

  /** Reads up to the limit, then answers; gives the request up when it does not arrive in time. */
  #readBody(
    source: ServerHttp2Stream | IncomingMessage,
    announced: string | undefined,
    request: Request,
    answer: () => void,
    giveUp: () => void,
  ): void {
    const { maxAnonymousBodyBytes, maxPendingBodyBytes, requestTimeoutMs } = this.#limits;
    const maxBodyBytes = request.hasCredentials
      ? this.#limits.maxBodyBytes
      : Math.min(maxAnonymousBodyBytes, this.#limits.maxBodyBytes);
    if (announced !== undefined && Number(announced) > maxBodyBytes) {
      request.bodyTooLarge = true;
      source.resume();
      answer();
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(giveUp, requestTimeoutMs);
    source.once("close", () => clearTimeout(timer));
    request.onAbandon(() => {
      this.#pendingBodyBytes -= size;
    });
    source.on("data", (chunk: Buffer) => {
      if (request.bodyTooLarge || request.isAbandoned) return;
      size += chunk.length;
      this.#pendingBodyBytes += chunk.length;
      if (this.#pendingBodyBytes > maxPendingBodyBytes) {
        giveUp();
        return;
      }
      if (size <= maxBodyBytes) {
        chunks.push(chunk);
        return;
      }
      request.bodyTooLarge = true;
      chunks.length = 0;
      clearTimeout(timer);
      answer();
    });
    source.once("end", () => {
      clearTimeout(timer);
      if (request.bodyTooLarge) return;
      request.body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
      answer();
    });
  }

  async #answer(request: Request, reply: Reply): Promise<void> {
    let response: HttpResponse;
    try {
      response = await this.#options.handle(request);
    } catch (error) {
      // Beside those it drops, `handle` answers every request; only a bug gets here.
      if (!(error instanceof Dropped)) this.#options.log.error("handling a request", { error });
      reply.abort();
      return;
    }
    try {
      this.#send(response, reply, request);
    } catch (error) {
      this.#options.log.error("sending an answer", { error });
      if (isStream(response.body)) response.body.stop();
      reply.abort();
    }
  }

  #send(response: HttpResponse, reply: Reply, request: Request): void {
    const { status, headers, body } = response;
    if (isStream(body)) {
      this.#stream(status, headers, body, reply, request);
      return;
    }
    const bytes = body instanceof Uint8Array ? body : Buffer.concat(body);
    request.isAnswered = true;
    reply.whole(status, headers, bytes);
    // What is left of a body above the limit is not read: without this the client would go on sending it.
    if (request.bodyTooLarge) reply.refuseMore();
  }

  #stream(
    status: number,
    headers: HttpResponse["headers"],
    body: HttpStream,
    reply: Reply,
    request: Request,
  ): void {
    if (request.isAbandoned || this.#closing !== undefined) {
      body.stop();
      reply.abort();
      return;
    }
    const watchdog = new Watchdog(this.#limits.stallTimeoutMs, () => reply.abort());
    const writes = new GatheredWrites((chunk) => {
      const hasRoom = reply.write(chunk);
      if (!hasRoom) watchdog.alarm();
      return hasRoom;
    });
    let isOver = false;
    const over = (): void => {
      isOver = true;
      writes.stop();
      this.#streaming.delete(shutDown);
      watchdog.calm();
    };
    const shutDown = (): void => {
      writes.flush();
      over();
      body.stop();
      reply.end();
    };
    this.#streaming.add(shutDown);
    request.onAbandon(() => {
      if (isOver) return;
      over();
      body.stop();
    });
    reply.begin(status, headers);
    body.start({
      write: (chunk) => !isOver && writes.write(chunk),
      onDrain: (callback) =>
        reply.onDrain(() => {
          watchdog.calm();
          if (!isOver && writes.drained()) callback();
        }),
      end: () => {
        if (isOver) return;
        writes.flush();
        over();
        request.isAnswered = true;
        reply.end();
        // The rest may be in a full buffer of a client that takes nothing more.
        watchdog.alarm();
        request.onAbandon(() => watchdog.calm());
      },
    });
  }

  async #close(deadlineMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // A set may lose entries while it is walked; each `shutDown` takes itself out.
    for (const shutDown of this.#streaming) shutDown();
    for (const session of this.#sessions.keys()) session.close();
    for (const [socket, state] of this.#sockets)
      if (state.requests === 0 && socket.alpnProtocol !== "h2") socket.end();
    const timer = setTimeout(() => {
      for (const session of this.#sessions.keys()) session.destroy();
      for (const socket of this.#sockets.keys()) socket.destroy();
    }, deadlineMs);
    await closed;
    clearTimeout(timer);
  }
}

interface SessionState {
  streams: number;
  watches: number;
  identity: ClientIdentity | undefined;
}

interface SocketState {
  requests: number;
  identity: ClientIdentity | undefined;
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

/** HTTP/1.1 that cannot be parsed. */
function refuseMalformed(socket: TLSSocket): void {
  if (socket.writable)
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  else socket.destroy();
}

function isStream(body: HttpResponse["body"]): body is HttpStream {
  return "start" in body;
}

/** One request as `handle` sees it. The signal is made only when somebody asks for it. */
class Request implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HttpRequest["headers"];
  body: Uint8Array = NOTHING;
  bodyTooLarge = false;
  isAbandoned = false;
  /** The whole answer is on its way: the end of the connection is no news any more. */
  isAnswered = false;
  readonly #identity: ClientIdentity;
  #controller: AbortController | undefined;
  #listeners: (() => void)[] = [];

  constructor(
    method: string,
    url: string,
    headers: HttpRequest["headers"],
    identity: ClientIdentity,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.#identity = identity;
  }

  get certificateUser(): HttpRequest["certificateUser"] {
    return this.#current().user;
  }

  get hasCredentials(): boolean {
    return this.certificateUser !== undefined || this.headers["authorization"] !== undefined;
  }

  get certificateRefused(): boolean {
    return this.#current().isRefused;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isAbandoned && !this.isAnswered) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Nobody waits for this request any more: everything was sent, or the client is gone, which aborts the signal. */
  abandon(): void {
    if (this.isAbandoned) return;
    this.isAbandoned = true;
    if (!this.isAnswered) this.#controller?.abort();
    for (const listener of this.#listeners) listener();
    this.#listeners = [];
  }

  onAbandon(listener: () => void): void {
    if (this.isAbandoned) listener();
    else this.#listeners.push(listener);
  }

  #current(): ClientIdentity {
    const identity = this.#identity;
    if (identity === NO_IDENTITY || Date.now() <= identity.validUntil) return identity;
    return { ...identity, user: undefined, isRefused: true };
  }
}

/** Calls `bite` when `alarm` was not followed by `calm` in time. */
class Watchdog {
  readonly #delayMs: number;
  readonly #bite: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(delayMs: number, bite: () => void) {
    this.#delayMs = delayMs;
    this.#bite = bite;
  }

  alarm(): void {
    this.#timer ??= setTimeout(this.#bite, this.#delayMs);
  }

  calm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** The way back, in either protocol. Every call is harmless when the client is gone. */
interface Reply {
  whole(status: number, headers: HttpResponse["headers"], body: Uint8Array): void;
  begin(status: number, headers: HttpResponse["headers"]): void;
  write(chunk: Uint8Array): boolean;
  onDrain(callback: () => void): void;
  end(): void;
  /** Ends the connection or the stream without a proper end. */
  abort(): void;
  /** Tells the client to stop sending. */
  refuseMore(): void;
}

class Http2Reply implements Reply {
  readonly #stream: ServerHttp2Stream;
  readonly #state: SessionState;
  readonly #isHead: boolean;

  constructor(stream: ServerHttp2Stream, state: SessionState, isHead: boolean) {
    this.#stream = stream;
    this.#state = state;
    this.#isHead = isHead;
  }

  whole(status: number, headers: HttpResponse["headers"], body: Uint8Array): void {
    if (this.#isGone()) return;
    const isEmpty = this.#isHead || body.length === 0;
    this.#stream.respond(
      { ":status": status, ...writable(headers), ...lengthOf(status, body) },
      { endStream: isEmpty },
    );
    if (!isEmpty) this.#stream.end(body);
  }

  begin(status: number, headers: HttpResponse["headers"]): void {
    if (this.#isGone()) return;
    this.#state.watches += 1;
    this.#stream.once("close", () => {
      this.#state.watches -= 1;
    });
    this.#stream.respond({ ":status": status, ...writable(headers) });
  }

  write(chunk: Uint8Array): boolean {
    return this.#isGone() ? false : this.#stream.write(chunk);
  }

  onDrain(callback: () => void): void {
    this.#stream.on("drain", callback);
  }

  end(): void {
    if (!this.#isGone()) this.#stream.end();
  }

  abort(): void {
    // Not `close`: that would wait for what the client does not take.
    this.#stream.destroy(new Error("cut off"));
  }

  refuseMore(): void {
    this.#stream.once("finish", () => this.#stream.close(constants.NGHTTP2_NO_ERROR));
  }

  #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }
}

class Http1Reply implements Reply {
  readonly #response: ServerResponse;
  readonly #isHead: boolean;

  constructor(response: ServerResponse, isHead: boolean) {
    this.#response = response;
    this.#isHead = isHead;
  }

  whole(status: number, headers: HttpResponse["headers"], body: Uint8Array): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(status, { ...anew, ...writable(headers), ...lengthOf(status, body) });
    this.#response.end(this.#isHead ? undefined : body);
  }

  begin(status: number, headers: HttpResponse["headers"]): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(status, writable(headers));
    this.#response.flushHeaders();
  }

  write(chunk: Uint8Array): boolean {
    return this.#response.destroyed ? false : this.#response.write(chunk);
  }

  onDrain(callback: () => void): void {
    this.#response.on("drain", callback);
  }

  end(): void {
    if (!this.#response.destroyed) this.#response.end();
  }

  abort(): void {
    this.#response.destroy();
  }

  refuseMore(): void {
    const { socket } = this.#response;
    this.#response.once("finish", () => socket?.destroySoon());
  }
}

/** Node's types want arrays they could change. */
function writable(headers: HttpResponse["headers"]): Record<string, string | string[]> {
  return headers as Record<string, string | string[]>;
}

function lengthOf(status: number, body: Uint8Array): Record<string, string> {
  return status === 304 || status === 204 ? {} : { "content-length": String(body.length) };
}
