/**
 * The Client port over HTTP: HTTP/1.1 on kept-alive connections, JSON bodies, watches as newline-delimited JSON.
 *
 * 1. Nothing is repeated behind the caller's back but: a call refused with 401 after its credential has changed, and a
 *    read whose kept-alive connection was dead.
 * 2. A write asks the server to give it up when its caller does (`timeout`), and a call that is given up closes its
 *    connection, or is never sent: it takes no effect long after. Reads need neither.
 * 3. Redirects are not followed: a credential is for the server that it was given for.
 * 4. Reads, writes, Leases and watches have connections of their own (request-lanes.ts): a renewal waits behind no list.
 *
 * Beside it: connections (http-pool.ts), how requests are written and answers read (http-codec.ts), what a refusal
 * means (http-errors.ts), one request (http-exchange.ts), one watch (http-watch.ts).
 */
import type * as http from "node:http";
import {
  type Json,
  keyOf,
  type KubeList,
  type KubeObject,
  type New,
  type ObjectKey,
  Refused,
  type Resource,
  resourcePath,
} from "@lifeboat/api";
import {
  type CallOptions,
  type Client,
  type DeleteOptions,
  excessIn,
  type ExcessiveResponse,
  type GetOptions,
  type ListOptions,
  NotSent,
  OutcomeUnknown,
  type Patch,
  type Selection,
  type UpdateOptions,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type WriteOptions,
} from "../client.ts";
import { type Credential, type CredentialSource } from "./credentials.ts";
import {
  decodeDocument,
  decodeList,
  decodeObject,
  deleteBody,
  encodeBody,
  isJsonType,
  isStatus,
  PATCH_TYPES,
  queryOf,
  type ReadAnswer,
  selectionQuery,
  writeQuery,
} from "./http-codec.ts";
import { mayHaveHappened, statusOf } from "./http-errors.ts";
import {
  exchange,
  type HttpAnswer,
  type HttpCall,
  type HttpServer,
  httpServer,
} from "./http-exchange.ts";
import { AgentPool, type PoolConfig } from "./http-pool.ts";
import { type Lane, LANE_LIMITS, laneOf } from "./request-lanes.ts";
import { startWatch } from "./http-watch.ts";
import { Intake } from "./intake.ts";
import { type ResponseLimits, TRUSTED_LIMITS } from "./response-limits.ts";

export interface HttpClientConfig extends PoolConfig {
  readonly credentials: CredentialSource;
  readonly userAgent: string;
  /** How long a call may take, answer included. */
  readonly callTimeoutMs?: number;
  /** How much the server may send; that of a server that is trusted when absent. */
  readonly limits?: Partial<ResponseLimits>;
  /** Called for every response that exceeds a limit. */
  readonly onExcess?: (excess: ExcessiveResponse) => void;
  /** Connections at a time in each lane; more calls wait. Watches are not limited. */
  readonly maxConnections?: Readonly<Partial<Record<Lane, number>>>;
}

export interface HttpClient extends Client {
  /** Ends all connections. Calls under way fail. */
  close(): void;
}

const CALL_TIMEOUT_MS = 60_000;

/** A client for one server. Connections are made when they are needed. */
export function createHttpClient(config: HttpClientConfig): HttpClient {
  return new JsonHttpClient(config);
}

interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly contentType?: string;
  readonly body?: unknown;
  /** The caller's, of which only what concerns the call itself is used. */
  readonly options?: CallOptions;
}

class JsonHttpClient implements HttpClient {
  readonly #config: HttpClientConfig;
  readonly #base: URL;
  readonly #server: HttpServer;
  readonly #lanes: Readonly<Record<Lane, AgentPool>>;
  readonly #watches: AgentPool;
  readonly #limits: ResponseLimits;
  readonly #intake: Intake;

