/**
 * From a request to its answer, without a transport:
 *
 *   parse the path → authenticate → impersonate → authorize → find the resource → in-flight limit → verb → answer
 *
 * 1. Every request gets exactly one answer. A `Refused` becomes its Status; whatever else is thrown becomes a 500 and a
 *    line in the log, and the server goes on.
 * 2. A request is authorized as soon as its user, verb and path are known: before its resource is looked for, its options are
 *    read and its body is decoded. So a user without rights costs what a request line costs, whatever the body holds. The
 *    verbs ask once more, because the in-process client passes there alone.
 * 3. A large body is decoded in pieces, and between two of them others are served (body-turns.ts).
 * 4. Answers are not compressed, and neither are bodies: one with a Content-Encoding is read as it is, and not understood.
 */
import { badRequest, failure, internalError, Refused } from "@lifeboat/api";
import { type Clock, type Ids, parseDuration } from "@lifeboat/base";
import type { Log, Metrics } from "@lifeboat/kit";
import { authorize } from "../authorization/authorize.ts";
import type { Attributes, Authorizer } from "../authorization/authorizer.ts";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import type { RequestContext, User, Verbs } from "../verbs/verbs.ts";
import { ANONYMOUS, createAuthenticator, impersonate } from "./authentication.ts";
import type { Auditor, AuditRecord } from "./audit/auditor.ts";
import { checkBodySize } from "./body.ts";
import { BodyTurns, type NextTurn } from "./body-turns.ts";
import { createDiscovery } from "./discovery.ts";
import type { Handle, HttpRequest } from "./exchange.ts";
import { InFlight, type InFlightLimits } from "./in-flight.ts";
import { createNegotiator } from "./media-type.ts";
import { createHttpMetrics } from "./metrics.ts";
import { isWatch } from "./parameters.ts";
import { type ParsedPath, parsePath, type ResourcePath } from "./path.ts";
import { Query } from "./query.ts";
import {
  checkOffered,
  methodNotAllowed,
  resourceNotFound,
  type ResourceVerb,
  verbOf,
} from "./resource-verb.ts";
import { type Draft, finish, pageNotFound, statusDraft } from "./respond.ts";
import { createPathServer, type Health, type OpenApiDocuments } from "./serve-path.ts";
import { createResourceServer } from "./serve-resource.ts";
import { createWatchStreams, type WatchLimits } from "./watch-stream.ts";

export interface HandleDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly verbs: Verbs;
  readonly catalog: Catalog;
  readonly authorizer: Authorizer;
  readonly openApi: OpenApiDocuments;
  readonly health: Health;
  /** Static bearer tokens. */
  readonly tokens: ReadonlyMap<string, User>;
  readonly gitVersion: string;
  readonly limits?: HandleLimits;
  /** Absent: nothing is recorded. */
  readonly auditor?: Auditor | undefined;
  /** See BodyTurns; absent: bodies are decoded at once. */
  readonly nextTurn?: NextTurn | undefined;
}

export interface HandleLimits extends InFlightLimits, WatchLimits {
  /** For requests that are not watches; `?timeout=` can only shorten it. */
  readonly requestTimeoutMs: number;
}

export const DEFAULT_HANDLE_LIMITS: HandleLimits = Object.freeze({
  reads: 400,
  writes: 200,
  maxQueuedFrames: 1000,
  maxQueuedBytes: 4 * 1024 * 1024,
  maxBacklogEvents: 50_000,
  requestTimeoutMs: 60_000,
});

