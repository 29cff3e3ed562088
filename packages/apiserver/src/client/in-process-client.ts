/**
 * The Client port over the Verbs: no bytes, no authentication, everything else as over HTTP.
 *
 * 1. Objects are the store's own, shared and frozen. What callers hand in is frozen too.
 * 2. Watch events wait in a queue and are handed over in a microtask, never inside the write that caused them. A queue
 *    that overflows ends the watch as lost; events of the beginning (what exists, what was missed) do not count.
 * 3. A write whose fate the storage does not know is `OutcomeUnknown`; one that a closed server did not take is `NotSent`.
 */
import { deepFreeze, soon } from "@lifeboat/base";
import {
  apiVersionOf,
  failure,
  type Json,
  type JsonObject,
  type KubeList,
  type KubeObject,
  type ObjectKey,
  Refused,
  type Resource,
} from "@lifeboat/api";
import {
  type Client,
  NotSent,
  OutcomeUnknown,
  type Patch,
  type Selection,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type WriteOptions,
} from "@lifeboat/kit";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import type { Handle, HttpResponse } from "../http/exchange.ts";
import { JSON_TYPE } from "../http/respond.ts";
import { StoreClosed } from "../store/create-store.ts";
import { dropUndefined } from "../verbs/drop-undefined.ts";
import type { User } from "../authentication/user.ts";
import type {
  Found,
  ListAnswer,
  PatchBody,
  RequestContext,
  Target,
  Verbs,
  WatchParameters,
  WriteParameters,
} from "../verbs/verbs.ts";
import { WatchQueue } from "./watch-queue.ts";

export interface InProcessParts {
  readonly verbs: Verbs;
  readonly catalog: Catalog;
  /** For `read`: paths that are no resources. */
  readonly handle: Handle;
}

export interface InProcessOptions {
  readonly user: User;
  /** How many events may wait for one watch. */
  readonly watchQueueLimit: number;
}

export function createInProcessClient(parts: InProcessParts, options: InProcessOptions): Client {
  return new InProcessClient(parts, options);
}

class InProcessClient implements Client {
  readonly #verbs: Verbs;
  readonly #catalog: Catalog;
  readonly #handle: Handle;
  readonly #user: User;
  readonly #watchQueueLimit: number;
  /** What was read, by its bytes: the server keeps its documents about the API, and they are read again and again. */
  readonly #documents = new WeakMap<object, Json>();

  constructor(parts: InProcessParts, options: InProcessOptions) {
    this.#verbs = parts.verbs;
    this.#catalog = parts.catalog;
    this.#handle = parts.handle;
    this.#user = options.user;
    this.#watchQueueLimit = options.watchQueueLimit;
  }