  constructor(config: HttpClientConfig) {
    this.#config = config;
    this.#limits = { ...TRUSTED_LIMITS, ...config.limits };
    this.#intake = new Intake(this.#limits);
    this.#base = new URL(config.server);
    this.#server = httpServer(this.#base);
    const limits = { ...LANE_LIMITS, ...config.maxConnections };
    this.#lanes = {
      reads: new AgentPool(config, limits.reads),
      writes: new AgentPool(config, limits.writes),
      leases: new AgentPool(config, limits.leases),
    };
    this.#watches = new AgentPool(config, Infinity);
  }

  close(): void {
    for (const pool of Object.values(this.#lanes)) pool.close();
    this.#watches.close();
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: GetOptions = {},
  ): Promise<T> {
    const query = queryOf({ resourceVersion: options.resourceVersion });
    const path = resourcePath(resource, key.namespace, key.name, options.subresource);
    return this.#object(resource, { method: "GET", path, query, options });
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<T>> {
    const query = selectionQuery(options, {
      limit: options.limit,
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const path = resourcePath(resource, options.namespace ?? "");
    return this.#list(resource, { method: "GET", path, query, options });
  }

  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    sink: WatchSink<T>,
  ): Watch {
    const query = selectionQuery(options, {
      watch: true,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      allowWatchBookmarks: options.allowWatchBookmarks,
      sendInitialEvents: options.sendInitialEvents,
      timeoutSeconds: options.timeoutSeconds,
    });
    const path = resourcePath(resource, options.namespace ?? "");
    const request: Request = { method: "GET", path, query };
    return startWatch(sink, {
      limits: this.#limits,
      intake: this.#intake,
      onExcess: (excess) => this.#config.onExcess?.(excess),
      answerTimeoutMs: this.#config.callTimeoutMs ?? CALL_TIMEOUT_MS,
      refresh: () => this.#config.credentials.refresh(),
      prepare: async () => {
        const credential = await this.#config.credentials.current();
        const lease = this.#watches.lease(credential);
        return { call: this.#httpCall(request, credential, lease.agent), release: lease.release };
      },
      statusOf,
    });
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: New<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = resourcePath(resource, object.metadata.namespace ?? "");
    return this.#write(resource, "POST", path, object, options);
  }

  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: UpdateOptions = {},
  ): Promise<T> {
    const { namespace, name } = keyOf(object);
    const path = resourcePath(resource, namespace, name, options.subresource);
    return this.#write(resource, "PUT", path, object, options);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: UpdateOptions = {},
  ): Promise<T> {
    const path = resourcePath(resource, key.namespace, key.name, options.subresource);
    const query = writeQuery(options);
    if (patch.type === "apply" && patch.force === true) query.set("force", "true");
    const contentType = PATCH_TYPES[patch.type];
    const { body } = patch;
    return this.#object(resource, { method: "PATCH", path, query, contentType, body, options });
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const path = resourcePath(resource, key.namespace, key.name);
    const answer = await this.#object(resource, {
      method: "DELETE",
      path,
      body: deleteBody(options),
      options,
    });
    return isStatus(answer) ? undefined : answer;
  }

  async deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: Selection & DeleteOptions,
  ): Promise<KubeList<T>> {
    return this.#list(resource, {
      method: "DELETE",
      path: resourcePath(resource, options.namespace ?? ""),
      query: selectionQuery(options, {}),
      body: deleteBody(options),
      options,
    });
  }

  async read(path: string, options: CallOptions = {}): Promise<Json> {
    const [pathname = "", search = ""] = path.split("?", 2);
    const query = new URLSearchParams(search);
    const request = { method: "GET", path: pathname, query, options } as const;
    return this.#answered(request, (answer, { headers, body }) =>
      isJsonType(headers) ? decodeDocument(answer) : Promise.resolve(body.toString("utf8")),
    );
  }

  async #write<T extends KubeObject>(
    resource: Resource<T>,
    method: "POST" | "PUT",
    path: string,
    body: unknown,
    options: WriteOptions,
  ): Promise<T> {
    const query = writeQuery(options);
    return this.#object(resource, { method, path, query, body, options });
  }

  #object<T extends KubeObject>(resource: Resource<T>, request: Request): Promise<T> {
    return this.#answered(request, (answer) => decodeObject(resource, answer));
  }

  #list<T extends KubeObject>(resource: Resource<T>, request: Request): Promise<KubeList<T>> {
    return this.#answered(request, (answer) => decodeList(resource, answer));
  }

  /** Makes a call and reads its answer; reports one that exceeds a limit. */
  async #answered<R>(
    request: Request,
    read: (answer: ReadAnswer, raw: HttpAnswer) => Promise<R>,
  ): Promise<R> {
    let raw: HttpAnswer | undefined;
    try {
      raw = await this.#call(request);
      return await read({ method: request.method, body: raw.body, limits: this.#limits }, raw);
    } catch (error) {
      const excess = excessIn(error);
      if (excess !== undefined) this.#config.onExcess?.(excess);
      throw error;
    } finally {
      raw?.release();
    }
  }

  /** An answer below 300, or throws. */
  async #call(request: Request): Promise<HttpAnswer> {
    let answer = await this.#attempt(request);
    if (answer.code === 401 && (await this.#refreshed())) {
      answer.release();
      answer = await this.#attempt(request);
    }
    if (answer.code < 300) return answer;
    answer.release();
    const status = statusOf(answer.code, answer.headers, answer.body.toString("utf8"));
    if (request.method !== "GET" && mayHaveHappened(status))
      throw new OutcomeUnknown(`${request.method} ${request.path}: ${status.message ?? ""}`, {
        cause: new Refused(status),
      });
    throw new Refused(status);
  }

  async #refreshed(): Promise<boolean> {
    try {
      return await this.#config.credentials.refresh();
    } catch {
      // The server's 401 is of more use to the caller than the plugin's failure.
      return false;
    }
  }

  async #attempt(request: Request): Promise<HttpAnswer> {
    let credential: Credential;
    try {
      credential = await this.#config.credentials.current();
    } catch (error) {
      throw new NotSent(`getting credentials: ${(error as Error).message}`, { cause: error });
    }
    const lease = this.#lanes[laneOf(request.method, request.path)].lease(credential);
    try {
      return await exchange(this.#httpCall(request, credential, lease.agent));
    } finally {
      lease.release();
    }
  }

  #httpCall(request: Request, credential: Credential, agent: http.Agent): HttpCall {
    const { method, path, query, body, options: { signal, term } = {} } = request;
    const timeoutMs = this.#config.callTimeoutMs ?? CALL_TIMEOUT_MS;
    const parameters = [query?.toString() ?? ""];
    if (method !== "GET") parameters.push(`timeout=${Math.ceil(timeoutMs / 1000)}s`);
    const search = parameters.filter((text) => text !== "").join("&");
    const text = body === undefined ? undefined : encodeBody(body);
    const headers: http.OutgoingHttpHeaders = {
      accept: "application/json",
      "user-agent": this.#config.userAgent,
      ...(credential.headers as http.OutgoingHttpHeaders),
    };
    if (text !== undefined) {
      headers["content-type"] = request.contentType ?? "application/json";
      headers["content-length"] = Buffer.byteLength(text);
    }
    return {
      method,
      server: this.#server,
      path: search === "" ? this.#encoded(path) : `${this.#encoded(path)}?${search}`,
      headers,
      agent,
      timeoutMs,
      maxBytes: this.#limits.maxBytes,
      intake: this.#intake,
      onExcess: (excess) => this.#config.onExcess?.(excess),
      ...(text === undefined ? {} : { body: text }),
      ...(signal === undefined ? {} : { signal }),
      ...(term === undefined ? {} : { term }),
    };
  }

  /** A path below that of the server. Nearly all are plain; others are written as a URL writes them. */
  #encoded(path: string): string {
    if (this.#base.pathname === "/" && PLAIN_PATH.test(path)) return path;
    const url = new URL(this.#base);
    url.pathname = this.#base.pathname.replace(/\/$/, "") + path;
    return url.pathname;
  }
}

/** Nothing in it is encoded, and no part of it is `.` or `..`, however written. */
const PLAIN_PATH = /^(?:\/[\w~!*'()@:-][\w.~!*'()@:%-]*)+$/;