export function createHandle(deps: HandleDeps): Handle {
  const limits = deps.limits ?? DEFAULT_HANDLE_LIMITS;
  const { clock, ids, log, catalog, authorizer } = deps;
  const metrics = createHttpMetrics(deps.metrics);
  const negotiator = createNegotiator();
  const authenticate = createAuthenticator(deps.tokens);
  const inFlight = new InFlight(limits, metrics);
  const watchStreams = createWatchStreams(log, limits);
  const turns = new BodyTurns(deps.nextTurn);
  const serveResource = createResourceServer({ ...deps, negotiator, watchStreams, metrics, turns });
  const servePath = createPathServer({ ...deps, discovery: createDiscovery(catalog) });

  return async (http) => {
    const began = clock.monotonic();
    const exchange = new Exchange(http);
    let draft: Draft;
    try {
      draft = await serve(exchange);
    } catch (error) {
      draft = refusal(error, http);
    }
    const { verb, resource } = exchange.label;
    metrics.requests.add(1, { verb, resource, code: String(draft.status) });
    metrics.durations.observe((clock.monotonic() - began) / 1000, { verb });
    exchange.auditId ||= auditIdOf(http, ids);
    const response = finish(draft, exchange.auditId, exchange.warnings);
    return exchange.record === undefined ? response : exchange.record.answered(response);
  };

  async function beginAudit(
    auditor: Auditor,
    exchange: Exchange,
    path: ParsedPath,
    query: Query,
  ): Promise<void> {
    const { http } = exchange;
    const verb = path.kind === "resource" ? verbOf(http.method, path, isWatch(query)) : undefined;
    exchange.auditId = auditIdOf(http, ids);
    exchange.record = await auditor.received(exchange, path, verb ?? http.method.toLowerCase());
  }

  async function serve(exchange: Exchange): Promise<Draft> {
    const { http } = exchange;
    const mark = http.url.indexOf("?");
    const path = parsePath(mark < 0 ? http.url : http.url.slice(0, mark));
    if (path.kind === "malformed")
      throw badRequest(`the request path is malformed: ${path.reason}`);
    const query = new Query(mark < 0 ? "" : http.url.slice(mark + 1));
    exchange.authenticated = authenticate(http);
    exchange.user = impersonate(authorizer, exchange.authenticated, http.headers);
    if (deps.auditor !== undefined) await beginAudit(deps.auditor, exchange, path, query);
    if (path.kind === "resource") return serveResourcePath(exchange, path, query);
    authorize(authorizer, {
      kind: "path",
      user: exchange.user,
      verb: http.method.toLowerCase(),
      path: path.text,
    });
    checkBodySize(http);
    return withDeadline(query, () => servePath(http, path.segments, query));
  }

  async function serveResourcePath(
    exchange: Exchange,
    path: ResourcePath,
    query: Query,
  ): Promise<Draft> {
    const { http } = exchange;
    const verb = verbOf(http.method, path, isWatch(query));
    authorize(authorizer, attributesOf(exchange.user, path, verb ?? http.method.toLowerCase()));
    const resource = catalog.find(path.group, path.version, path.plural);
    if (resource === undefined) return nothingServed(path);
    checkOffered(resource, path, verb);
    if (verb === undefined) throw methodNotAllowed();
    checkBodySize(http);
    exchange.label = { verb: METRIC_VERBS[verb], resource: resource.plural };
    warnOfDeprecation(exchange, resource);
    const request = { http, path, query, resource, context: exchange };
    if (verb === "watch") return serveResource(request, verb);
    const kind = verb === "get" || verb === "list" ? "readOnly" : "mutating";
    return inFlight.run(kind, () => withDeadline(query, () => serveResource(request, verb)));
  }

  /** A resource that does not exist: a Status when its group and version do, else a page. */
  function nothingServed(path: ResourcePath): Draft {
    if (catalog.resources(path.group, path.version).length === 0) return pageNotFound();
    throw resourceNotFound();
  }

  /** Refuses with 504 when the work takes too long. The work itself goes on; only its answer comes too late. */
  function withDeadline(query: Query, work: () => Promise<Draft>): Promise<Draft> {
    const timeout = deadlineOf(query, limits.requestTimeoutMs);
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timeout, () => reject(tooLate()));
      work().then(
        (draft) => {
          cancel();
          resolve(draft);
        },
        (error: unknown) => {
          cancel();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  function refusal(error: unknown, http: HttpRequest): Draft {
    const format = negotiator.negotiateStatus(http.headers["accept"]);
    if (error instanceof Refused) return statusDraft(error.status, format);
    log.error("handling a request", { error, method: http.method, url: http.url.slice(0, 500) });
    return statusDraft(internalError("the request could not be handled").status, format);
  }
}

const METRIC_VERBS: Readonly<Record<ResourceVerb, string>> = {
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
};

/** What is known about one request while it is handled; the verbs see it as their context. */
class Exchange implements RequestContext {
  readonly http: HttpRequest;
  readonly warnings: string[] = [];
  user: User = ANONYMOUS;
  /** Before impersonation. */
  authenticated: User = ANONYMOUS;
  auditId = "";
  record: AuditRecord | undefined;
  label: { readonly verb: string; readonly resource: string } = OTHER_LABEL;

  constructor(http: HttpRequest) {
    this.http = http;
  }

  /** Asked for only by verbs that wait: transports make the signal when it is asked for. */
  get signal(): AbortSignal {
    return this.http.signal;
  }

  get userAgent(): string {
    return this.http.headers["user-agent"] ?? "";
  }

  warn(text: string): void {
    if (!this.warnings.includes(text)) this.warnings.push(text);
  }
}

const OTHER_LABEL = { verb: "OTHER", resource: "" };

function attributesOf(user: User, path: ResourcePath, verb: string): Attributes {
  const { group, version, plural, subresource, namespace, name } = path;
  return { kind: "resource", user, verb, group, version, plural, subresource, namespace, name };
}

function warnOfDeprecation(exchange: Exchange, resource: ServedResource): void {
  if (resource.deprecationWarning !== undefined) exchange.warn(resource.deprecationWarning);
}

const MAX_AUDIT_ID_LENGTH = 64;

/** The client's own id when it sent a usable one, so that its log and ours can be joined. */
function auditIdOf(http: HttpRequest, ids: Ids): string {
  const sent = http.headers["audit-id"];
  if (sent === undefined || sent === "" || sent.length > MAX_AUDIT_ID_LENGTH) return ids.uid();
  for (let i = 0; i < sent.length; i++) {
    const code = sent.charCodeAt(i);
    if (code < 33 || code > 126) return ids.uid();
  }
  return sent;
}

function deadlineOf(query: Query, maximumMs: number): number {
  const text = query.get("timeout");
  if (text === undefined || text === "") return maximumMs;
  const timeout = parseDuration(text);
  if (timeout === undefined) {
    const problem = Number.isNaN(Number(text)) ? "invalid duration" : "missing unit in duration";
    throw badRequest(
      `invalid timeout specified in the request URL - time: ${problem} ${JSON.stringify(text)}`,
    );
  }
  return timeout > 0 ? Math.min(timeout, maximumMs) : maximumMs;
}

function tooLate(): Refused {
  const message = "Timeout: request did not complete within the allotted timeout";
  return new Refused(failure(504, "Timeout", message, {}));
}
