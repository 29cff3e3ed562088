/**
 * One HTTP request and what became of it, in the words of the Client port: an answer, or an error that shows whether the
 * request can have had an effect.
 *
 * 1. `sent` turns true when the connection is up (TLS included) and the request may have left. What fails before is
 *    NotSent. What fails after is NotSent for a read, OutcomeUnknown for a write.
 * 2. The answer is bounded in size and in time; a large one waits for its place and is read no faster than the server may
 *    send (intake.ts).
 * 3. A read whose kept-alive connection turns out dead is sent once more on a fresh one; a write never is.
 */
import { setMaxListeners } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import { urlToHttpOptions } from "node:url";
import { NotSent, OutcomeUnknown } from "../client.ts";
import type { Term } from "../term.ts";
import { SLICE_BYTES, tooLarge } from "./response-limits.ts";
import { Valve, type ValvePorts } from "./valve.ts";

/** Where a server is, in the form in which Node wants it with every request. */
export interface HttpServer {
  readonly isSecure: boolean;
  /** With the port, for people. */
  readonly host: string;
  readonly options: Pick<http.RequestOptions, "protocol" | "hostname" | "port" | "auth">;
}

export function httpServer(url: URL): HttpServer {
  const { protocol, hostname, port, auth } = urlToHttpOptions(url);
  const options = { protocol, hostname, port, auth };
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== "");
  return {
    isSecure: url.protocol === "https:",
    host: url.host,
    options: Object.fromEntries(given),
  };
}

export interface HttpCall extends ValvePorts {
  readonly method: string;
  readonly server: HttpServer;
  /** Encoded, with the query. */
  readonly path: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body?: string;
  readonly agent: http.Agent;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Asked when there is a connection for it; not sent once it is over. */
  readonly term?: Term;
}

export interface HttpAnswer {
  readonly code: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body is not needed any more. */
  release(): void;
}

/** Whether repeating the request is always safe. */
function isRead(call: HttpCall): boolean {
  return call.method === "GET";
}

/** Sends the request and reads the whole answer. Rejects with NotSent or OutcomeUnknown only. */
export async function exchange(call: HttpCall): Promise<HttpAnswer> {
  const first = await attempt(call);
  if (first instanceof StaleConnection && isRead(call)) {
    const second = await attempt(call);
    if (!(second instanceof Error)) return second;
    throw second.error;
  }
  if (first instanceof StaleConnection) throw first.error;
  return first;
}

/** A kept-alive connection that the server had closed already. */
class StaleConnection extends Error {
  readonly error: Error;

  constructor(error: Error) {
    super(error.message);
    this.error = error;
  }
}

function attempt(call: HttpCall): Promise<HttpAnswer | StaleConnection> {
  return new Promise((resolve, reject) => {
    let finished = false;
    const opened = open(call, {
      response: (response) => collect(response),
      failed: (error, sent) => {
        const mapped = inWords(call, error, sent);
        if (opened.reused() && isReset(error)) finish(() => resolve(new StaleConnection(mapped)));
        else finish(() => reject(mapped));
      },
    });
    const timer = setTimeout(() => {
      opened.fail(new Error(`no answer within ${call.timeoutMs} ms`));
    }, call.timeoutMs);
    const onAbort = (): void => opened.fail(new Error("the call was given up"));
    const signals = [call.signal, call.term?.signal].filter((one) => one !== undefined);
    for (const signal of signals) {
      // A controller's signal is listened to by all its calls under way; Node takes more than ten for a leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort);
    }
    if (signals.some((signal) => signal.aborted)) onAbort();

    function finish(settle: () => void): void {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", onAbort);
      settle();
    }

    function collect(response: http.IncomingMessage): void {
      const { statusCode = 0, headers } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      const valve = new Valve(call, response);
      let isAnswered = false;
      const answer = (): void =>
        finish(() => {
          isAnswered = true;
          resolve({
            code: statusCode,
            headers,
            body: Buffer.concat(chunks, size),
            release: () => valve.close(),
          });
        });
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (statusCode >= 300 && size > MAX_REFUSAL_BYTES) {
          // Nothing that long is a Status, and nothing else of a refusal is read.
          answer();
          response.destroy();
        } else if (size > call.maxBytes) opened.fail(tooLarge(call.maxBytes));
        else {
          valve.passed(chunk.length, size > SLICE_BYTES);
          if (size > SLICE_BYTES) valve.awaitPlace();
        }
      });
      response.on("end", () => {
        if (response.complete) answer();
        else opened.fail(new Error("the answer ended too soon"));
      });
      response.on("error", (error) => opened.fail(error));
      // Also called after every answer that came whole, when an error with its stack would be of no use.
      response.on("close", () => {
        if (!isAnswered) valve.close();
        if (!finished) opened.fail(new Error("the connection was lost"));
      });
    }
  });
}

/** The rest of a longer refusal is not read. */
export const MAX_REFUSAL_BYTES = 256 * 1024;

export interface Opened {
  /** Ends it with an error, unless it has ended already. */
  fail(error: Error): void;
  /** Whether the request went out on a kept-alive connection. */
  reused(): boolean;
}

export interface OpenHandlers {
  response(response: http.IncomingMessage): void;
  /** Called at most once; `sent`: whether the request may have left. */
  failed(error: Error, sent: boolean): void;
}

/** Sends a request and hands its answer on as it comes. */
export function open(call: HttpCall, handlers: OpenHandlers): Opened {
  let sent = false;
  let failed = false;
  const { isSecure } = call.server;
  const request = begin(call);
  if (request instanceof Error) {
    // Never inside this call, whose answer the handlers use.
    queueMicrotask(() => handlers.failed(request, false));
    return { fail: () => {}, reused: () => false };
  }
  const fail = (error: Error): void => {
    if (failed) return;
    failed = true;
    request.destroy();
    handlers.failed(error, sent && !isHandshakeAlert(error));
  };
  // Node hands over the connection before it writes to it.
  const leave = (): void => {
    if (call.term?.isHeld() === false) fail(new Error("this process does not lead any more"));
    else sent = true;
  };
  request.on("socket", (socket) => {
    if (isUp(socket)) leave();
    else socket.once(isSecure ? "secureConnect" : "connect", leave);
  });
  request.on("response", (response) => {
    if (!failed) handlers.response(response);
  });
  request.on("error", fail);
  request.end(call.body);
  return { fail, reused: () => request.reusedSocket };
}

/** Node throws here, and not later, when a certificate or key cannot be used. */
function begin(call: HttpCall): http.ClientRequest | Error {
  const { server, path, method, headers, agent } = call;
  try {
    const options = { ...server.options, path, method, headers, agent };
    return (server.isSecure ? https : http).request(options);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A kept-alive connection is up when it is handed over; `secureConnecting` is Node's own note, not in its types. */
function isUp(socket: Socket & { readonly secureConnecting?: boolean }): boolean {
  return !socket.connecting && socket.secureConnecting !== true;
}

/** With TLS 1.3 a server refuses a client's certificate after the client thinks the handshake is over. */
function isHandshakeAlert(error: Error): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return code.startsWith("ERR_SSL_") && code.includes("ALERT");
}

function isReset(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE";
}

function inWords(call: HttpCall, error: Error, sent: boolean): Error {
  const [pathname = ""] = call.path.split("?", 1);
  const text = `${call.method} ${call.server.host}${pathname}: ${error.message}`;
  return sent && !isRead(call)
    ? new OutcomeUnknown(text, { cause: error })
    : new NotSent(text, { cause: error });
}
