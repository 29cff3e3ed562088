/**
 * HTTP/1.1 on TLS connections that the server hands over.
 *
 * 1. Bytes that are not HTTP harm only their own connection.
 * 2. Headers, bodies and idle connections have limits in time.
 * 3. A request that asks for another protocol is answered like any other, on a connection that then ends; only an answer of
 *    101 gives the connection away (`TakeOver`), with every byte that the client has sent after its request.
 * 4. Only connections whose handshake is over come here: what is answered to malformed bytes is never written into a
 *    handshake.
 */
import { anew } from "@lifeboat/base";
import { createHash } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  ServerResponse,
} from "node:http";
import type { TLSSocket } from "node:tls";
import { answerHead } from "@lifeboat/kit/adapters";
import type { HttpRequest, HttpResponse, Streams, TakenConnection } from "../http/exchange.ts";
import { type Answers, lengthOf, type Reply, writable } from "./tls-answers.ts";
import type { Bodies } from "./tls-bodies.ts";
import { Request } from "./tls-request.ts";
import type { ClientIdentity } from "./tls-server-identity.ts";
import type { TlsServerLimits } from "./tls-server-limits.ts";

export class Http1 {
  readonly #answers: Answers;
  readonly #bodies: Bodies;
  readonly #server: HttpServer;
  readonly #connections = new Map<TLSSocket, ConnectionState>();
  readonly #streams: Streams;
  #isClosing = false;

  constructor(answers: Answers, bodies: Bodies, limits: TlsServerLimits, streams: Streams) {
    this.#streams = streams;
    this.#answers = answers;
    this.#bodies = bodies;
    this.#server = createServer({
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, limits.headersTimeoutMs),
    });
    this.#server.on("request", (message, response) => this.#onRequest(message, response));
    this.#server.on("upgrade", (message: IncomingMessage, socket, head: Buffer) =>
      this.#onUpgrade(message, socket as TLSSocket, head),
    );
    this.#server.on("clientError", (_error, socket) => refuseMalformed(socket as TLSSocket));
  }

  /** From now on limits in time are looked after. */
  open(): void {
    // The server listens on no port of its own: connections are handed to it. It begins to look after time at this event.
    this.#server.emit("listening");
  }

  accept(socket: TLSSocket, identity: ClientIdentity): void {
    this.#connections.set(socket, { requests: 0, identity, isGivenAway: false });
    socket.once("close", () => this.#connections.delete(socket));
    this.#server.emit("connection", socket);
  }

  /** Ends idle connections at once, others after their last answer. */
  close(): void {
    this.#isClosing = true;
    this.#server.close();
    for (const [socket, state] of this.#connections)
      if (state.isGivenAway) socket.destroySoon();
      else if (state.requests === 0) socket.end();
  }

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    const socket = message.socket as TLSSocket;
    const state = this.#connections.get(socket);
    if (state === undefined) {
      socket.destroy();
      return;
    }
    const request = begin(message, socket, state);
    const { method, url, headers } = request;
    message.on("error", () => undefined);
    response.on("error", () => undefined);
    response.once("close", () => {
      state.requests -= 1;
      request.abandon();
      if (this.#isClosing && state.requests === 0) socket.end();
    });
    const reply = new Http1Reply(response, method === "HEAD");
    const answer = (): void => {
      if (this.#isClosing) response.setHeader("connection", "close");
      void this.#answers.answer(request, reply);
    };
    const announced = headers["content-length"];
    if (announced === undefined && headers["transfer-encoding"] === undefined) answer();
    else if (this.#streams(url)) {
      request.incoming = message;
      request.hasUnreadBody = () => !message.complete;
      answer();
    } else
      this.#bodies.read(message, request, {
        announced,
        peer: socket.remoteAddress,
        reply,
        answer,
        giveUp: () => socket.destroy(),
      });
  }

  /** Node has taken its parser off the connection: whatever the answer is, no other request follows. */
  #onUpgrade(message: IncomingMessage, socket: TLSSocket, head: Buffer): void {
    const state = this.#connections.get(socket);
    const { "content-length": announced, "transfer-encoding": encoding } = message.headers;
    if (state === undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    socket.setTimeout(0);
    // A body here would be taken for bytes of the other protocol, or the other way round.
    if (encoding !== undefined || Number(announced ?? 0) !== 0) {
      refuseMalformed(socket);
      return;
    }
    const request = begin(message, socket, state);
    request.canBeTakenOver = true;
    const response = new ServerResponse(message);
    response.shouldKeepAlive = false;
    response.on("error", () => undefined);
    response.once("finish", () => socket.destroySoon());
    response.assignSocket(socket);
    socket.once("close", () => {
      state.requests -= 1;
      request.abandon();
    });
    const handshake = webSocketAccept(message.headers["sec-websocket-key"]);
    const take = (): TLSSocket | undefined => {
      if (socket.destroyed || !socket.writable) return undefined;
      state.isGivenAway = true;
      response.detachSocket(socket);
      if (head.length > 0) socket.unshift(head);
      return socket;
    };
    const reply = new Http1Reply(response, request.method === "HEAD", { take, handshake });
    void this.#answers.answer(request, reply);
  }
}

interface ConnectionState {
  requests: number;
  readonly identity: ClientIdentity;
  isGivenAway: boolean;
}

function begin(message: IncomingMessage, socket: TLSSocket, state: ConnectionState): Request {
  state.requests += 1;
  const { method = "", url = "", headers } = message;
  const request = new Request(
    method,
    url,
    headers as HttpRequest["headers"],
    state.identity,
    socket.remoteAddress,
  );
  request.rawHeaders = message.rawHeaders;
  return request;
}

/** HTTP/1.1 that cannot be parsed, or that did not come in time. */
function refuseMalformed(socket: TLSSocket): void {
  if (socket.writable)
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  else socket.destroy();
}

/** Of a client that asked for another protocol. */
interface Upgrade {
  /** Takes the connection off the response. */
  readonly take: () => TLSSocket | undefined;
  /** What an answer of ours to a WebSocket client holds; one of a member has its own. */
  readonly handshake: Readonly<Record<string, string>>;
}

/** RFC 6455, 4.2.2: shows the client that its key was read by a server that speaks WebSocket. */
function webSocketAccept(key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  const hash = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  return { "sec-websocket-accept": hash.digest("base64") };
}

class Http1Reply implements Reply {
  readonly #response: ServerResponse;
  readonly #isHead: boolean;
  readonly #upgrade: Upgrade | undefined;

  constructor(response: ServerResponse, isHead: boolean, upgrade?: Upgrade) {
    this.#response = response;
    this.#isHead = isHead;
    this.#upgrade = upgrade;
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

  giveAway(status: number, headers: HttpResponse["headers"]): TakenConnection | undefined {
    const { handshake = {}, take } = this.#upgrade ?? {};
    const isOurs = headers["upgrade"] === "websocket";
    const head = answerHead(status, { ...(isOurs ? handshake : {}), ...headers });
    const socket = take?.();
    socket?.write(head, "latin1");
    return socket;
  }

  refuseMore(): void {
    const { socket } = this.#response;
    this.#response.setHeader("connection", "close");
    this.#response.once("finish", () => socket?.destroySoon());
  }
}
