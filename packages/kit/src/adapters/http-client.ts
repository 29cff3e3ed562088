/**
 * The Client port over HTTP: HTTP/1.1 on kept-alive connections, JSON bodies, watches as newline-delimited JSON.
 *
 * 1. Nothing is repeated behind the caller's back but: a call refused with 401 after its credential has changed, and a
 *    read whose kept-alive connection was dead.
 * 2. An answer of 4xx or 5xx is Refused, except where a write may have taken effect all the same (502, 504, and a 500
 *    that reports a lost or slow etcd): that is OutcomeUnknown. A Retry-After header shows in `details`.
 * 3. Objects come out frozen, with kind and apiVersion (lists of built-in kinds leave them out on the wire) and without
 *    managedFields, which nobody here reads and which are half of many an object.
 * 4. A write asks the server to give it up when its caller does (`timeout`), and a call that is given up closes its
 *    connection, or is never sent: it takes no effect long after. Reads need neither.
 * 5. Certificates and tokens may change at any time: new connections take the new ones, old connections end with their
 *    last call.
 */
import * as http from "node:http";
import * as https from "node:https";
import {
  apiVersionOf,
  failure,
  isJsonObject,
  type Json,
  type JsonObject,
  keyOf,
  type KubeList,
  type KubeObject,
  type New,
  type ObjectKey,
  Refused,
  type Resource,
  resourcePath,
  type Status,
} from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import {
  type CallOptions,
  type Client,
  type DeleteOptions,
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
import { exchange, type HttpAnswer, type HttpCall } from "./http-exchange.ts";
import { startWatch } from "./http-watch.ts";

export interface HttpClientConfig {
  /** The server's URL; a path in it is put before every path. */
  readonly server: string;
  readonly credentials: CredentialSource;
  /** PEM; absent: the system's authorities. */
  readonly certificateAuthority?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name the server's certificate must be for, where it is not the URL's. */
  readonly tlsServerName?: string;
  readonly userAgent: string;
  /** How long a call may take, answer included. */
  readonly callTimeoutMs?: number;
  /** How large an answer, or one event of a watch, may be. */
  readonly maxAnswerBytes?: number;
  /** Connections at a time; more calls wait. Watches have a pool of their own. */
  readonly maxConnections?: number;
}

export interface HttpClient extends Client {
  /** Ends all connections. Calls under way fail. */
  close(): void;
}

const CALL_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;
const MAX_CONNECTIONS = 64;
/** Idle connections are probed by TCP after this; a dead peer is noticed ten seconds later. */
const KEEP_ALIVE_MS = 30_000;

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
  readonly signal?: AbortSignal | undefined;
}

class JsonHttpClient implements HttpClient {
  readonly #config: HttpClientConfig;
  readonly #base: URL;
  readonly #calls: AgentPool;
  readonly #watches: AgentPool;

  constructor(config: HttpClientConfig) {
    this.#config = config;
    this.#base = new URL(config.server);
    this.#calls = new AgentPool(config, config.maxConnections ?? MAX_CONNECTIONS);
    this.#watches = new AgentPool(config, Infinity);
  }

