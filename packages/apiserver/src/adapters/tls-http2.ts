/**
 * HTTP/2 on TLS connections that the server hands over.
 *
 * Requests are taken as raw streams, not through Node's compatibility objects, which cost more than the rest of a small
 * request.
 *
 * 1. Nothing but its session writes to a connection: a session writes beneath the socket's own queue, and two writers at
 *    a time end the whole process (an assertion in TLSWrap::DoWrite).
 * 2. A connection that the client ended is destroyed at once: Node would let the session write on, and a second such
 *    write ends the process, too.
 * 3. A connection is cut by destroying its socket. Destroying the session waits for a write that a client may never take.
 */
import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Log } from "@lifeboat/kit";
import type { HttpRequest, HttpResponse, Streams } from "../http/exchange.ts";
import { type Answers, lengthOf, type Reply, writable } from "./tls-answers.ts";
import type { Bodies } from "./tls-bodies.ts";
import { Request } from "./tls-request.ts";
import type { ClientIdentity } from "./tls-server-identity.ts";
import type { TlsServerLimits } from "./tls-server-limits.ts";

const MEBIBYTE = 1024 * 1024;
/** Server-side memory that one connection may take before new streams are refused, in megabytes. */
const SESSION_MEMORY_MB = 256;

export class Http2 {
  readonly #answers: Answers;
  readonly #bodies: Bodies;
  readonly #limits: TlsServerLimits;
  readonly #log: Log;
  readonly #streams: Streams;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(
    answers: Answers,
    bodies: Bodies,
    limits: TlsServerLimits,
    log: Log,
    streams: Streams,
  ) {
    this.#streams = streams;
    this.#answers = answers;
    this.#bodies = bodies;
    this.#limits = limits;
    this.#log = log;
  }

  accept(socket: TLSSocket, identity: ClientIdentity): void {
    // Before the session hears of it, so that it finds its socket destroyed and does not write.
    socket.once("end", () => socket.destroy());
    const session = performServerHandshake(socket, {
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: {
        maxConcurrentStreams: this.#limits.maxStreamsPerConnection,
        initialWindowSize: MEBIBYTE,
        enablePush: false,
      },
    });
    const state: SessionState = { streams: 0, watches: 0, identity, socket };
    this.#sessions.add(session);
    session.on("error", (error) => this.#log.debug("HTTP/2 session", { error }));
    session.once("close", () => this.#sessions.delete(session));
    session.on("stream", (stream, headers, _flags, ...more: unknown[]) =>
      this.#onStream(stream, headers, state, more[0] as readonly string[]),
    );
    // The window of the whole connection, so that one large body does not wait for round trips.
    session.setLocalWindowSize(4 * MEBIBYTE);
    session.setTimeout(this.#limits.idleTimeoutMs, () => {
      // Nothing was sent or received for long. Watches may be silent; anything else is stuck or gone.
      if (state.watches === 0 || state.streams > state.watches) socket.destroy();
    });
  }

  /** Sends clients elsewhere (GOAWAY); each connection ends with its last stream. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #onStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    state: SessionState,
    rawHeaders: readonly string[],
  ): void {
    stream.on("error", () => undefined);
    state.streams += 1;
    const request = new Request(
      String(headers[":method"]),
      String(headers[":path"]),
      headers as HttpRequest["headers"],
      state.identity,
      state.socket.remoteAddress,
    );
    request.rawHeaders = rawHeaders;
    stream.once("close", () => {
      state.streams -= 1;
      request.abandon();
    });
    if (headers["expect"] === "100-continue") stream.additionalHeaders({ ":status": 100 });
    const reply = new Http2Reply(stream, state, request.method === "HEAD");
    const answer = (): void => void this.#answers.answer(request, reply);
    if (stream.endAfterHeaders) answer();
    else if (this.#streams(request.url)) {
      request.incoming = stream;
      request.hasUnreadBody = () => !stream.readableEnded;
      answer();
    } else
      this.#bodies.read(stream, request, {
        announced: headers["content-length"],
        peer: state.socket.remoteAddress,
        reply,
        answer,
        giveUp: () => stream.close(constants.NGHTTP2_CANCEL),
      });
  }
}

interface SessionState {
  readonly socket: TLSSocket;
  streams: number;
  watches: number;
  readonly identity: ClientIdentity;
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

  /** A stream is no connection: clients that want one speak HTTP/1.1. */
  giveAway(): undefined {
    return undefined;
  }

  refuseMore(): void {
    this.#stream.once("finish", () => this.#stream.close(constants.NGHTTP2_NO_ERROR));
  }

  #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }
}
