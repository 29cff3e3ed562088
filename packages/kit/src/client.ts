/**
 * The Client port: how everything of ours speaks to a Kubernetes API, embedded or real.
 *
 * One contract for both adapters (in process, HTTP), held by one suite (testkit/src/client-suite.ts):
 *
 * 1. Objects that come out are frozen.
 * 2. A call ends in exactly one of four ways: an answer, `Refused` (the server refused, nothing changed), `NotSent`
 *    (the request never left, nothing changed) or `OutcomeUnknown` (it may have taken effect).
 * 3. Reads never answer `OutcomeUnknown`: a lost read is `NotSent`, because repeating it is always safe.
 * 4. A watch ends exactly once, by `end`, and no event comes after it.
 */
import type {
  AnyObject,
  Json,
  KubeList,
  KubeObject,
  New,
  ObjectKey,
  Resource,
  Status,
  WatchEvent,
} from "@lifeboat/api";
import type { Term } from "./term.ts";

/** The request never reached the server. */
export class NotSent extends Error {
  override readonly name = "NotSent";
}

/** The request was sent and no answer came: it may or may not have taken effect. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** Which limit a server's response exceeded. */
export type ExcessKind = "ResponseTooLarge" | "ResponseTooDeep" | "TooManyItems" | "WatchTooFast";

/**
 * A server sent more than it may, and the rest was not read. It is the cause of the NotSent or OutcomeUnknown of a call,
 * or the end of a watch. Its message holds nothing that the server wrote.
 */
export class ExcessiveResponse extends Error {
  override readonly name = "ExcessiveResponse";
  readonly kind: ExcessKind;

  constructor(kind: ExcessKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The limit that an error is about; undefined when it is about something else. */
export function excessIn(error: unknown): ExcessiveResponse | undefined {
  if (error instanceof ExcessiveResponse) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof ExcessiveResponse ? cause : undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * The term in which a write is made (fenced-client.ts). An adapter in which calls wait for a connection gives the write up when the
   * term ends, as by `signal`, and asks once more when there is a connection: a write whose term is over never leaves.
   */
  readonly term?: Term;
}

export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

export interface Selection {
  /** "" or absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends CallOptions, Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface WatchOptions extends Selection {
  /** Events after this version. Absent: everything that exists now, then what follows. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  readonly allowWatchBookmarks?: boolean;
  /** A streaming list: existing objects as ADDED, then a bookmark with `initialEventsEnd`, then what follows. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: string;
}

export type Patch =
  | { readonly type: "merge"; readonly body: Json }
  | { readonly type: "strategic"; readonly body: Json }
  | { readonly type: "json"; readonly body: readonly Json[] }
  | { readonly type: "apply"; readonly body: Json; readonly force?: boolean };

export interface DeleteOptions extends CallOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

/** Why a watch ended. */
export type WatchEnd =
  /** The server closed it in order (its time was up, it shuts down) or the caller stopped it. */
  | { readonly kind: "closed" }
  /** The server refused or broke it off with a Status, such as 410 Expired. */
  | { readonly kind: "refused"; readonly status: Status }
  /** The connection was lost, or the bounded queue between server and sink overflowed. */
  | { readonly kind: "lost"; readonly error: Error };

export interface WatchSink<T extends KubeObject = AnyObject> {
  event(event: WatchEvent<T>): void;
  end(why: WatchEnd): void;
}

export interface Watch {
  /** Stops the watch; the sink gets its `end` (closed) and nothing more. Idempotent. */
  stop(): void;
}

export interface Client {
  get<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: GetOptions,
  ): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    sink: WatchSink<T>,
  ): Watch;
  create<T extends KubeObject>(
    resource: Resource<T>,
    object: New<T>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Replaces the object named by its metadata; its resourceVersion, where present, is a precondition. */
  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: UpdateOptions,
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: UpdateOptions,
  ): Promise<T>;
  /** Answers the object when finalizers or grace keep it, undefined when it is gone. */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: Selection & DeleteOptions,
  ): Promise<KubeList<T>>;
  /** GET of a path that is not a resource: `/version`, `/readyz`, discovery. JSON where the answer is JSON, else its text. */
  read(path: string, options?: CallOptions): Promise<Json>;
}
