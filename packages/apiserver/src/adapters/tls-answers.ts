/**
 * From a request that is complete to its answer on the wire, the same for both protocols.
 *
 * 1. A response stream is stopped exactly once, when it has ended, its client is gone, or the server closes.
 * 2. A client that takes nothing of what is sent to it is cut off after a time.
 */
import type { Log } from "@lifeboat/kit";
import {
  Dropped,
  type Handle,
  type HttpResponse,
  type HttpStream,
  type TakenConnection,
  type TakeOver,
} from "../http/exchange.ts";
import { GatheredWrites } from "./gathered-writes.ts";
import type { Request } from "./tls-request.ts";

/** The way back, in either protocol. Every call is harmless when the client is gone. */
export interface Reply {
  whole(status: number, headers: HttpResponse["headers"], body: Uint8Array): void;
  begin(status: number, headers: HttpResponse["headers"]): void;
  write(chunk: Uint8Array): boolean;
  onDrain(callback: () => void): void;
  end(): void;
  /** Ends the connection or the stream without a proper end. */
  abort(): void;
  /** Before an answer: asks the client to stop sending once it is sent. */
  refuseMore(): void;
  /** Sends the head, and gives the connection away; undefined where the client did not ask for that, or is gone. */
  giveAway(status: number, headers: HttpResponse["headers"]): TakenConnection | undefined;
}

export class Answers {
  readonly #handle: Handle;
  readonly #log: Log;
  readonly #stallTimeoutMs: number;
  readonly #streaming = new Set<() => void>();
  #isClosing = false;

  constructor(handle: Handle, log: Log, stallTimeoutMs: number) {
    this.#handle = handle;
    this.#log = log;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  async answer(request: Request, reply: Reply): Promise<void> {
    let response: HttpResponse;
    try {
      response = await this.#handle(request);
    } catch (error) {
      // Beside those it drops, `handle` answers every request; only a bug gets here.
      if (!(error instanceof Dropped)) this.#log.error("handling a request", { error });
      reply.abort();
      return;
    }
    try {
      this.#send(response, reply, request);
    } catch (error) {
      this.#log.error("sending an answer", { error });
      if (isStream(response.body)) response.body.stop();
      else if (isTakeOver(response.body)) response.body.drop();
      reply.abort();
    }
  }

  /** Ends response streams in order; from now on none begins. */
  close(): void {
    this.#isClosing = true;
    // A set may lose entries while it is walked; each `shutDown` takes itself out.
    for (const shutDown of this.#streaming) shutDown();
  }

  #send(response: HttpResponse, reply: Reply, request: Request): void {
    const { status, headers, body } = response;
    if (isStream(body)) {
      this.#stream(status, headers, body, reply, request);
      return;
    }
    if (isTakeOver(body)) {
      const isLate = request.isAbandoned || this.#isClosing;
      const connection = isLate ? undefined : reply.giveAway(status, headers);
      request.isAnswered = connection !== undefined;
      if (connection !== undefined) body.take(connection);
      else {
        body.drop();
        reply.abort();
      }
      return;
    }
    const bytes = body instanceof Uint8Array ? body : Buffer.concat(body);
    request.isAnswered = true;
    // What is left of a body above the limit is not read: without this the client would go on sending it.
    if (request.bodyTooLarge || request.hasUnreadBody?.() === true) reply.refuseMore();
    reply.whole(status, headers, bytes);
  }

  #stream(
    status: number,
    headers: HttpResponse["headers"],
    body: HttpStream,
    reply: Reply,
    request: Request,
  ): void {
    if (request.isAbandoned || this.#isClosing) {
      body.stop();
      reply.abort();
      return;
    }
    const watchdog = new Watchdog(this.#stallTimeoutMs, () => reply.abort());
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
      abort: () => {
        if (isOver) return;
        // What came before the loss is the client's.
        writes.flush();
        over();
        reply.abort();
      },
    });
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

function isStream(body: HttpResponse["body"]): body is HttpStream {
  return "start" in body;
}

function isTakeOver(body: HttpResponse["body"]): body is TakeOver {
  return "take" in body;
}

/** Node's types want arrays they could change. */
export function writable(headers: HttpResponse["headers"]): Record<string, string | string[]> {
  return headers as Record<string, string | string[]>;
}

export function lengthOf(status: number, body: Uint8Array): Record<string, string> {
  return status === 304 || status === 204 ? {} : { "content-length": String(body.length) };
}