  close(): void {
    this.#calls.close();
    this.#watches.close();
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: GetOptions = {},
  ): Promise<T> {
    const query = queryOf({ resourceVersion: options.resourceVersion });
    const path = resourcePath(resource, key.namespace, key.name, options.subresource);
    return frozen(
      resource,
      await this.#json({ method: "GET", path, query, signal: options.signal }),
    );
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
    const answer = await this.#json({ method: "GET", path, query, signal: options.signal });
    return frozenList(resource, answer);
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
      maxLineBytes: this.#config.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      answerTimeoutMs: this.#config.callTimeoutMs ?? CALL_TIMEOUT_MS,
      refresh: () => this.#config.credentials.refresh(),
      prepare: async () => {
        const credential = await this.#config.credentials.current();
        const lease = this.#watches.lease(credential);
        return { call: this.#httpCall(request, credential, lease.agent), release: lease.release };
      },
      statusOf,
      frozen: (value) => frozen(resource, value),
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
    const { signal } = options;
    return frozen(
      resource,
      await this.#json({ method: "PATCH", path, query, contentType, body, signal }),
    );
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const path = resourcePath(resource, key.namespace, key.name);
    const answer = await this.#json({
      method: "DELETE",
      path,
      body: deleteBody(options),
      signal: options.signal,
    });
    return isStatus(answer) ? undefined : frozen(resource, answer);
  }

  async deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: Selection & DeleteOptions,
  ): Promise<KubeList<T>> {
    const answer = await this.#json({
      method: "DELETE",
      path: resourcePath(resource, options.namespace ?? ""),
      query: selectionQuery(options, {}),
      body: deleteBody(options),
      signal: options.signal,
    });
    return frozenList(resource, isStatus(answer) ? {} : answer);
  }

  async read(path: string, options: CallOptions = {}): Promise<Json> {
    const [pathname = "", search = ""] = path.split("?", 2);
    const query = new URLSearchParams(search);
    const request = { method: "GET", path: pathname, query, signal: options.signal } as const;
    const { headers, body } = await this.#call(request);
    const text = body.toString("utf8");
    if (!isJsonType(headers)) return text;
    return deepFreeze(parsed(request.method, text));
  }

  async #write<T extends KubeObject>(
    resource: Resource<T>,
    method: "POST" | "PUT",
    path: string,
    body: unknown,
    options: WriteOptions,
  ): Promise<T> {
    const query = writeQuery(options);
    return frozen(
      resource,
      await this.#json({ method, path, query, body, signal: options.signal }),
    );
  }

  async #json(request: Request): Promise<Json> {
    const { body } = await this.#call(request);
    return parsed(request.method, body.toString("utf8"));
  }

  /** An answer below 400, or throws. */
  async #call(request: Request): Promise<HttpAnswer> {
    let answer = await this.#attempt(request);
    if (answer.code === 401 && (await this.#refreshed())) answer = await this.#attempt(request);
    if (answer.code < 300) return answer;
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
      // The server's 401 tells the caller more than the plugin that failed.
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
    const lease = this.#calls.lease(credential);
    try {
      return await exchange(this.#httpCall(request, credential, lease.agent));
    } finally {
      lease.release();
    }
  }

  #httpCall(request: Request, credential: Credential, agent: http.Agent): HttpCall {
    const { method, path, query, body, signal } = request;
    const url = new URL(this.#base);
    url.pathname = this.#base.pathname.replace(/\/$/, "") + path;
    const timeoutMs = this.#config.callTimeoutMs ?? CALL_TIMEOUT_MS;
    url.search = query?.toString() ?? "";
    if (method !== "GET") url.searchParams.set("timeout", `${Math.ceil(timeoutMs / 1000)}s`);
    const text = body === undefined ? undefined : JSON.stringify(body);
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
      url,
      headers,
      agent,
      timeoutMs,
      maxBytes: this.#config.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      ...(text === undefined ? {} : { body: text }),
      ...(signal === undefined ? {} : { signal }),
    };
  }
}

/**
 * An agent keeps connections apart by a name that it makes for every request of all options, certificates included: some
 * kilobytes. This one has one server and one set of options.
 */
class OneServerAgent extends https.Agent {
  override getName(): string {
    return "";
  }
}

/** Connections for the certificate in use. When it changes, the pool of the old one ends with its last call. */
class AgentPool {
  readonly #config: HttpClientConfig;
  readonly #maxSockets: number;
  #current: { certificate: string; agent: http.Agent; users: number } | undefined;
  #closed = false;

  constructor(config: HttpClientConfig, maxSockets: number) {
    this.#config = config;
    this.#maxSockets = maxSockets;
  }

