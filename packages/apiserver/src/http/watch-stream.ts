/**
 * Watches as HTTP streams: one JSON frame per line, `{"type":…,"object":…}`.
 *
 * What makes fan-out cheap: a change is encoded once, the frame is shared by all watchers of the same form; frames that
 * arrive in one tick are joined once, the joined bytes are shared too, and every watcher gets one write per tick.
 *
 * 1. What a watch begins with (existing objects, past changes) is held as references and encoded while it is sent; it
 *    has no bound of its own, because the store holds it anyway. What changes meanwhile waits behind it, likewise as
 *    references, up to `maxBacklogEvents`: else a large initial list could never be finished while others write.
 * 2. After that the queue is bounded per watcher, by frames and by bytes. A watcher over the bound is cut off; it
 *    resumes from the last version it saw. It costs no other watcher anything.
 * 3. Nothing is written after `end`, and the source is stopped exactly once.
 */
import type { AnyObject } from "@lifeboat/api";
import { type Instant, soon } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import type { ServerWatch, ServerWatchEvent, ServerWatchSink } from "../verbs/verbs.ts";
import type { HttpStream, HttpStreamSink } from "./exchange.ts";
import type { Format } from "./media-type.ts";
import { partialMetadata, type TableForm, tableOf } from "./table.ts";

export interface WatchLimits {
  readonly maxQueuedFrames: number;
  readonly maxQueuedBytes: number;
  readonly maxBacklogEvents: number;
}

/** Turns one event into its frame. */
export type FrameEncoder = (event: ServerWatchEvent) => Uint8Array;

/** The kind and apiVersion that bookmarks are written with. */
export interface WatchedKind {
  readonly kind: string;
  readonly apiVersion: string;
}

export interface WatchStreams {
  objectFrames(of: WatchedKind): FrameEncoder;
  metadataFrames(metaVersion: Format["metaVersion"]): FrameEncoder;
  tableFrames(form: TableForm, now: () => Instant): FrameEncoder;
  /** Starts a watch and answers its stream; rejects when `begin` does. `closed` is called once, when all is over. */
  open(
    encode: FrameEncoder,
    begin: (sink: ServerWatchSink) => Promise<ServerWatch>,
    closed: (why: WatchClosed) => void,
  ): Promise<HttpStream>;
}

export type WatchClosed = "ended" | "client" | "slow" | "error";

export function createWatchStreams(log: Log, limits: WatchLimits): WatchStreams {
  const flusher = new Flusher();
  const objects = new FrameCache((event) => objectFrame(event.type, event.bytes, event.object));
  const metadata = {
    v1: new FrameCache((event) => metadataFrame(event.type, event.object, "v1")),
    v1beta1: new FrameCache((event) => metadataFrame(event.type, event.object, "v1beta1")),
  };
  return {
    objectFrames: (of) => (event) => {
      if (event.type === "ERROR") return errorFrame(event.status);
      if (event.type === "BOOKMARK")
        return frameOf("BOOKMARK", { ...of, metadata: bookmarkMeta(event) });
      return objects.frame(event);
    },
    metadataFrames: (metaVersion) => (event) => {
      if (event.type === "ERROR") return errorFrame(event.status);
      if (event.type === "BOOKMARK")
        return frameOf("BOOKMARK", partialMetadata({ metadata: bookmarkMeta(event) }, metaVersion));
      return metadata[metaVersion].frame(event);
    },
    tableFrames: tableEncoder,
    async open(encode, begin, closed) {
      const stream = new WatchStream(encode, flusher, limits, log, closed);
      stream.source(await begin(stream));
      return stream;
    },
  };
}

type ObjectEvent = Extract<ServerWatchEvent, { readonly object: AnyObject }>;
type BookmarkEvent = Extract<ServerWatchEvent, { readonly type: "BOOKMARK" }>;

const FRAME_END = Buffer.from("}\n");
const FRAME_START = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

