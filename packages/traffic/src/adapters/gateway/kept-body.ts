/**
 * The body of a request. A small one is kept, so that the request can be sent to another backend. A large one is passed on as it
 * arrives, once a backend is connected.
 */
import type { ClientRequest, IncomingMessage } from "node:http";

const KEPT_BYTES = 64 * 1024;

export interface KeptBody {
  /** Whether it is there as a whole. */
  readonly isKept: boolean;
  /** Whether some of it was passed on and is not there any more. */
  isSpent(): boolean;
  isTooLarge(): boolean;
  sendTo(outgoing: ClientRequest): void;
}

const NO_BODY: KeptBody = {
  isKept: true,
  isSpent: () => false,
  isTooLarge: () => false,
  sendTo: (outgoing) => void outgoing.end(),
};

/** Reads as much as is kept. */
export async function keepBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<KeptBody | "too large" | "broken off"> {
  const { headers } = request;
  const length = Number(headers["content-length"] ?? 0);
  if (length > maxBytes) return "too large";
  if (headers["transfer-encoding"] === undefined && length === 0) return NO_BODY;
  const chunks: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  try {
    isWhole = await readUpTo(request, KEPT_BYTES, (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
    });
  } catch {
    // The client went away: there is no one to answer.
    return "broken off";
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
      answer();
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
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
    sendTo: (outgoing) => {
      isSpent = true;
      request.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) outgoing.destroy(new Error("too large"));
      });
      request.once("close", () => {
        if (!request.complete) outgoing.destroy();
      });
      outgoing.write(first);
      request.pipe(outgoing);
    },
  };
}
