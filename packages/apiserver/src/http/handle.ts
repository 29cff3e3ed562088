/**
 * From a request to its answer, without a transport:
 *
 *   parse the path → authenticate → impersonate → authorize → find the resource → in-flight limit → verb → answer
 *
 * 1. Every request gets exactly one answer. A `Refused` becomes its Status; whatever else is thrown becomes a 500 and a
 *    line in the log, and the server goes on.
 * 2. A request is authorized as soon as its user, verb and path are known: before its resource is looked for, its options are
 *    read and its body is decoded. So a user without rights costs what a request line costs, whatever the body holds. The
 *    verb does not ask again (`RequestContext.authorizedVerb`).
 * 3. A large body is decoded in pieces, and between two of them others are served (body-turns.ts).
 * 4. A request for a member is passed on while its body arrives (`MemberProxy`); it is authorized as `clusters/proxy`.
 * 5. Answers are not compressed, and neither are bodies: one with a Content-Encoding is read as it is, and not understood.
 */
import { badRequest, failure, internalError, type JsonObject, Refused } from "@lifeboat/api";
import { type Clock, type Ids, parseDuration } from "@lifeboat/base";
import type { Log, Metrics } from "@lifeboat/kit";
import type { AuthenticateToken } from "../authentication/tokens.ts";
import { authorize } from "../authorization/authorize.ts";
import { resourceAttributes } from "../authorization/attributes.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import { RightChecks } from "../verbs/right-checks.ts";
import type { User } from "../authentication/user.ts";
import type { RequestContext, Verbs } from "../verbs/verbs.ts";
import { ANONYMOUS, createAuthenticator, impersonate } from "./authentication.ts";
import type { Auditor, AuditRecord } from "./audit/auditor.ts";
import { checkBodySize } from "./body.ts";
import { BodyTurns, type NextTurn } from "./body-turns.ts";
import { connectedSubresources } from "./connected-subresources.ts";
import { createDiscovery } from "./discovery.ts";
import type { Handle, HttpRequest, HttpResponse } from "./exchange.ts";
import { guarded } from "./guarded-answer.ts";
import { InFlight, type InFlightLimits, requestKind } from "./in-flight.ts";
import { createNegotiator } from "./media-type.ts";
import { createHttpMetrics } from "./metrics.ts";
import { isWatch } from "./parameters.ts";
import type { MemberProxy } from "./member-proxy.ts";
import { type MemberPath, type ParsedPath, parsePath, type ResourcePath } from "./path.ts";
import { askedLog, isLogPath, type PodLogs } from "./pod-logs.ts";
import { askedStream, isStreamPath, type PodStreams } from "./pod-streams.ts";
import { Query } from "./query.ts";
import {
  checkOffered,
  memberVerbOf,
  methodNotAllowed,
  resourceNotFound,
  type ResourceVerb,
  verbOf,
} from "./resource-verb.ts";
import { type Draft, finish, pageNotFound, statusDraft } from "./respond.ts";
import { createPathServer, type Health, type OpenApiDocuments } from "./serve-path.ts";
import { askMember, memberAttributes } from "./serve-member.ts";
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
  readonly authenticateToken: AuthenticateToken;
  /** The keys of this server's own tokens, as a JSON Web Key Set; absent: it issues none. */
  readonly publicKeys?: JsonObject | undefined;
  readonly gitVersion: string;
  /** The way into members; absent: there are none. */
  readonly members?: MemberProxy | undefined;
  /** Logs of pods; absent: there are none. */
  readonly podLogs?: PodLogs | undefined;
  /** Commands in pods and connections into them; absent: there are none. */
  readonly podStreams?: PodStreams | undefined;
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
  const authenticate = createAuthenticator(deps.authenticateToken);
  const inFlight = new InFlight(limits, metrics);
  const watchStreams = createWatchStreams(log, limits);
  const rightChecks = new RightChecks(clock, authorizer);
  const turns = new BodyTurns(deps.nextTurn);
  const serveResource = createResourceServer({ ...deps, negotiator, watchStreams, metrics, turns });
  const servePath = createPathServer({
    ...deps,
    discovery: createDiscovery(catalog, connectedSubresources(deps)),
  });

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
    const verb = askedVerb(http, path, query);
    exchange.auditId = auditIdOf(http, ids);
    exchange.record = await auditor.received(exchange, path, verb);
  }

  async function serve(exchange: Exchange): Promise<Draft> {
    const { http } = exchange;
    const mark = http.url.indexOf("?");
    const path = parsePath(mark < 0 ? http.url : http.url.slice(0, mark));
    if (path.kind === "malformed")
      throw badRequest(`the request path is malformed: ${path.reason}`);
    const query = new Query(mark < 0 ? "" : http.url.slice(mark + 1));
    const authenticated = authenticate(http);
    exchange.authenticated = authenticated instanceof Promise ? await authenticated : authenticated;
    exchange.user = impersonate(authorizer, exchange.authenticated, http.headers);
    if (deps.auditor !== undefined) await beginAudit(deps.auditor, exchange, path, query);
    if (path.kind === "resource") return serveResourcePath(exchange, path, query);
    if (path.kind === "member")
      return serveMember(exchange, path, mark < 0 ? "" : http.url.slice(mark + 1));
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
    const asked = verb ?? http.method.toLowerCase();
    authorize(
      authorizer,
      resourceAttributes(exchange.user, asked, path, query.text("fieldSelector")),
    );
    exchange.authorizedVerb = asked;
    if (deps.podLogs !== undefined && isLogPath(path)) {
      if (verb !== "get") throw methodNotAllowed();
      exchange.label = { verb: "CONNECT", resource: "pods" };
      return whileAllowed(exchange, path, asked, await deps.podLogs.read(askedLog(path, query)));
    }
    if (deps.podStreams !== undefined && isStreamPath(path))
      return servePodStream(deps.podStreams, exchange, path, query);
    const resource = catalog.find(path.group, path.version, path.plural);
    if (resource === undefined) return nothingServed(path.group, path.version);
    checkOffered(resource, path, verb);
    if (verb === undefined) throw methodNotAllowed();
    checkBodySize(http);
    exchange.label = { verb: METRIC_VERBS[verb], resource: resource.plural };
    warnOfDeprecation(exchange, resource);
    const request = { http, path, query, resource, context: exchange };
    if (verb === "watch") return serveResource(request, verb);
    return inFlight.run(requestKind(verb, path), exchange.user.name, () =>
      withDeadline(query, () => serveResource(request, verb)),
    );
  }

  /** WebSocket clients ask by GET; a command in a pod is no read, so it needs the right to create in any case. */
  async function servePodStream(
    streams: PodStreams,
    exchange: Exchange,
    path: ResourcePath,
    query: Query,
  ): Promise<Draft> {
    const { http, user } = exchange;
    if (http.method !== "GET" && http.method !== "POST") throw methodNotAllowed();
    authorize(authorizer, resourceAttributes(user, "create", path, ""));
    exchange.label = { verb: "CONNECT", resource: "pods" };
    const answer = await streams.open(askedStream(http, path, query));
    return whileAllowed(exchange, path, "create", answer);
  }

  /** The answer, which breaks off when the right to it is taken away. */
  function whileAllowed(
    { user }: Exchange,
    path: ResourcePath,
    verb: string,
    answer: HttpResponse,
  ): Draft {
    const attributes = resourceAttributes(user, verb, path, "");
    const lasting = guarded(answer, (refused) => rightChecks.join(attributes, refused));
    return { ...lasting, headers: { ...lasting.headers } };
  }

  /** Nothing of the body has been read here, and no time limit holds: streams of members may be silent for long. */
  async function serveMember(exchange: Exchange, path: MemberPath, query: string): Promise<Draft> {
    const { http, user } = exchange;
    const attributes = memberAttributes(http, path, user);
    authorize(authorizer, attributes);
    const { members } = deps;
    if (members === undefined) return nothingServed(path.group, path.version);
    exchange.label = { verb: "CONNECT", resource: "clusters" };
    const answer = await askMember(members, http, path, query, user);
    const lasting = guarded(answer, (refused) => rightChecks.join(attributes, refused));
    return { ...lasting, headers: { ...lasting.headers } };
  }

  /** A resource that does not exist: a Status when its group and version do, else a page. */
  function nothingServed(group: string, version: string): Draft {
    if (catalog.resources(group, version).length === 0) return pageNotFound();
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
  authorizedVerb: string | undefined = undefined;
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

/** The verb of a request as rights and the audit name it. */
function askedVerb({ method }: HttpRequest, path: ParsedPath, query: Query): string {
  const verb =
    path.kind === "resource"
      ? verbOf(method, path, isWatch(query))
      : path.kind === "member"
        ? memberVerbOf(method)
        : undefined;
  return verb ?? method.toLowerCase();
}

const OTHER_LABEL = { verb: "OTHER", resource: "" };

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
