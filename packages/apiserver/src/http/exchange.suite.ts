/** Sending requests to a `Handle` in tests: whole answers as text, streams as frames. */
import type { User } from "../authentication/user.ts";
import type { Handle, HttpRequest, HttpResponse, HttpStream, HttpStreamSink } from "./exchange.ts";

const ADMIN: User = { name: "admin", groups: ["system:masters"] };

export interface Sent {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly text: string;
  /** The text as JSON. */
  readonly json: Record<string, unknown>;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Null: no user. */
  readonly user?: User | null;
  readonly over?: Partial<HttpRequest>;
}

export function makeRequest(method: string, url: string, options: SendOptions = {}): HttpRequest {
  const { body, user = ADMIN } = options;
  const bytes =
    body === undefined
      ? new Uint8Array(0)
      : body instanceof Uint8Array
        ? body
        : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return {
    method,
    url,
    headers: options.headers ?? {},
    body: bytes,
    ...(user === null ? {} : { certificateUser: user }),
    signal: new AbortController().signal,
    ...options.over,
  };
}

/** Sends one request; a streamed answer is read to its end. */
export async function send(
  handle: Handle,
  method: string,
  url: string,
  options: SendOptions = {},
): Promise<Sent> {
  const { status, headers, body } = await handle(makeRequest(method, url, options));
  const text = "start" in body ? textOfStream(body) : textOf(body);
  return {
    status,
    headers,
    text,
    get json() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

/** A client of a stream that takes everything, or nothing while `isFull`. */
export class StreamReader implements HttpStreamSink {
  readonly chunks: Uint8Array[] = [];
  isFull = false;
  ended = 0;
  aborted = 0;
  #drained: () => void = () => undefined;

  write(chunk: Uint8Array): boolean {
    this.chunks.push(chunk);
    return !this.isFull;
  }

  onDrain(callback: () => void): void {
    this.#drained = callback;
  }

  end(): void {
    this.ended += 1;
  }

  abort(): void {
    this.aborted += 1;
  }

  drain(): void {
    this.isFull = false;
    this.#drained();
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  get frames(): readonly { readonly type: string; readonly object: Record<string, unknown> }[] {
    return this.text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { type: string; object: Record<string, unknown> });
  }
}

/** Opens a watch and starts reading it. */
export async function openStream(
  handle: Handle,
  url: string,
  options: SendOptions = {},
): Promise<{
  readonly reader: StreamReader;
  readonly stream: HttpStream;
  readonly response: HttpResponse;
}> {
  const response = await handle(makeRequest("GET", url, options));
  if (!("start" in response.body)) throw new Error(`not a stream: ${textOf(response.body)}`);
  const reader = new StreamReader();
  response.body.start(reader);
  return { reader, stream: response.body, response };
}

function textOf(body: Exclude<HttpResponse["body"], HttpStream>): string {
  if ("take" in body) throw new Error("the connection is taken over");
  return Buffer.from(body instanceof Uint8Array ? body : Buffer.concat(body)).toString();
}

function textOfStream(stream: HttpStream): string {
  const reader = new StreamReader();
  stream.start(reader);
  return reader.text;
}
