/** Requests on resources: reads parameters and body, calls the verb, writes its answer in the form asked for. */
import { type AnyObject, apiVersionOf, type Steps } from "@lifeboat/api";
import { type Clock, unreachable } from "@lifeboat/base";
import type { ServedResource } from "../catalog/served-resource.ts";
import type {
  Found,
  ListAnswer,
  RequestContext,
  Target,
  Verbs,
  WatchParameters,
} from "../verbs/verbs.ts";
import { isSmallBody, patchTypeOf, readDeleteOptions, readObject, readPatch } from "./body.ts";
import type { BodyTurns } from "./body-turns.ts";
import type { HttpRequest } from "./exchange.ts";
import {
  bodyOfPieces,
  itemPrefix,
  listMeta,
  listPieces,
  listValue,
  metadataPieces,
  tablePieces,
} from "./list-body.ts";
import { type Endpoint, type Format, type Negotiator, notAcceptable } from "./media-type.ts";
import type { HttpMetrics } from "./metrics.ts";
import { listParameters, patchParameters, watchParameters, writeParameters } from "./parameters.ts";
import type { ResourcePath } from "./path.ts";
import type { Query } from "./query.ts";
import type { ResourceVerb } from "./resource-verb.ts";
import { bytesDraft, contentType, type Draft, valueDraft } from "./respond.ts";
import {
  includeObjectOf,
  partialMetadata,
  SCALE_PRINTER,
  type TableForm,
  tableOf,
} from "./table.ts";
import type { FrameEncoder, WatchStreams } from "./watch-stream.ts";

/** A request whose resource, verb and user are known. */
export interface ResourceRequest {
  readonly http: HttpRequest;
  readonly path: ResourcePath;
  readonly query: Query;
  readonly resource: ServedResource;
  readonly context: RequestContext;
}

export interface ResourceServerDeps {
  readonly clock: Clock;
  readonly verbs: Verbs;
  readonly negotiator: Negotiator;
  readonly watchStreams: WatchStreams;
  readonly metrics: HttpMetrics;
  readonly turns: BodyTurns;
}

export type ServeResource = (request: ResourceRequest, verb: ResourceVerb) => Promise<Draft>;

/** Longer and larger lists are not indented: they would have to be encoded as a whole, while every other client waits. */
const MAX_PRETTY_ITEMS = 5000;
const MAX_PRETTY_BYTES = 4 * 1024 * 1024;
/** Longer and larger lists are not written as YAML, which is slow: the client is answered that it has to page. */
const MAX_YAML_ITEMS = 500;
const MAX_YAML_BYTES = 1024 * 1024;
/** What an item is taken for that is not shown as it is stored. */
const ASSUMED_ITEM_BYTES = 4096;

export function createResourceServer(deps: ResourceServerDeps): ServeResource {
  const server = new ResourceServer(deps);
  return (request, verb) => server.serve(request, verb);
}

class ResourceServer {
  readonly #deps: ResourceServerDeps;
  readonly #prefixes = new WeakMap<ServedResource, Uint8Array>();
  #openWatches = 0;

  constructor(deps: ResourceServerDeps) {
    this.#deps = deps;
  }

  serve(request: ResourceRequest, verb: ResourceVerb): Promise<Draft> {
    switch (verb) {
      case "get":
        return this.#get(request);
      case "list":
        return this.#list(request);
      case "watch":
        return this.#watch(request);
      case "create":
        return this.#create(request);
      case "update":
        return this.#update(request);
      case "patch":
        return this.#patch(request);
      case "delete":
        return this.#delete(request);
      case "deletecollection":
        return this.#deleteCollection(request);
      default:
        return unreachable(verb);
    }
  }