function objectFrame(
  type: ObjectEvent["type"],
  bytes: Uint8Array | undefined,
  object: AnyObject,
): Uint8Array {
  if (bytes === undefined) return frameOf(type, object);
  const start = FRAME_START[type];
  const frame = Buffer.allocUnsafe(start.length + bytes.length + FRAME_END.length);
  frame.set(start, 0);
  frame.set(bytes, start.length);
  frame.set(FRAME_END, start.length + bytes.length);
  return frame;
}

function metadataFrame(
  type: ObjectEvent["type"],
  object: AnyObject,
  metaVersion: Format["metaVersion"],
): Uint8Array {
  return frameOf(type, partialMetadata(object, metaVersion));
}

function frameOf(type: string, object: object): Uint8Array {
  return Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
}

function errorFrame(status: object): Uint8Array {
  return frameOf("ERROR", status);
}

function bookmarkMeta(event: BookmarkEvent): object {
  return {
    resourceVersion: event.resourceVersion,
    ...(event.initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: "true" } } : {}),
  };
}

/** Tables are made for one watcher: ages differ, and only its first event carries the columns. */
function tableEncoder(form: TableForm, now: () => Instant): FrameEncoder {
  let columns = true;
  return (event) => {
    if (event.type === "ERROR") return errorFrame(event.status);
    const object =
      event.type === "BOOKMARK"
        ? ({ kind: "", apiVersion: "", metadata: bookmarkMeta(event) } as AnyObject)
        : event.object;
    const { resourceVersion } = object.metadata;
    const table = tableOf(form, { resourceVersion }, [object], now(), columns);
    columns = false;
    return frameOf(event.type, table);
  };
}

/**
 * Remembers the newest frame of each event type. The store hands a change to all watchers one after another, so one is
 * enough; remembering more would keep a second copy of the whole store in memory.
 */
class FrameCache {
  readonly #encode: (event: ObjectEvent) => Uint8Array;
  readonly #newest: Record<ObjectEvent["type"], { key: object; frame: Uint8Array }>;

  constructor(encode: (event: ObjectEvent) => Uint8Array) {
    this.#encode = encode;
    const nothing = { key: {}, frame: FRAME_END };
    this.#newest = { ADDED: nothing, MODIFIED: nothing, DELETED: nothing };
  }

  frame(event: ObjectEvent): Uint8Array {
    const key = event.bytes ?? event.object;
    const newest = this.#newest[event.type];
    if (newest.key === key) return newest.frame;
    const frame = this.#encode(event);
    this.#newest[event.type] = { key, frame };
    return frame;
  }
}

/** Runs the writes of all watchers that got something in this tick, once the tick's own work is done. */
class Flusher {
  #waiting: WatchStream[] = [];
  #frames: readonly Uint8Array[] = [];
  #joined: Uint8Array = FRAME_END;

