/** A request for a member: the right that it needs, and the question to the proxy. For every server that has a proxy. */
import { badRequest } from "@lifeboat/api";
import type { ResourceAttributes } from "../authorization/authorizer.ts";
import type { User } from "../authentication/user.ts";
import type { HttpRequest, HttpResponse } from "./exchange.ts";
import type { MemberProxy } from "./member-proxy.ts";
import type { MemberPath } from "./path.ts";
import { memberVerbOf, methodNotAllowed } from "./resource-verb.ts";

/** What the user has to be allowed: `clusters/proxy` or `clusters/attach`, by the method and with the name. */
export function memberAttributes(
  { method }: Pick<HttpRequest, "method">,
  { group, version, cluster, subresource }: MemberPath,
  user: User,
): ResourceAttributes {
  return {
    kind: "resource",
    user,
    verb: memberVerbOf(method) ?? method.toLowerCase(),
    group,
    version,
    plural: "clusters",
    subresource,
    namespace: "",
    name: cluster,
  };
}

/** Passes an authorized request on. `isForwarded`: another replica has passed it on already. */
export function askMember(
  members: MemberProxy,
  http: HttpRequest,
  { cluster, subresource, below }: MemberPath,
  query: string,
  user: User,
  isForwarded = false,
): Promise<HttpResponse> {
  const { method, headers, signal, canBeTakenOver = false } = http;
  if (memberVerbOf(method) === undefined || (subresource === "attach" && method !== "GET"))
    throw methodNotAllowed();
  if (!isPlainQuery(query))
    throw badRequest("the query holds characters that are not percent-encoded");
  const request = {
    cluster,
    method,
    headers,
    signal,
    canBeTakenOver,
    user,
    query,
    path: below,
    body: bodyOf(http),
    isForwarded,
  };
  return subresource === "attach" ? members.openTunnel(request) : members.forward(request);
}

/** The body of a request for a member; reads have none. */
function bodyOf({ method, incoming, body }: HttpRequest): AsyncIterable<Uint8Array> | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  return incoming ?? (body.length === 0 ? undefined : inOnePiece(body));
}

async function* inOnePiece(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

function isPlainQuery(query: string): boolean {
  for (let i = 0; i < query.length; i++) {
    const code = query.charCodeAt(i);
    if (code <= 32 || code >= 127 || code === NUMBER_SIGN) return false;
  }
  return true;
}

const NUMBER_SIGN = 35;