  get: Client["get"] = (resource, key, options = {}) =>
    this.#read(options.signal, async (context) => {
      const target = this.#target(resource, key, options.subresource);
      const found = await this.#verbs.get(context, target, options.resourceVersion ?? "");
      return typed(resource, found);
    });

  list: Client["list"] = (resource, options = {}) =>
    this.#read(options.signal, async (context) => {
      const target = this.#collection(resource, options);
      const answer = await this.#verbs.list(context, target, {
        ...selectorsOf(options),
        limit: options.limit ?? 0,
        continue: options.continue ?? "",
        resourceVersion: options.resourceVersion ?? "",
        resourceVersionMatch: options.resourceVersionMatch ?? "",
      });
      return listOf(target.resource, answer);
    });

  create: Client["create"] = (resource, object, options = {}) =>
    this.#write(options.signal, async (context) => {
      const body = dropUndefined(object as unknown as Json) as JsonObject;
      const target = this.#target(resource, {
        namespace: object.metadata.namespace ?? "",
        name: "",
      });
      return typed(
        resource,
        await this.#verbs.create(context, target, { object: body }, parametersOf(options)),
      );
    });

  update: Client["update"] = (resource, object, options = {}) =>
    this.#write(options.signal, async (context) => {
      const body = { object: object as unknown as JsonObject, mayHoldUndefined: true } as const;
      const { namespace = "", name } = object.metadata;
      const target = this.#target(resource, { namespace, name }, options.subresource);
      return typed(
        resource,
        await this.#verbs.update(context, target, body, parametersOf(options)),
      );
    });

  patch: Client["patch"] = (resource, key, patch, options = {}) =>
    this.#write(options.signal, async (context) => {
      const target = this.#target(resource, key, options.subresource);
      const parameters = {
        ...parametersOf(options),
        ...(patch.type === "apply" && patch.force !== undefined && { force: patch.force }),
      };
      return typed(
        resource,
        await this.#verbs.patch(context, target, patchBody(patch), parameters),
      );
    });

  delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: Parameters<Client["delete"]>[2] = {},
  ): Promise<T | undefined> {
    return this.#write(options.signal, async (context) => {
      const target = this.#target(resource, key);
      const answer = await this.#verbs.delete(context, target, deleteBody(options));
      return answer.kind === "kept" ? typed(resource, answer) : undefined;
    });
  }

  deleteCollection: Client["deleteCollection"] = (resource, options) =>
    this.#write(options.signal, async (context) => {
      const target = this.#collection(resource, options);
      const parameters = {
        ...selectorsOf(options),
        limit: 0,
        continue: "",
        resourceVersion: "",
        resourceVersionMatch: "",
      };
      const body = deleteBody(options);
      return listOf(
        target.resource,
        await this.#verbs.deleteCollection(context, target, parameters, body),
      );
    });

  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    sink: WatchSink<T>,
  ): Watch {
    const queue = new WatchQueue<T>(sink, this.#watchQueueLimit);
    const begin = async (): Promise<void> => {
      const target = this.#collection(resource, options);
      const parameters = watchParametersOf(options);
      const running = await this.#verbs.watch(this.#context(), target, parameters, queue);
      queue.started(() => running.stop());
    };
    // The sink hears nothing before the caller has its Watch.
    soon(() => {
      if (!queue.ended) begin().catch((error: unknown) => queue.failed(error));
    });
    return { stop: () => queue.stop() };
  }

  read: Client["read"] = (path, options = {}) =>
    this.#read(options.signal, async () => {
      const response = await this.#handle({
        method: "GET",
        url: path,
        headers: { accept: "application/json" },
        body: new Uint8Array(),
        certificateUser: this.#user,
        signal: options.signal ?? new AbortController().signal,
      });
      return this.#bodyOf(response);
    });

  #bodyOf(response: HttpResponse): Json {
    const { status, body } = response;
    if (status >= 400) throw refusalOf(response);
    if (!isJson(response)) return textOf(body);
    const known = this.#documents.get(body);
    if (known !== undefined) return known;
    const value = deepFreeze(JSON.parse(textOf(body)) as Json);
    this.#documents.set(body, value);
    return value;
  }

  #context(signal?: AbortSignal): RequestContext {
    const user = this.#user;
    return signal === undefined ? { user, warn: unheard } : { user, warn: unheard, signal };
  }

  #served(resource: Resource<KubeObject>): ServedResource {
    const found = this.#catalog.find(resource.group, resource.version, resource.plural);
    if (found !== undefined) return found;
    throw new Refused(failure(404, "NotFound", "the server could not find the requested resource"));
  }

  #target(resource: Resource<KubeObject>, key: ObjectKey, subresource = ""): Target {
    const served = this.#served(resource);
    const namespace = served.namespaced ? key.namespace : "";
    return { resource: served, namespace, name: key.name, subresource };
  }

  #collection(resource: Resource<KubeObject>, selection: Selection): Target {
    return this.#target(resource, { namespace: selection.namespace ?? "", name: "" });
  }

  #read<R>(
    signal: AbortSignal | undefined,
    call: (context: RequestContext) => Promise<R>,
  ): Promise<R> {
    return this.#call(signal, call, (cause) => new NotSent("reading failed", { cause }));
  }

  #write<R>(
    signal: AbortSignal | undefined,
    call: (context: RequestContext) => Promise<R>,
  ): Promise<R> {
    return this.#call(signal, call, (cause) =>
      cause instanceof StoreClosed
        ? new NotSent("the server is closed", { cause })
        : new OutcomeUnknown("writing failed", { cause }),
    );
  }

  /** Refusals are passed on; every other failure is reported in the words of the port. */
  async #call<R>(
    signal: AbortSignal | undefined,
    call: (context: RequestContext) => Promise<R>,
    inWords: (cause: unknown) => Error,
  ): Promise<R> {
    if (signal?.aborted === true) throw new NotSent("the call was given up before it began");
    try {
      return await call(this.#context(signal));
    } catch (error) {
      throw error instanceof Refused ? error : inWords(error);
    }
  }
}

