/**
 * Who asks. In this order: the client certificate, the bearer token, nobody (`system:anonymous`). Then, if the request
 * says so and the user may, it acts as somebody else (impersonation).
 *
 * 1. Credentials that are wrong are refused (401); they never fall back to the anonymous user.
 * 2. A token is compared with every known one to its end, so the time it takes says nothing about any of them but how
 *    many there are.
 */
import { badRequest, failure, Refused } from "@lifeboat/api";
import { authorize } from "../authorization/authorize.ts";
import type { Attributes, Authorizer } from "../authorization/authorizer.ts";
import type { User } from "../verbs/verbs.ts";
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
export type Authenticate = (request: Credentials) => User;

export function createAuthenticator(tokens: ReadonlyMap<string, User>): Authenticate {
  const known = [...tokens].map(([token, user]) => ({ token, user: asAuthenticated(user) }));
  return (request) => {
    if (request.certificateUser !== undefined) return asAuthenticated(request.certificateUser);
    const token = bearerToken(request.headers["authorization"]);
    if (token !== undefined) {
      const user = userOfToken(known, token);
      if (user !== undefined) return user;
      throw unauthorized();
    }
    if (request.certificateRefused === true) throw unauthorized();
    return ANONYMOUS;
  };
}

/** For the transport, which has to know the user before it reads a body; impersonation does not count there. */
export function createIdentify(tokens: ReadonlyMap<string, User>): Identify {
  const authenticate = createAuthenticator(tokens);
  return (credentials) => {
    try {
      const user = authenticate(credentials);
      return user === ANONYMOUS ? undefined : user.name;
    } catch (error) {
      if (error instanceof Refused) return undefined;
      throw error;
    }
  };
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

function unauthorized(): Refused {
  return new Refused(failure(401, "Unauthorized", "Unauthorized"));
}

const MAX_TOKEN_LENGTH = 8192;

interface KnownToken {
  readonly token: string;
  readonly user: User;
}

function userOfToken(known: readonly KnownToken[], presented: string): User | undefined {
  if (presented.length > MAX_TOKEN_LENGTH) return undefined;
  let found: User | undefined;
  for (const { token, user } of known) if (isSameText(presented, token)) found = user;
  return found;
}

/** Takes the same time whatever the known text is. */
function isSameText(presented: string, known: string): boolean {
  let difference = presented.length ^ known.length;
  for (let i = 0; i < presented.length; i++)
    difference |= presented.charCodeAt(i) ^ known.charCodeAt(i % known.length);
  return difference === 0;
}

function asAuthenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
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