  lease(credential: Credential): { readonly agent: http.Agent; readonly release: () => void } {
    const certificate = `${credential.certificate ?? ""}\n${credential.key ?? ""}`;
    if (this.#current?.certificate !== certificate) {
      if (this.#current?.users === 0) this.#current.agent.destroy();
      this.#current = { certificate, agent: this.#makeAgent(credential), users: 0 };
    }
    const pool = this.#current;
    pool.users += 1;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      pool.users -= 1;
      if (pool.users === 0 && (this.#closed || pool !== this.#current)) pool.agent.destroy();
    };
    return { agent: pool.agent, release };
  }

  close(): void {
    this.#closed = true;
    this.#current?.agent.destroy();
  }

  #makeAgent(credential: Credential): http.Agent {
    const pooling = {
      keepAlive: true,
      keepAliveMsecs: KEEP_ALIVE_MS,
      maxSockets: this.#maxSockets,
      scheduling: "lifo" as const,
    };
    if (new URL(this.#config.server).protocol === "http:") return new http.Agent(pooling);
    const { certificateAuthority: ca, insecureSkipTlsVerify, tlsServerName } = this.#config;
    return new OneServerAgent({
      ...pooling,
      minVersion: "TLSv1.2",
      rejectUnauthorized: insecureSkipTlsVerify !== true,
      ...(ca === undefined ? {} : { ca }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      ...(credential.certificate === undefined ? {} : { cert: credential.certificate }),
      ...(credential.key === undefined ? {} : { key: credential.key }),
    });
  }
}

const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return query;
}

function selectionQuery(selection: Selection, parameters: Parameters): URLSearchParams {
  const { labelSelector, fieldSelector } = selection;
  return queryOf({ labelSelector, fieldSelector, ...parameters });
}

function writeQuery(options: WriteOptions): URLSearchParams {
  return queryOf({
    dryRun: options.dryRun === true ? "All" : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
  });
}

function deleteBody(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options;
  return {
    kind: "DeleteOptions",
    apiVersion: "v1",
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === true ? { dryRun: ["All"] } : {}),
  };
}

function parsed(method: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const message = `the answer is not JSON: ${(error as Error).message}`;
    throw method === "GET" ? new NotSent(message) : new OutcomeUnknown(message);
  }
}

/** The object as the port promises it. Its type is what the resource claims, as everywhere in the port. */
function frozen<T extends KubeObject>(_: Resource<T>, value: Json): T {
  return deepFreeze(withoutManagedFields(value)) as unknown as T;
}

function withoutManagedFields(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const { metadata } = value;
  if (!isJsonObject(metadata) || metadata["managedFields"] === undefined) return value;
  const { managedFields: _, ...rest } = metadata;
  return { ...value, metadata: rest };
}

function frozenList<T extends KubeObject>(resource: Resource<T>, answer: Json): KubeList<T> {
  const list = isJsonObject(answer) ? answer : {};
  const apiVersion = apiVersionOf(resource);
  const { kind } = resource;
  const items = Array.isArray(list["items"]) ? (list["items"] as JsonObject[]) : [];
  const metadata = isJsonObject(list["metadata"]) ? list["metadata"] : {};
  return deepFreeze({
    apiVersion,
    kind: `${kind}List`,
    metadata: { resourceVersion: "", ...metadata },
    items: items.map((item) => frozen(resource, { apiVersion, kind, ...item })),
  });
}

function isStatus(answer: Json): boolean {
  return isJsonObject(answer) && answer["kind"] === "Status" && answer["apiVersion"] === "v1";
}

function isJsonType(headers: http.IncomingHttpHeaders): boolean {
  return (headers["content-type"] ?? "").startsWith("application/json");
}

/** The Status of a refusal, made up where the server (or a proxy before it) sent none. */
function statusOf(code: number, headers: http.IncomingHttpHeaders, text: string): Status {
  const sent = isJsonType(headers) ? tryParse(text) : undefined;
  const status =
    isJsonObject(sent) && isStatus(sent)
      ? ({
          ...sent,
          code: typeof sent["code"] === "number" ? sent["code"] : code,
        } as unknown as Status)
      : failure(code, REASONS[code], text.trim().slice(0, 1024) || `HTTP ${code}`);
  const retryAfter = Number(headers["retry-after"]);
  if (!(retryAfter > 0) || status.details?.retryAfterSeconds !== undefined)
    return deepFreeze(status);
  return deepFreeze({ ...status, details: { ...status.details, retryAfterSeconds: retryAfter } });
}

function tryParse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Answers after which a write may have taken effect: whoever gave them had passed the write on. */
function mayHaveHappened(status: Status): boolean {
  if (status.code === 502 || status.code === 504) return true;
  const message = status.message ?? "";
  return (
    status.code === 500 &&
    message.includes("etcdserver:") &&
    (message.includes("timed out") || message.includes("leader changed"))
  );
}