/** Warnings are for people at a terminal. */
function unheard(): void {}

/** The server's object as the type its resource carries, which nothing checks: that is the port's promise. */
function typed<T extends KubeObject>(_resource: Resource<T>, found: Found): T {
  return deepFreeze(found.object) as unknown as T;
}

function listOf<T extends KubeObject>(resource: ServedResource, answer: ListAnswer): KubeList<T> {
  const { resourceVersion, remainingItemCount } = answer;
  return Object.freeze({
    apiVersion: apiVersionOf(resource),
    kind: resource.listKind,
    metadata: Object.freeze({
      resourceVersion,
      ...(answer.continue !== undefined && { continue: answer.continue }),
      ...(remainingItemCount !== undefined && { remainingItemCount }),
    }),
    items: Object.freeze(answer.items.map((item) => item.object as unknown as T)),
  });
}

function selectorsOf(selection: Selection): {
  readonly labelSelector: string;
  readonly fieldSelector: string;
} {
  return {
    labelSelector: selection.labelSelector ?? "",
    fieldSelector: selection.fieldSelector ?? "",
  };
}

function parametersOf(options: WriteOptions): WriteParameters {
  return {
    dryRun: options.dryRun ?? false,
    ...(options.fieldManager !== undefined && { fieldManager: options.fieldManager }),
    fieldValidation: options.fieldValidation ?? "Warn",
  };
}

function watchParametersOf(options: WatchOptions): WatchParameters {
  return {
    ...selectorsOf(options),
    resourceVersion: options.resourceVersion ?? "",
    resourceVersionMatch: options.resourceVersionMatch ?? "",
    allowWatchBookmarks: options.allowWatchBookmarks ?? false,
    ...(options.sendInitialEvents !== undefined && {
      sendInitialEvents: options.sendInitialEvents,
    }),
    timeoutSeconds: options.timeoutSeconds ?? 0,
  };
}

function patchBody(patch: Patch): PatchBody {
  if (patch.type === "json") return { type: "json", operations: dropUndefined(patch.body) };
  return { type: patch.type, body: { object: dropUndefined(patch.body) as JsonObject } };
}

function deleteBody(
  options: NonNullable<Parameters<Client["delete"]>[2]>,
): Parameters<Verbs["delete"]>[2] {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options;
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(preconditions !== undefined && { preconditions }),
    ...(dryRun === true && { dryRun: ["All"] }),
  };
}

function isJson({ headers }: HttpResponse): boolean {
  return headers["content-type"] === JSON_TYPE;
}

function refusalOf(response: HttpResponse): Refused {
  const text = textOf(response.body);
  const value: unknown = isJson(response) ? JSON.parse(text) : undefined;
  const isStatus = typeof value === "object" && value !== null && "code" in value;
  const status = isStatus ? (value as Refused["status"]) : undefined;
  return new Refused(status ?? failure(response.status, undefined, text));
}

function textOf(body: HttpResponse["body"]): string {
  const parts = body instanceof Uint8Array ? [body] : Array.isArray(body) ? body : [];
  return (parts as readonly Uint8Array[]).map((part) => decoder.decode(part)).join("");
}

const decoder = new TextDecoder();
