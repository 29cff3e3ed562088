/**
 * A watch over HTTP: one long answer, one JSON document per line.
 *
 * 1. The sink gets exactly one `end`, never inside the call that started or stopped the watch, and nothing after it.
 * 2. A 401 before the first event is met by a fresh credential, once.
 */
import type * as http from "node:http";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type Status,
  type WatchEvent,
} from "@lifeboat/api";
import type { Watch, WatchEnd, WatchSink } from "../client.ts";
import { type HttpCall, open, type Opened } from "./http-exchange.ts";
import { LineSplitter } from "./line-splitter.ts";

export interface HttpWatchParts<T extends KubeObject> {
  readonly maxLineBytes: number;
  /** How long the server may take to begin its answer. */
  readonly answerTimeoutMs: number;
  prepare(): Promise<{ readonly call: HttpCall; readonly release: () => void }>;
  refresh(): Promise<boolean>;
  statusOf(code: number, headers: http.IncomingHttpHeaders, text: string): Status;
  frozen(value: Json): T;
}

/** Starts a watch; all that happens goes to the sink. */
export function startWatch<T extends KubeObject>(
  sink: WatchSink<T>,
  parts: HttpWatchParts<T>,
): Watch {
  const watch = new HttpWatch(sink, parts);
  watch.start(true);
  return watch;
}

class HttpWatch<T extends KubeObject> implements Watch {
  readonly #sink: WatchSink<T>;
  readonly #parts: HttpWatchParts<T>;
  readonly #lines: LineSplitter;
  #opened: Opened | undefined;
  #release: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(sink: WatchSink<T>, parts: HttpWatchParts<T>) {
    this.#sink = sink;
    this.#parts = parts;
    this.#lines = new LineSplitter(parts.maxLineBytes);
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
    clearTimeout(this.#timer);
    const { statusCode = 0 } = response;
    if (statusCode >= 300) {
      this.#refused(response, statusCode, mayRefresh);
      return;
    }
    response.on("data", (chunk: Buffer) => this.#received(chunk));
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
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= 1024 * 1024) chunks.push(chunk);
    });
    response.on("error", (error) => this.#end({ kind: "lost", error }));
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const status = this.#parts.statusOf(code, response.headers, text);
      if (code === 401 && mayRefresh) void this.#again(status);
      else this.#end({ kind: "refused", status });
    });
  }

  async #again(status: Status): Promise<void> {
    const changed = await this.#parts.refresh().catch(() => {
      // Without other credentials the refusal stands, and is what the caller is told.
      return false;
    });
    if (!changed) {
      this.#end({ kind: "refused", status });
      return;
    }
    this.#release();
    if (!this.#ended) this.start(false);
  }

  #received(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      this.#lines.push(chunk, (line) => {
        if (!this.#ended && line !== "") this.#line(line);
      });
    } catch (error) {
      this.#end({ kind: "lost", error: error as Error });
    }
  }

  #line(line: string): void {
    const frame = JSON.parse(line) as Json;
    if (!isJsonObject(frame) || !isJsonObject(frame["object"]))
      throw new Error("an event of the watch has no object");
    const { object } = frame;
    const type = typeof frame["type"] === "string" ? frame["type"] : "";
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        this.#sink.event({ type, object: this.#parts.frozen(object) });
        break;
      case "BOOKMARK":
        this.#sink.event(bookmarkOf(object));
        break;
      case "ERROR":
        this.#end({ kind: "refused", status: object as unknown as Status });
        break;
      default:
        throw new Error(`the watch has an event of unknown type "${type}"`);
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
