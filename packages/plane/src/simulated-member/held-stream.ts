/**
 * A stream that can be held: while it is, nothing of it reaches the client, and nothing is lost.
 *
 * What is written meanwhile waits here, and the writer hears that the buffer is full. The server bounds what waits for
 * a client that takes nothing, so this does not grow without end.
 */
import type { HttpResponse } from "@lifeboat/apiserver";

type HttpStream = Extract<HttpResponse["body"], { start: unknown }>;
type Sink = Parameters<HttpStream["start"]>[0];

export class HeldStream implements HttpStream {
  readonly #inner: HttpStream;
  readonly #onOver: (stream: HeldStream) => void;
  readonly #drained: (() => void)[] = [];
  #out: Sink | undefined;
  #held = false;
  #waiting: Uint8Array[] = [];
  #ends = false;

  /** `onOver` is called once the stream has ended or was stopped. */
  constructor(inner: HttpStream, onOver: (stream: HeldStream) => void) {
    this.#inner = inner;
    this.#onOver = onOver;
  }

  start(out: Sink): void {
    this.#out = out;
    this.#inner.start({
      write: (chunk) => this.#write(chunk),
      onDrain: (callback) => {
        this.#drained.push(callback);
        out.onDrain(callback);
      },
      end: () => this.#end(),
      abort: () => {
        this.#waiting = [];
        this.#onOver(this);
        out.abort();
      },
    });
  }

  stop(): void {
    this.#waiting = [];
    this.#onOver(this);
    this.#inner.stop();
  }

  setHeld(held: boolean): void {
    if (this.#held === held) return;
    this.#held = held;
    if (!held) this.#release();
  }

  #write(chunk: Uint8Array): boolean {
    if (!this.#held) return this.#out?.write(chunk) ?? false;
    this.#waiting.push(chunk);
    return false;
  }

  #end(): void {
    if (this.#held) {
      this.#ends = true;
      return;
    }
    this.#onOver(this);
    this.#out?.end();
  }

  #release(): void {
    const out = this.#out;
    if (out === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    let hasRoom = true;
    for (const chunk of waiting) hasRoom = out.write(chunk);
    if (this.#ends) {
      this.#end();
      return;
    }
    // A transport that is full reports itself when it has room again.
    if (hasRoom) for (const callback of this.#drained) callback();
  }
}
