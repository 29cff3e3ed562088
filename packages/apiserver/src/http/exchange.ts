/** One HTTP exchange without a transport: what `handle` takes and gives. */
import type { User } from "../authentication/user.ts";

export interface HttpRequest {
  readonly method: string;
  /** As sent: not decoded, with the query. */
  readonly url: string;
  /** Lower-case names; repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values in turn, as they were sent, where the transport has them: what was joined cannot be taken apart. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** The whole body. The transport ends reading at the size limit and sets `bodyTooLarge`. */
  readonly body: Uint8Array;
  readonly bodyTooLarge?: boolean;
  /** From the client certificate, when there was a valid one. */
  readonly certificateUser?: User | undefined;
  /** SHA-256 of the certificate that signed the client's, lower case and hexadecimal; "" or absent: not known. */
  readonly certificateIssuer?: string;
  /** There was a client certificate, and it is not valid here: expired, of another authority, not for clients. */
  readonly certificateRefused?: boolean;
  /** Why it does not count any more, where that is known: a cause of the refusal. */
  readonly certificateRefusal?: string | undefined;
  /** Where the client is, as far as the transport knows. */
  readonly remoteAddress?: string | undefined;
  /** The body as it arrives, in place of `body`, where the transport leaves the reading to the handler. */
  readonly incoming?: AsyncIterable<Uint8Array> | undefined;
  /** The client asks to speak another protocol on this connection, and the transport can hand it over (`TakeOver`). */
  readonly canBeTakenOver?: boolean;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** What proves the user of a request: everything but its body. */
export type Credentials = Pick<
  HttpRequest,
  "headers" | "certificateUser" | "certificateRefused" | "certificateRefusal"
>;

/** The name of the authenticated user; undefined for the anonymous user and for credentials that are wrong. */
export type Identify = (
  credentials: Credentials,
) => string | undefined | Promise<string | undefined>;

/** A body that is sent piece by piece: watches, answers of members. The transport calls `start` once the head is written. */
export interface HttpStream {
  start(out: HttpStreamSink): void;
  /** The client went away or the server shuts down. */
  stop(): void;
}

export interface HttpStreamSink {
  /** False means: the transport's buffer is full; `onDrain` is called when it is not. Nothing is dropped. */
  write(chunk: Uint8Array): boolean;
  /** The callback is called every time a full buffer has become empty again. */
  onDrain(callback: () => void): void;
  end(): void;
  /** Ends without a proper end, so that the client does not take what it got for the whole. */
  abort(): void;
}

/** A connection that left HTTP. Behind a transport it is a `Duplex` of Node. */
export interface TakenConnection extends AsyncIterable<Uint8Array> {
  /** False means: its buffer is full; `drain` is emitted when it is not. Nothing is dropped. */
  write(chunk: Uint8Array): boolean;
  /** Ends it once what was written has left. */
  end(): unknown;
  destroy(): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
}

/** In the place of a body, after 101: the connection is the handler's from then on. */
export interface TakeOver {
  /** Called once the head is written. */
  take(connection: TakenConnection): void;
  /** Called in its place when the client is gone or the server shuts down. */
  drop(): void;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | readonly Uint8Array[] | HttpStream | TakeOver;
}

/** How a handle refuses to answer at all: the transport then ends the connection or the stream, without a word. */
export class Dropped extends Error {
  override readonly name = "Dropped";
}

/** Whether a request's body shall not be read before it is handled, by its request target. */
export type Streams = (url: string) => boolean;

export type Handle = (request: HttpRequest) => Promise<HttpResponse>;