  add(stream: WatchStream): void {
    if (this.#waiting.push(stream) === 1) soon(() => this.#flush());
  }

  /** The frames as one chunk; the same one for every watcher with the same frames. */
  join(frames: readonly Uint8Array[], bytes: number): Uint8Array {
    if (frames.length === 1) return frames[0] as Uint8Array;
    if (!sameFrames(frames, this.#frames)) {
      this.#frames = frames;
      this.#joined = Buffer.concat(frames, bytes);
    }
    return this.#joined;
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const stream of waiting) stream.flush();
    this.#frames = [];
    this.#joined = FRAME_END;
  }
}

function sameFrames(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A queue of this size is written at once instead of at the end of the tick. */
const WRITE_BYTES = 256 * 1024;
const WRITE_FRAMES = 256;

class WatchStream implements HttpStream, ServerWatchSink {
  readonly #encode: FrameEncoder;
  readonly #flusher: Flusher;
  readonly #limits: WatchLimits;
  readonly #log: Log;
  readonly #closed: (why: WatchClosed) => void;
  #out: HttpStreamSink | undefined;
  #watch: ServerWatch | undefined;
  /** Not yet encoded; reversed on start, so that `pop` takes the oldest. */
  #initial: ServerWatchEvent[] = [];
  /** What arrived while `#initial` was being sent, in order. */
  #backlog: ServerWatchEvent[] = [];
  #frames: Uint8Array[] = [];
  #bytes = 0;
  #isWaiting = false;
  #isBlocked = false;
  #sourceEnded = false;
  #isOver = false;

  constructor(
    encode: FrameEncoder,
    flusher: Flusher,
    limits: WatchLimits,
    log: Log,
    closed: (why: WatchClosed) => void,
  ) {
    this.#encode = encode;
    this.#flusher = flusher;
    this.#limits = limits;
    this.#log = log;
    this.#closed = closed;
  }

  source(watch: ServerWatch): void {
    this.#watch = watch;
    if (this.#isOver) watch.stop();
  }

  event(event: ServerWatchEvent): boolean {
    if (this.#isOver) return false;
    if (this.#out === undefined) {
      this.#initial.push(event);
      return true;
    }
    if (this.#initial.length > 0) return this.#keepBack(event);
    const frame = this.#encode(event);
    this.#frames.push(frame);
    this.#bytes += frame.length;
    if (this.#isBlocked) return this.#withinLimits();
    if (this.#bytes >= WRITE_BYTES || this.#frames.length >= WRITE_FRAMES) this.flush();
    else this.#wait();
    return !this.#isOver;
  }

  end(): void {
    this.#sourceEnded = true;
    this.#wait();
  }

  start(out: HttpStreamSink): void {
    this.#out = out;
    this.#initial = this.#initial.toReversed();
    out.onDrain(() => {
      this.#isBlocked = false;
      this.flush();
    });
    this.flush();
  }

  stop(): void {
    this.#finish("client");
  }

  /** Writes what is queued, as far as the transport takes it. */
  flush(): void {
    this.#isWaiting = false;
    if (this.#isOver || this.#out === undefined) return;
    try {
      this.#writeInitial(this.#out);
      this.#writeFrames(this.#out);
    } catch (error) {
      this.#log.error("writing a watch", { error });
      this.#finish("error");
      return;
    }
    if (this.#sourceEnded && !this.#hasInitial() && this.#frames.length === 0)
      this.#finish("ended");
  }

  #writeInitial(out: HttpStreamSink): void {
    while (this.#hasInitial() && !this.#isBlocked) {
      const frames: Uint8Array[] = [];
      let bytes = 0;
      while (bytes < WRITE_BYTES) {
        const event = this.#initial.pop();
        if (event === undefined) break;
        const frame = this.#encode(event);
        frames.push(frame);
        bytes += frame.length;
      }
      this.#isBlocked = !out.write(this.#flusher.join(frames, bytes));
    }
  }

  #hasInitial(): boolean {
    if (this.#initial.length === 0 && this.#backlog.length > 0) {
      this.#initial = this.#backlog.toReversed();
      this.#backlog = [];
    }
    return this.#initial.length > 0;
  }

  #keepBack(event: ServerWatchEvent): boolean {
    this.#backlog.push(event);
    if (this.#backlog.length <= this.#limits.maxBacklogEvents) return true;
    this.#finish("slow");
    return false;
  }

  #writeFrames(out: HttpStreamSink): void {
    if (this.#isBlocked || this.#frames.length === 0) return;
    const chunk = this.#flusher.join(this.#frames, this.#bytes);
    this.#frames = [];
    this.#bytes = 0;
    this.#isBlocked = !out.write(chunk);
  }

  #withinLimits(): boolean {
    const { maxQueuedFrames, maxQueuedBytes } = this.#limits;
    if (this.#frames.length <= maxQueuedFrames && this.#bytes <= maxQueuedBytes) return true;
    this.#finish("slow");
    return false;
  }

  #wait(): void {
    if (this.#isWaiting || this.#isBlocked || this.#isOver) return;
    this.#isWaiting = true;
    this.#flusher.add(this);
  }

  #finish(why: WatchClosed): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#initial = [];
    this.#backlog = [];
    this.#frames = [];
    if (why !== "ended") this.#watch?.stop();
    if (why !== "client") this.#out?.end();
    this.#closed(why);
  }
}
