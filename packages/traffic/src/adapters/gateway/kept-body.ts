/**
 * The body of a request. A small one is kept, so that the request can be sent to another backend. A large one is passed on as it
 * arrives, once a backend is connected. A client that stops in the middle of a body is given up after `silentMs`: nothing else bounds
 * how long a request may take to arrive.
 */
import type { Clock } from "@lifeboat/base";
import type { ClientRequest, IncomingMessage } from "node:http";
import { Silence } from "./silence.ts";

const KEPT_BYTES = 64 * 1024;

export interface KeptBody {
  /** Whether it is there as a whole. */
  readonly isKept: boolean;
  /** Whether some of it was passed on and is not there any more. */
  isSpent(): boolean;
  isTooLarge(): boolean;
  /** `onMoved`: some more of it was passed on. */
  sendTo(outgoing: ClientRequest, onMoved: () => void): void;
}

const NO_BODY: KeptBody = {
  isKept: true,
  isSpent: () => false,
  isTooLarge: () => false,
  sendTo: (outgoing) => void outgoing.end(),
};

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly responseTimeoutMs: number;
}

/** Reads as much as is kept. */
export async function keepBody(
  request: IncomingMessage,
  clock: Clock,
  { maxBodyBytes: maxBytes, responseTimeoutMs: silentMs }: BodyLimits,
): Promise<KeptBody | "too large" | "broken off" | "silent"> {
  const { headers } = request;
  const length = Number(headers["content-length"] ?? 0);
  if (length > maxBytes) return "too large";
  if (headers["transfer-encoding"] === undefined && length === 0) return NO_BODY;
  const chunks: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  const stopped = new AbortController();
  const silence = new Silence(clock, silentMs, () => stopped.abort());
  const take = (chunk: Buffer): void => {
    silence.moved();
    chunks.push(chunk);
    size += chunk.length;
  };
  try {
    isWhole = await readUpTo(request, KEPT_BYTES, take, stopped.signal);
  } catch {
    // The client went away: there is no one to answer. Or it is silent.
    return stopped.signal.aborted ? "silent" : "broken off";
  } finally {
    silence.end();
  }
  if (isWhole) {
    const whole = Buffer.concat(chunks);
    return { ...NO_BODY, sendTo: (outgoing) => void outgoing.end(whole) };
  }
  return streamed(request, Buffer.concat(chunks), maxBytes, size);
}

/** Resolves with true at the end of the body, with false when there is more than `limit`. */
function readUpTo(
  request: IncomingMessage,
  limit: number,
  take: (chunk: Buffer) => void,
  stop: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const onData = (chunk: Buffer): void => {
      take(chunk);
      size += chunk.length;
      if (size <= limit) return;
      request.pause();
      settle(() => resolve(false));
    };
    const onEnd = (): void => settle(() => resolve(true));
    const onGone = (): void => settle(() => reject(new Error("the client went away")));
    const settle = (answer: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      stop.removeEventListener("abort", onGone);
      answer();
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    stop.addEventListener("abort", onGone);
  });
}

function streamed(
  request: IncomingMessage,
  first: Buffer,
  maxBytes: number,
  read: number,
): KeptBody {
  let isSpent = false;
  let size = read;
  return {
    isKept: false,
    isSpent: () => isSpent,
    isTooLarge: () => size > maxBytes,
    sendTo: (outgoing, onMoved) => {
      isSpent = true;
      request.on("data", (chunk: Buffer) => {
        onMoved();
        size += chunk.length;
        if (size > maxBytes) outgoing.destroy(new Error("too large"));
      });
      request.once("close", () => {
        if (!request.complete) outgoing.destroy();
      });
      outgoing.on("drain", onMoved);
      outgoing.write(first);
      request.pipe(outgoing);
    },
  };
}