  async #get(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "object");
    const version = request.query.text("resourceVersion");
    const found = await this.#deps.verbs.get(request.context, targetOf(request), version);
    return this.#objectDraft(200, found, request, format);
  }

  async #list(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "list");
    const parameters = listParameters(request.query);
    const answer = await this.#deps.verbs.list(request.context, targetOf(request), parameters);
    return this.#listDraft(answer, request, format);
  }

  async #create(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "object");
    const parameters = writeParameters(request.query, "CreateOptions");
    const body = await this.#decoded(request, readObject(request.http, request.resource.kind));
    const target = targetOf(request);
    const answer = await this.#deps.verbs.create(request.context, target, body, parameters);
    // A Status has no columns: a client that asked for a table gets it as it is.
    if (answer.object.kind === "Status")
      return valueDraft(201, answer.object, { ...format, as: "object" });
    return this.#objectDraft(answer.created ? 201 : 200, answer, request, format);
  }

  async #update(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "object");
    const parameters = writeParameters(request.query, "UpdateOptions");
    const body = await this.#decoded(request, readObject(request.http, kindOf(request)));
    const target = targetOf(request);
    const answer = await this.#deps.verbs.update(request.context, target, body, parameters);
    return this.#objectDraft(answer.created ? 201 : 200, answer, request, format);
  }

  async #patch(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "object");
    const type = patchTypeOf(request.http, request.resource);
    const parameters = patchParameters(request.query, type === "apply");
    const patch = await this.#decoded(request, readPatch(request.http, type));
    const target = targetOf(request);
    const answer = await this.#deps.verbs.patch(request.context, target, patch, parameters);
    return this.#objectDraft(answer.created ? 201 : 200, answer, request, format);
  }

  async #delete(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "object");
    const options = await this.#decoded(request, readDeleteOptions(request.http, request.query));
    const target = targetOf(request);
    const answer = await this.#deps.verbs.delete(request.context, target, options);
    if (answer.kind === "gone") return valueDraft(200, answer.status, format);
    return this.#objectDraft(200, answer, request, format);
  }

  async #deleteCollection(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "list");
    const parameters = listParameters(request.query);
    const options = await this.#decoded(request, readDeleteOptions(request.http, request.query));
    const target = targetOf(request);
    const answer = await this.#deps.verbs.deleteCollection(
      request.context,
      target,
      parameters,
      options,
    );
    return this.#listDraft(answer, request, format);
  }

  async #watch(request: ResourceRequest): Promise<Draft> {
    const format = this.#format(request, "watch");
    const parameters = namedByPath(watchParameters(request.query), request.path);
    const encode = this.#frameEncoder(request, format);
    const target = { ...targetOf(request), name: "" };
    const stream = await this.#deps.watchStreams.open(
      encode,
      (sink) => this.#deps.verbs.watch(request.context, target, parameters, sink),
      (why) => {
        this.#countWatches(-1);
        if (why === "slow") this.#deps.metrics.watchesCutOff.add(1, {});
      },
    );
    this.#countWatches(1);
    return { status: 200, headers: { "content-type": contentType(format) }, body: stream };
  }

  #countWatches(by: number): void {
    this.#openWatches += by;
    this.#deps.metrics.watches.set(this.#openWatches, {});
  }

  #frameEncoder(request: ResourceRequest, format: Format): FrameEncoder {
    const { watchStreams, clock } = this.#deps;
    const { resource } = request;
    if (format.as === "table")
      return watchStreams.tableFrames(tableForm(request, format), () => clock.now());
    if (format.as !== "object") return watchStreams.metadataFrames(format.metaVersion);
    return watchStreams.objectFrames({ kind: resource.kind, apiVersion: apiVersionOf(resource) });
  }

  #decoded<T>(request: ResourceRequest, steps: Steps<T>): T | Promise<T> {
    return this.#deps.turns.run(steps, isSmallBody(request.http));
  }

  /** What the client accepts; refused before anything is done when it cannot be given. */
  #format(request: ResourceRequest, endpoint: Endpoint): Format {
    const { http, query, resource } = request;
    const format = this.#deps.negotiator.negotiate(http.headers["accept"], endpoint);
    if (endpoint === "list" && format.as === "metadata")
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${typeName(resource, true)})`,
      );
    if (endpoint === "object" && format.as === "metadataList")
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${typeName(resource, false)})`,
      );
    if (format.as === "table") includeObjectOf(query);
    return wantsPretty(http, query) ? { ...format, pretty: true } : format;
  }

  #objectDraft(status: number, found: Found, request: ResourceRequest, format: Format): Draft {
    const { object, bytes } = found;
    if (format.as === "table") {
      const { resourceVersion } = object.metadata;
      const form = tableForm(request, format);
      const table = tableOf(form, { resourceVersion }, [object], this.#deps.clock.now());
      return valueDraft(status, table, format);
    }
    if (format.as !== "object")
      return valueDraft(status, partialMetadata(object, format.metaVersion), format);
    if (bytes !== undefined && format.media === "json" && !format.pretty)
      return bytesDraft(status, contentType(format), bytes);
    return valueDraft(status, object, format);
  }

  #listDraft(answer: ListAnswer, request: ResourceRequest, format: Format): Draft {
    const mayIndent = (): boolean =>
      answer.items.length <= MAX_PRETTY_ITEMS && bytesOf(answer) <= MAX_PRETTY_BYTES;
    if (format.media === "yaml" || (format.pretty && mayIndent()))
      return this.#wholeListDraft(answer, request, format);
    return {
      status: 200,
      headers: { "content-type": contentType(format) },
      body: bodyOfPieces(this.#listPieces(answer, request, format)),
    };
  }

  #listPieces(
    answer: ListAnswer,
    request: ResourceRequest,
    format: Format,
  ): Generator<Uint8Array, undefined> {
    if (format.as === "table")
      return tablePieces(tableForm(request, format), answer, this.#deps.clock.now());
    if (format.as === "metadataList") return metadataPieces(format.metaVersion, answer);
    return listPieces(request.resource, this.#prefixOf(request.resource), answer);
  }

  #prefixOf(resource: ServedResource): Uint8Array {
    let prefix = this.#prefixes.get(resource);
    if (prefix === undefined) {
      prefix = itemPrefix(resource);
      this.#prefixes.set(resource, prefix);
    }
    return prefix;
  }

  /** Lists in forms that must be written as a whole. */
  #wholeListDraft(answer: ListAnswer, request: ResourceRequest, format: Format): Draft {
    if (format.media === "yaml" && answer.items.length > MAX_YAML_ITEMS)
      throw notAcceptable(
        `a list of ${answer.items.length} items is too long for application/yaml: ask for application/json, or for at most ${MAX_YAML_ITEMS} items by limit`,
      );
    if (format.media === "yaml" && answer.items.length > 1 && bytesOf(answer) > MAX_YAML_BYTES)
      throw notAcceptable(
        `a list of ${bytesOf(answer)} bytes is too long for application/yaml: ask for application/json, or for fewer items by limit`,
      );
    const objects: readonly AnyObject[] = answer.items.map((item) => item.object);
    if (format.as === "table") {
      const form = tableForm(request, format);
      const table = tableOf(form, listMeta(answer), objects, this.#deps.clock.now());
      return valueDraft(200, table, format);
    }
    if (format.as === "metadataList")
      return valueDraft(
        200,
        {
          kind: "PartialObjectMetadataList",
          apiVersion: `meta.k8s.io/${format.metaVersion}`,
          metadata: listMeta(answer),
          items: objects.map((object) => partialMetadata(object, format.metaVersion)),
        },
        format,
      );
    return valueDraft(200, listValue(request.resource, answer), format);
  }
}

