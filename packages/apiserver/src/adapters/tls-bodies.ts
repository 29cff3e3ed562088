/**
 * Reads request bodies. The client is known before the first byte is kept: its headers and its certificate show whether it
 * is authenticated. `body-budget.ts` decides how much may be held for which user, and which bodies are lost when room is short.
 *
 * 1. Clients that are not authenticated have a limit and a budget of their own: they can take no room from users.
 * 2. A body above its limit is not read further; its request is answered without it.
 * 3. Reads have no body: what is sent with one is thrown away, and nothing waits for it.
 * 4. A body that does not arrive in time is given up; one that is lost for want of room is answered with 429.
 */
import { failure } from "@lifeboat/api";
import type { Metrics } from "@lifeboat/kit";
import type { Readable } from "node:stream";
import type { Identify } from "../http/exchange.ts";
import { BodyBlocks } from "./body-blocks.ts";
import { BodyBudget } from "./body-budget.ts";
import type { Reply } from "./tls-answers.ts";
import { type BodyMetrics, createBodyMetrics } from "./tls-metrics.ts";
import type { Request } from "./tls-request.ts";
import type { TlsServerLimits } from "./tls-server-limits.ts";

export interface BodyReading {
  /** The header Content-Length. */
  readonly announced: string | undefined;
  /** The address of the client. */
  readonly peer: string | undefined;
  readonly reply: Reply;
  /** Called once the request is complete, or is to be answered without its body. */
  answer(): void;
  /** Ends the connection or the stream of a client that did not send its body in time. */
  giveUp(): void;
}

export class Bodies {
  readonly #identify: Identify;
  readonly #requestTimeoutMs: number;
  readonly #metrics: BodyMetrics;
  readonly #users: Pool;
  readonly #strangers: Pool;

  constructor(identify: Identify, limits: TlsServerLimits, metrics: Metrics) {
    this.#identify = identify;
    this.#requestTimeoutMs = limits.requestTimeoutMs;
    this.#metrics = createBodyMetrics(metrics);
    this.#users = {
      label: { authenticated: "true" },
      maxBodyBytes: limits.maxBodyBytes,
      budget: budgetOf(limits.maxPendingBodyBytes),
    };
    this.#strangers = {
      label: { authenticated: "false" },
      maxBodyBytes: Math.min(limits.maxUnauthenticatedBodyBytes, limits.maxBodyBytes),
      budget: budgetOf(limits.maxUnauthenticatedPendingBytes),
    };
  }

  read(source: Readable, request: Request, reading: BodyReading): void {
    if (request.method === "GET" || request.method === "HEAD") {
      source.resume();
      reading.answer();
      return;
    }
    const user = this.#identify(request);
    if (!(user instanceof Promise)) {
      this.#receive(user, source, request, reading);
      return;
    }
    // Nothing is read meanwhile: the client waits at the bounds of its connection.
    void user
      .catch(() => {
        // What is wrong in the server does not make a client known; its request is answered by `handle`.
        return undefined;
      })
      .then((name) => {
        if (!request.isAbandoned) this.#receive(name, source, request, reading);
      });
  }

  #receive(
    user: string | undefined,
    source: Readable,
    request: Request,
    reading: BodyReading,
  ): void {
    const pool = user === undefined ? this.#strangers : this.#users;
    const { budget, maxBodyBytes } = pool;
    const announced = reading.announced === undefined ? undefined : Number(reading.announced);
    if (announced !== undefined && announced > maxBodyBytes) {
      request.bodyTooLarge = true;
      source.resume();
      reading.answer();
      return;
    }
    const blocks = new BodyBlocks(announced);
    let size = 0;
    let isOver = false;
    const over = (): void => {
      isOver = true;
      clearTimeout(timer);
      blocks.clear();
    };
    const release = (): void => {
      budget.release(share);
      this.#report(pool);
    };
    const share = budget.open(user ?? reading.peer ?? "", () => {
      over();
      this.#metrics.dropped.add(1, pool.label);
      request.isAnswered = true;
      refuseForWantOfRoom(reading.reply);
    });
    const timer = setTimeout(() => {
      over();
      release();
      reading.giveUp();
    }, this.#requestTimeoutMs);
    request.onAbandon(() => {
      over();
      release();
    });
    source.on("data", (chunk: Buffer) => {
      if (isOver) return;
      size += chunk.length;
      if (size > maxBodyBytes) {
        over();
        release();
        request.bodyTooLarge = true;
        reading.answer();
        return;
      }
      for (const lost of budget.grow(share, blocks.costOf(chunk.length))) lost.body();
      this.#report(pool);
      if (!isOver) blocks.add(chunk);
    });
    source.once("end", () => {
      if (isOver) return;
      budget.complete(share);
      request.body = blocks.take();
      over();
      reading.answer();
    });
  }

  #report({ budget, label }: Pool): void {
    this.#metrics.pending.set(budget.heldBytes, label);
  }
}

interface Pool {
  readonly label: { readonly authenticated: "true" | "false" };
  readonly maxBodyBytes: number;
  /** What it keeps for a body is how that body is lost. */
  readonly budget: BodyBudget<() => void>;
}

function budgetOf(totalBytes: number): BodyBudget<() => void> {
  return new BodyBudget({ totalBytes, bytesPerHolder: totalBytes / 2 });
}

const NO_ROOM = failure(
  429,
  "TooManyRequests",
  "Too many request bodies are being received, please try again later.",
  { retryAfterSeconds: 1 },
);
const NO_ROOM_BODY = Buffer.from(JSON.stringify(NO_ROOM));

function refuseForWantOfRoom(reply: Reply): void {
  reply.refuseMore();
  reply.whole(429, { "content-type": "application/json", "retry-after": "1" }, NO_ROOM_BODY);
}
