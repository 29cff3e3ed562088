/**
 * The queue between a server's watch and the sink of an in-process client.
 *
 * 1. The sink is called from a microtask of its own, never from inside the server.
 * 2. It gets `end` exactly once, and nothing after it.
 * 3. Events that came before the watch had started are not counted; of later ones at most `limit` wait.
 */
import { deepFreeze, soon } from "@lifeboat/base";
import { type KubeObject, Refused, type Status, type WatchEvent } from "@lifeboat/api";
import type { WatchEnd, WatchSink } from "@lifeboat/kit";
import type { ServerWatchEvent, ServerWatchSink } from "../verbs/verbs.ts";

export class WatchQueue<T extends KubeObject> implements ServerWatchSink {
  readonly #sink: WatchSink<T>;
  readonly #limit: number;
  #events: WatchEvent<T>[] = [];
  #end: WatchEnd | undefined;
  #scheduled = false;
  #delivered = false;
  /** By the caller, which then gets nothing but the end. */
  #stopped = false;
  #initial = true;
  #refusal: Status | undefined;
  #stopServer: (() => void) | undefined;

  constructor(sink: WatchSink<T>, limit: number) {
    this.#sink = sink;
    this.#limit = limit;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The server's watch runs; `stop` ends it. */
  started(stop: () => void): void {
    this.#initial = false;
    this.#stopServer = stop;
    if (this.ended) stop();
  }

  /** The watch could not begin. */
  failed(error: unknown): void {
    if (error instanceof Refused) this.#finish({ kind: "refused", status: error.status });
    else
      this.#finish({
        kind: "lost",
        error: error instanceof Error ? error : new Error(String(error)),
      });
  }

  /** The caller wants no more: what waits is dropped. */
  stop(): void {
    if (this.ended) return;
    this.#stopped = true;
    this.#events = [];
    this.#finish({ kind: "closed" });
  }

  // From the server.

  event(event: ServerWatchEvent): boolean {
    if (this.ended) return false;
    if (event.type === "ERROR") {
      this.#refusal = event.status;
      return true;
    }
    if (!this.#initial && this.#events.length >= this.#limit) {
      this.#finish({ kind: "lost", error: new Error("the queue of the watch overflowed") });
      return false;
    }
    this.#events.push(
      event.type === "BOOKMARK"
        ? event
        : { type: event.type, object: deepFreeze(event.object) as unknown as T },
    );
    this.#schedule();
    return true;
  }

  end(): void {
    if (this.#refusal === undefined) this.#finish({ kind: "closed" });
    else this.#finish({ kind: "refused", status: this.#refusal });
  }

  #finish(end: WatchEnd): void {
    if (this.ended) return;
    this.#end = end;
    this.#stopServer?.();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    soon(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const events = this.#events;
    this.#events = [];
    for (let i = 0; i < events.length; i++) {
      // The sink may stop the watch while it takes an event.
      if (this.#stopped) break;
      this.#sink.event(events[i] as WatchEvent<T>);
    }
    if (this.#end === undefined || this.#delivered) return;
    this.#delivered = true;
    this.#sink.end(this.#end);
  }
}
