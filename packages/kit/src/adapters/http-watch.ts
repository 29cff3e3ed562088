/**
 * A watch over HTTP: one long answer, one JSON document per line.
 *
 * 1. The sink gets exactly one `end`, never inside the call that started or stopped the watch, and nothing after it.
 * 2. It is read no faster than its server may send: what is too fast waits in the network.
 * 3. A 401 before the first event is met by a fresh credential, once.
 */
import type * as http from "node:http";
import {
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type Status,
  type WatchEvent,
} from "@lifeboat/api";
import { excessIn, type Watch, type WatchEnd, type WatchSink } from "../client.ts";
import { decodeEvent } from "./http-codec.ts";
import { cleanStatus } from "./http-errors.ts";
import { type HttpCall, MAX_REFUSAL_BYTES, open, type Opened } from "./http-exchange.ts";
import { EVENT_BYTES } from "./intake.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { ResponseLimits } from "./response-limits.ts";
import { Valve, type ValvePorts } from "./valve.ts";

export interface HttpWatchParts extends ValvePorts {
  readonly limits: ResponseLimits;
  /** How long the server may take to begin its answer. */
  readonly answerTimeoutMs: number;
  prepare(): Promise<{ readonly call: HttpCall; readonly release: () => void }>;
  refresh(): Promise<boolean>;
  statusOf(code: number, headers: http.IncomingHttpHeaders, text: string): Status;
}

/** Starts a watch; all that happens goes to the sink. */
export function startWatch<T extends KubeObject>(sink: WatchSink<T>, parts: HttpWatchParts): Watch {
  const watch = new HttpWatch(sink, parts);
  watch.start(true);
  return watch;
}

class HttpWatch<T extends KubeObject> implements Watch {
  readonly #sink: WatchSink<T>;
  readonly #parts: HttpWatchParts;
  readonly #lines: LineSplitter;
  #opened: Opened | undefined;
  #release: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(sink: WatchSink<T>, parts: HttpWatchParts) {
    this.#sink = sink;
    this.#parts = parts;
    this.#lines = new LineSplitter(parts.limits.maxObjectBytes);
  }

  stop(): void {
    this.#end({ kind: "closed" });
  }

  start(mayRefresh: boolean): void {
    void this.#parts.prepare().then(
      ({ call, release }) => {
        if (this.#ended) {
          release();
          return;
        }
        this.#release = release;
        this.#opened = open(call, {
          response: (response) => this.#answered(response, mayRefresh),
          failed: (error) => this.#end({ kind: "lost", error }),
        });
        this.#timer = setTimeout(() => {
          this.#end({ kind: "lost", error: new Error("the server does not begin its answer") });
        }, this.#parts.answerTimeoutMs);
      },
      (error: unknown) => this.#end({ kind: "lost", error: error as Error }),
    );
  }

  #answered(response: http.IncomingMessage, mayRefresh: boolean): void {
    const { statusCode = 0 } = response;
    if (statusCode >= 300) {
      this.#refused(response, statusCode, mayRefresh);
      return;
    }
    clearTimeout(this.#timer);
    const valve = new Valve(this.#parts, response);
    response.on("data", (chunk: Buffer) => {
      const events = this.#received(chunk);
      valve.passed(Math.max(chunk.length, events * EVENT_BYTES), true);
    });
    response.on("end", () => {
      if (response.complete) this.#end({ kind: "closed" });
      else this.#end({ kind: "lost", error: new Error("the connection was lost") });
    });
    response.on("error", (error) => this.#end({ kind: "lost", error }));
    response.on("close", () => {
      if (!this.#ended) this.#end({ kind: "lost", error: new Error("the connection was lost") });
    });
  }

  #refused(response: http.IncomingMessage, code: number, mayRefresh: boolean): void {
    const chunks: Buffer[] = [];
    let size = 0;
    let isRead = false;
    const read = (): void => {
      if (isRead) return;
      isRead = true;
      clearTimeout(this.#timer);
      const text = Buffer.concat(chunks).toString("utf8");
      const status = this.#parts.statusOf(code, response.headers, text);
      if (code === 401 && mayRefresh) void this.#again(status);
      else this.#end({ kind: "refused", status });
    };
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_REFUSAL_BYTES) chunks.push(chunk);
      else read();
    });
    response.on("error", (error) => this.#end({ kind: "lost", error }));
    response.on("end", read);
  }

  async #again(status: Status): Promise<void> {
    const changed = await this.#parts.refresh().catch(() => {
      // Without other credentials the refusal stands, and is what the caller gets.
      return false;
    });
    if (!changed) {
      this.#end({ kind: "refused", status });
      return;
    }
    this.#release();
    if (!this.#ended) this.start(false);
  }

  /** Answers how many events there were. */
  #received(chunk: Buffer): number {
    let events = 0;
    if (this.#ended) return events;
    try {
      this.#lines.push(chunk, (line) => {
        if (this.#ended || line === "") return;
        events += 1;
        this.#line(line);
      });
    } catch (error) {
      const excess = excessIn(error);
      if (excess !== undefined) this.#parts.onExcess(excess);
      // The words of a parser quote what it read.
      const told = error instanceof SyntaxError ? new Error("an event is not JSON") : error;
      this.#end({ kind: "lost", error: told as Error });
    }
    return events;
  }

  #line(line: string): void {
    const { type: given, object } = decodeEvent(line, this.#parts.limits);
    if (!isJsonObject(object)) throw new Error("an event of the watch has no object");
    const type = typeof given === "string" ? given : "";
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        this.#sink.event({ type, object: object as unknown as T });
        break;
      case "BOOKMARK":
        this.#sink.event(bookmarkOf(object));
        break;
      case "ERROR":
        this.#end({ kind: "refused", status: cleanStatus(object, 500) });
        break;
      default:
        throw new Error("the watch has an event of unknown type");
    }
  }

  #end(why: WatchEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#opened?.fail(new Error("the watch is over"));
    this.#release();
    queueMicrotask(() => this.#sink.end(why));
  }
}

function bookmarkOf<T extends KubeObject>(object: JsonObject): WatchEvent<T> {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const { resourceVersion, annotations } = metadata;
  const mark = isJsonObject(annotations) ? annotations["k8s.io/initial-events-end"] : undefined;
  return {
    type: "BOOKMARK",
    resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "",
    initialEventsEnd: mark === "true",
  };
}
