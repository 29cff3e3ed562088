/**
 * Connections that left HTTP: bytes are copied both ways until either end is gone.
 *
 * 1. Nothing throws outside: an error of a stream ends the pair.
 * 2. What one side sent before it ended reaches the other, as far as that one still reads; after a time it is cut.
 */
import { Duplex, Readable } from "node:stream";

/** How long what is left may take after one side is gone. */
const LINGER_MS = 10_000;

/** Copies bytes between two connections; `over` is called once, when both are gone. */
export function copyBytes(one: Duplex, other: Duplex, over: () => void): void {
  let open = 2;
  const watch = (from: Duplex, to: Duplex): void => {
    from.on("error", () => from.destroy());
    from.once("close", () => {
      open -= 1;
      if (open === 0) over();
      else endSoon(to);
    });
    if (from.destroyed) from.emit("close");
  };
  watch(one, other);
  watch(other, one);
  one.pipe(other);
  other.pipe(one);
}

function endSoon(stream: Duplex): void {
  if (stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), LINGER_MS);
  stream.once("close", () => clearTimeout(timer));
  stream.end(() => stream.destroy());
}

/** A connection that was handed over by a transport. */
export function asDuplex(connection: unknown): Duplex {
  if (connection instanceof Duplex) return connection;
  throw new TypeError("a connection that is taken over is a Duplex");
}

export function asReadable(body: AsyncIterable<Uint8Array>): Readable {
  return body instanceof Readable ? body : Readable.from(body, { objectMode: false });
}

/**
 * A connection as a stream in JavaScript. Node's HTTP/2 sessions write beneath the queue of a socket, and end the process when
 * anything else writes there or the peer ends its side (docs/decisions/0010-http2-over-tls.md); on this one they cannot.
 */
export class Carrier extends Duplex {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once("end", () => this.push(null));
    socket.on("error", () => this.destroy());
    socket.once("close", () => this.destroy());
    if (socket.destroyed) this.destroy();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    if (this.#socket.destroyed || !this.#socket.writable) done(new Error("the connection is gone"));
    else this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
