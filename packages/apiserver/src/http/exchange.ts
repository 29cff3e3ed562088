/** One HTTP exchange without a transport: what `handle` takes and gives. */
import type { User } from "../verbs/verbs.ts";

export interface HttpRequest {
  readonly method: string;
  /** As sent: not decoded, with the query. */
  readonly url: string;
  /** Lower-case names; repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The whole body. The transport ends reading at the size limit and sets `bodyTooLarge`. */
  readonly body: Uint8Array;
  readonly bodyTooLarge?: boolean;
  /** From the client certificate, when there was a valid one. */
  readonly certificateUser?: User | undefined;
  /** There was a client certificate, and it is not valid here: expired, of another authority, not for clients. */
  readonly certificateRefused?: boolean;
  /** Where the client is, as far as the transport can tell. */
  readonly remoteAddress?: string | undefined;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** What tells the user of a request: everything but its body. */
export type Credentials = Pick<HttpRequest, "headers" | "certificateUser" | "certificateRefused">;

/** The name of the authenticated user; undefined for the anonymous user and for credentials that are wrong. */
export type Identify = (credentials: Credentials) => string | undefined;

/** A body that is sent piece by piece: watches. The transport calls `start` once the head is written. */
export interface HttpStream {
  start(out: HttpStreamSink): void;
  /** The client went away or the server shuts down. */
  stop(): void;
}

export interface HttpStreamSink {
  /** False says: the transport's buffer is full; `onDrain` is called when it is not. Nothing is dropped. */
  write(chunk: Uint8Array): boolean;
  /** The callback is called every time a full buffer has become empty again. */
  onDrain(callback: () => void): void;
  end(): void;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | readonly Uint8Array[] | HttpStream;
}

/** How a handle refuses to answer at all: the transport then ends the connection or the stream, without a word. */
export class Dropped extends Error {
  override readonly name = "Dropped";
}

export type Handle = (request: HttpRequest) => Promise<HttpResponse>;