function bytesOf(answer: ListAnswer): number {
  let bytes = 0;
  for (const item of answer.items) bytes += item.bytes?.length ?? ASSUMED_ITEM_BYTES;
  return bytes;
}

function targetOf(request: ResourceRequest): Target {
  const { path, resource } = request;
  return {
    resource,
    namespace: path.namespace,
    name: path.name,
    subresource: path.subresource,
  };
}

function kindOf(request: ResourceRequest): string {
  return request.path.subresource === "scale" ? "Scale" : request.resource.kind;
}

/** A legacy watch path may name one object; that is a field selector. */
function namedByPath(parameters: WatchParameters, path: ResourcePath): WatchParameters {
  if (path.name === "") return parameters;
  const named = `metadata.name=${path.name}`;
  const { fieldSelector } = parameters;
  return {
    ...parameters,
    fieldSelector: fieldSelector === "" ? named : `${fieldSelector},${named}`,
  };
}

function tableForm(request: ResourceRequest, format: Format): TableForm {
  const isScale = request.path.subresource === "scale";
  return {
    printer: isScale ? SCALE_PRINTER : request.resource.printer,
    includeObject: includeObjectOf(request.query),
    metaVersion: format.metaVersion,
  };
}

/** A type as the real server's messages call it. */
function typeName(resource: ServedResource, isList: boolean): string {
  if (resource.custom) return `*unstructured.Unstructured${isList ? "List" : ""}`;
  const group = resource.group === "" ? "core" : resource.group.split(".")[0];
  return `*${group}.${isList ? resource.listKind : resource.kind}`;
}

/** People get indented JSON: a client that asks for it, a browser, and curl. */
function wantsPretty(http: HttpRequest, query: Query): boolean {
  const asked = query.get("pretty");
  if (asked !== undefined && asked !== "") return asked === "1" || asked.toLowerCase() === "true";
  const agent = http.headers["user-agent"];
  if (agent === undefined) return false;
  return agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
}
