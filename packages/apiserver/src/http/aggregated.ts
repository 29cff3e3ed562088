/**
 * The group `proxy.lifeboat.dev` as a kube-apiserver aggregates it: the way into members and nothing else. The kube-apiserver
 * has authenticated the user and passes the request on.
 *
 *   front proxy → user → parse → authorize (a question to the kube-apiserver) → the proxy
 *
 * 1. A request whose sender may not name users is refused with 401, before anything of it is read.
 * 2. Rights are asked for before the proxy is, and again while the answer lasts.
 * 3. What another replica passes on was authorized there, and is not passed on once more.
 */
import { badRequest, failure, internalError, type JsonObject, Refused } from "@lifeboat/api";
import type { Cancel, Clock } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import { forbiddenFor } from "../authorization/authorize.ts";
import type { ResourceAttributes } from "../authorization/authorizer.ts";
import type { User } from "../authentication/user.ts";
import type { Handle, HttpRequest, HttpResponse } from "./exchange.ts";
import { guarded } from "./guarded-answer.ts";
import type { MemberProxy } from "./member-proxy.ts";
import { type MemberPath, parsePath, PROXY_GROUP, PROXY_VERSION } from "./path.ts";
import { methodNotAllowed } from "./resource-verb.ts";
import { type Draft, pageNotFound, statusDraft, valueDraft } from "./respond.ts";
import { askMember, memberAttributes } from "./serve-member.ts";

/** The user of a request, and whether another replica has passed it on. */
export interface PassedOn {
  readonly user: User;
  readonly byReplica: boolean;
}

export interface AggregatedDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: the sender may not name users, or names none. */
  readonly userOf: (request: HttpRequest) => PassedOn | undefined;
  /** Asks the API server whether the user may; rejects when there is no answer. */
  readonly review: (
    attributes: ResourceAttributes,
  ) => Promise<{ readonly allowed: boolean; readonly reason: string }>;
  readonly members: MemberProxy;
}

/** How often the right to an answer that lasts is asked for again: the cost is one review per stream and minute. */
const REVIEW_AGAIN_MS = 60_000;

const JSON_FORMAT = { media: "json", pretty: false, as: "object", metaVersion: "v1" } as const;

export function createAggregatedHandle(deps: AggregatedDeps): Handle {
  const { log } = deps;
  return async (http) => {
    let draft: Draft;
    try {
      draft = await serve(deps, http);
    } catch (error) {
      draft = refusal(log, error, http);
    }
    // The kube-apiserver adds the rest of what its answers carry.
    draft.headers["cache-control"] ??= "no-cache, private";
    return draft;
  };
}

async function serve(deps: AggregatedDeps, http: HttpRequest): Promise<Draft> {
  const passedOn = deps.userOf(http);
  if (passedOn === undefined) throw new Refused(failure(401, "Unauthorized", "Unauthorized"));
  const mark = http.url.indexOf("?");
  const path = parsePath(mark < 0 ? http.url : http.url.slice(0, mark));
  if (path.kind === "malformed") throw badRequest(`the request path is malformed: ${path.reason}`);
  if (path.kind === "member" && path.group === PROXY_GROUP)
    return serveMember(deps, http, path, mark < 0 ? "" : http.url.slice(mark + 1), passedOn);
  const document = path.kind === "other" ? DISCOVERY.get(path.text) : undefined;
  if (document === undefined) return pageNotFound();
  if (http.method !== "GET" && http.method !== "HEAD") throw methodNotAllowed();
  return valueDraft(200, document, JSON_FORMAT);
}

async function serveMember(
  deps: AggregatedDeps,
  http: HttpRequest,
  path: MemberPath,
  query: string,
  { user, byReplica }: PassedOn,
): Promise<Draft> {
  const attributes = memberAttributes(http, path, user);
  if (!byReplica) {
    const { allowed, reason } = await deps.review(attributes).catch((error: unknown) => {
      throw notReviewed(deps.log, error);
    });
    if (!allowed) throw forbiddenFor(attributes, reason);
  }
  const answer = await askMember(deps.members, http, path, query, user, byReplica);
  const lasting: HttpResponse = byReplica
    ? answer
    : guarded(answer, (refused) => whileAllowed(deps, attributes, refused));
  return { ...lasting, headers: { ...lasting.headers } };
}

function notReviewed(log: Log, error: unknown): Refused {
  log.warn("the right to a request for a member cannot be reviewed", { error });
  const message = "whether this is allowed cannot be asked at present: please try again later";
  return new Refused(failure(503, "ServiceUnavailable", message));
}

/** Calls `refused` once the API server has denied the right; no answer is no denial. */
function whileAllowed(
  { clock, review, log }: AggregatedDeps,
  attributes: ResourceAttributes,
  refused: () => void,
): Cancel {
  let cancel: Cancel;
  let isOver = false;
  const wait = (): void => {
    cancel = clock.after(REVIEW_AGAIN_MS, () => void again());
  };
  const again = async (): Promise<void> => {
    try {
      const { allowed } = await review(attributes);
      if (isOver) return;
      if (!allowed) {
        isOver = true;
        refused();
        return;
      }
    } catch (error) {
      log.warn("the right to a request that lasts cannot be reviewed, trying again", { error });
    }
    if (!isOver) wait();
  };
  wait();
  return () => {
    isOver = true;
    cancel();
  };
}

function refusal(log: Log, error: unknown, http: HttpRequest): Draft {
  if (error instanceof Refused) return statusDraft(error.status, JSON_FORMAT);
  log.error("handling a request for a member", { error, method: http.method });
  return statusDraft(internalError("the request could not be handled").status, JSON_FORMAT);
}

const VERSION = { groupVersion: `${PROXY_GROUP}/${PROXY_VERSION}`, version: PROXY_VERSION };
const GROUP: JsonObject = {
  kind: "APIGroup",
  apiVersion: "v1",
  name: PROXY_GROUP,
  versions: [VERSION],
  preferredVersion: VERSION,
};

/** What a kube-apiserver asks in order to know what is here. */
const DISCOVERY: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [`/apis/${PROXY_GROUP}`, GROUP],
  [
    `/apis/${PROXY_GROUP}/${PROXY_VERSION}`,
    {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: VERSION.groupVersion,
      resources: [
        connected("attach", ["get"]),
        connected("proxy", ["create", "delete", "get", "patch", "update"]),
      ],
    },
  ],
]);

function connected(subresource: string, verbs: readonly string[]): JsonObject {
  return {
    name: `clusters/${subresource}`,
    singularName: "",
    namespaced: false,
    group: "cluster.karmada.io",
    version: "v1alpha1",
    kind: "Cluster",
    verbs,
  };
}
