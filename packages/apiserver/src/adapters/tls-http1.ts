/**
 * HTTP/1.1 on TLS connections that the server hands over.
 *
 * 1. Bytes that are not HTTP harm only their own connection.
 * 2. Headers, bodies and idle connections have limits in time.
 * 3. Only connections whose handshake is over come here: what is answered to malformed bytes is never written into a
 *    handshake.
 */
import { anew } from "@lifeboat/base";
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { TLSSocket } from "node:tls";
import type { HttpRequest, HttpResponse } from "../http/exchange.ts";
import { type Answers, lengthOf, type Reply, writable } from "./tls-answers.ts";
import type { Bodies } from "./tls-bodies.ts";
import { Request } from "./tls-request.ts";
import { type ClientIdentity, identityOf } from "./tls-server-identity.ts";
import type { TlsServerLimits } from "./tls-server-limits.ts";

export class Http1 {
  readonly #answers: Answers;
  readonly #bodies: Bodies;
  readonly #server: HttpServer;
  readonly #connections = new Map<TLSSocket, ConnectionState>();
  #isClosing = false;

  constructor(answers: Answers, bodies: Bodies, limits: TlsServerLimits) {
    this.#answers = answers;
    this.#bodies = bodies;
    this.#server = createServer({
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, limits.headersTimeoutMs),
    });
    this.#server.on("request", (message, response) => this.#onRequest(message, response));
    this.#server.on("clientError", (_error, socket) => refuseMalformed(socket as TLSSocket));
  }

  /** From now on limits in time are looked after. */
  open(): void {
    // The server listens on no port of its own: connections are handed to it. It begins to look after time at this event.
    this.#server.emit("listening");
  }

  accept(socket: TLSSocket): void {
    this.#connections.set(socket, { requests: 0, identity: undefined });
    socket.once("close", () => this.#connections.delete(socket));
    this.#server.emit("connection", socket);
  }

  /** Ends idle connections at once, others after their last answer. */
  close(): void {
    this.#isClosing = true;
    this.#server.close();
    for (const [socket, state] of this.#connections) if (state.requests === 0) socket.end();
  }

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    const socket = message.socket as TLSSocket;
    const state = this.#connections.get(socket);
    if (state === undefined) {
      socket.destroy();
      return;
    }
    state.identity ??= identityOf(socket);
    state.requests += 1;
    const { method = "", url = "", headers } = message;
    const request = new Request(
      method,
      url,
      headers as HttpRequest["headers"],
      state.identity,
      socket.remoteAddress,
    );
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
    else
      this.#bodies.read(message, request, {
        announced,
        peer: socket.remoteAddress,
        reply,
        answer,
        giveUp: () => socket.destroy(),
      });
  }
}

interface ConnectionState {
  requests: number;
  identity: ClientIdentity | undefined;
}

/** HTTP/1.1 that cannot be parsed, or that did not come in time. */
function refuseMalformed(socket: TLSSocket): void {
  if (socket.writable)
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  else socket.destroy();
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
    this.#response.setHeader("connection", "close");
    this.#response.once("finish", () => socket?.destroySoon());
  }
}
