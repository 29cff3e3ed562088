/**
 * The user of a request. In this order: the client certificate, the bearer token, the anonymous user (`system:anonymous`).
 * Then, if the request asks for it and the user may, it acts as another user (impersonation).
 *
 * 1. Credentials that are wrong are refused (401); they never fall back to the anonymous user.
 * 2. A certificate costs nothing beyond TLS, and a static token is answered at once; other tokens may take a promise.
 */
import { badRequest, failure, Refused } from "@lifeboat/api";
import { asAuthenticated, type AuthenticateToken } from "../authentication/tokens.ts";
import { authorize } from "../authorization/authorize.ts";
import type { Attributes, Authorizer } from "../authorization/authorizer.ts";
import type { User } from "../authentication/user.ts";
import type { Credentials, HttpRequest, Identify } from "./exchange.ts";

export const ANONYMOUS: User = Object.freeze({
  name: "system:anonymous",
  groups: Object.freeze(["system:unauthenticated"]),
});

const AUTHENTICATED = "system:authenticated";
const SERVICE_ACCOUNT = "system:serviceaccount:";
const EXTRA_HEADER = "impersonate-extra-";
const REVIEW_GROUP = "authentication.k8s.io";

/** Answers the user of a request, or refuses with 401. */
export type Authenticate = (request: Credentials) => User | Promise<User>;

export function createAuthenticator(authenticateToken: AuthenticateToken): Authenticate {
  return (request) => {
    if (request.certificateUser !== undefined) return asAuthenticated(request.certificateUser);
    const token = bearerToken(request.headers["authorization"]);
    if (token !== undefined) {
      const proven = authenticateToken(token);
      return proven instanceof Promise ? proven.then(userOrRefused) : userOrRefused(proven);
    }
    if (request.certificateRefused === true) throw unauthorized(request.certificateRefusal);
    return ANONYMOUS;
  };
}

/** For the transport, which has to know the user before it reads a body; impersonation does not count there. */
export function createIdentify(authenticateToken: AuthenticateToken): Identify {
  const authenticate = createAuthenticator(authenticateToken);
  return (credentials) => {
    try {
      const user = authenticate(credentials);
      return user instanceof Promise ? user.then(nameOf).catch(unlessRefused) : nameOf(user);
    } catch (error) {
      return unlessRefused(error);
    }
  };
}

function nameOf(user: User): string | undefined {
  return user === ANONYMOUS ? undefined : user.name;
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error;
}

function userOrRefused(proven: { readonly user: User } | undefined): User {
  if (proven === undefined) throw unauthorized();
  return proven.user;
}

/** The user to act as: the one given, or the one named by Impersonate-* headers if `user` may impersonate it. */
export function impersonate(
  authorizer: Authorizer,
  user: User,
  headers: HttpRequest["headers"],
): User {
  const name = headers["impersonate-user"];
  if (name === undefined && !mentionsImpersonation(headers)) return user;
  const groups = listOf(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"];
  const extra = extraOf(headers);
  if (name === undefined || name === "")
    throw badRequest(
      "requested impersonation of groups, a uid or extra values without a user name",
    );
  const account = serviceAccountOf(name);
  const ask = impersonationCheck(authorizer, user);
  if (account === undefined) ask("", "users", "", "", name);
  else ask("", "serviceaccounts", "", account.namespace, account.name);
  for (const group of groups) ask("", "groups", "", "", group);
  if (uid !== undefined) ask(REVIEW_GROUP, "uids", "", "", uid);
  for (const [key, values] of extra)
    for (const value of values) ask(REVIEW_GROUP, "userextras", key, "", value);
  return {
    name,
    ...(uid === undefined ? {} : { uid }),
    groups: impersonatedGroups(name, groups, account?.namespace),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

function unauthorized(cause?: string): Refused {
  const details = cause === undefined ? undefined : { causes: [{ reason: cause }] };
  return new Refused(failure(401, "Unauthorized", "Unauthorized", details));
}

/** The token of an `Authorization: Bearer …` header; other schemes are not ours and count as no credentials. */
function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8) return undefined;
  if (header.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  const token = header.slice(7).trim();
  return token === "" ? undefined : token;
}

function mentionsImpersonation(headers: HttpRequest["headers"]): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function listOf(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  return header
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function extraOf(headers: HttpRequest["headers"]): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const name in headers) {
    if (!name.startsWith(EXTRA_HEADER)) continue;
    const key = decodeKey(name.slice(EXTRA_HEADER.length));
    extra.set(key, [...(extra.get(key) ?? []), ...listOf(headers[name])]);
  }
  return extra;
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text).toLowerCase();
  } catch {
    return text;
  }
}

function serviceAccountOf(
  name: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!name.startsWith(SERVICE_ACCOUNT)) return undefined;
  const parts = name.slice(SERVICE_ACCOUNT.length).split(":");
  const [namespace, account] = parts;
  if (parts.length !== 2 || !namespace || !account) return undefined;
  return { namespace, name: account };
}

type Check = (
  group: string,
  plural: string,
  subresource: string,
  namespace: string,
  name: string,
) => void;

function impersonationCheck(authorizer: Authorizer, user: User): Check {
  return (group, plural, subresource, namespace, name) => {
    const attributes: Attributes = {
      kind: "resource",
      user,
      verb: "impersonate",
      group,
      version: "v1",
      plural,
      subresource,
      namespace,
      name,
    };
    authorize(authorizer, attributes);
  };
}

function impersonatedGroups(
  name: string,
  groups: readonly string[],
  accountNamespace: string | undefined,
): readonly string[] {
  if (name === ANONYMOUS.name) return groups.length > 0 ? groups : ANONYMOUS.groups;
  const own =
    groups.length > 0 || accountNamespace === undefined
      ? groups
      : ["system:serviceaccounts", `system:serviceaccounts:${accountNamespace}`];
  return own.includes(AUTHENTICATED) ? own : [...own, AUTHENTICATED];
}
