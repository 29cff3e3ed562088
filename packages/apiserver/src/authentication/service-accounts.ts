/**
 * Tokens of ServiceAccounts, issued by this server (verbs/token-request.ts).
 *
 * 1. A signature is checked once per token: what it proves is remembered by the token's hash.
 * 2. Everything that can change is checked on each request, in the store: the token has not expired, its ServiceAccount and the
 *    object it is bound to exist, with the same uids. So a deletion revokes tokens from the next request on.
 */
import { isJsonObject, type JsonObject } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { RecentMap } from "@lifeboat/kit";
import type { Store } from "../store/store.ts";
import type { User } from "./user.ts";
import { audiencesOf, isTimely, unverifiedClaims } from "./jwt.ts";
import type { TokenCrypto } from "./token-crypto.ts";
import { API_AUDIENCE, type ProvenUser, type TokenAuthenticator } from "./tokens.ts";

/** The issuer of this server's tokens. */
export const ISSUER = API_AUDIENCE;
/** The claim that holds what Kubernetes knows of a token. */
export const KUBERNETES_CLAIM = "kubernetes.io";

/** The kinds that a token may be bound to: the claim's field, and where they are stored. */
export const BOUND_KINDS = {
  Pod: { field: "pod", table: "/pods", namespaced: true },
  Secret: { field: "secret", table: "/secrets", namespaced: true },
  Node: { field: "node", table: "/nodes", namespaced: false },
} as const;

export const SERVICE_ACCOUNTS_TABLE = "/serviceaccounts";
const REMEMBERED = 4096;

/** The user name of a ServiceAccount. */
export function accountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

export function createServiceAccountTokens(
  clock: Clock,
  store: Pick<Store, "get">,
  crypto: TokenCrypto,
): TokenAuthenticator {
  const proven = new RecentMap<JsonObject>(REMEMBERED);

  return {
    authenticate: (token) => {
      const claims = unverifiedClaims(token);
      if (claims?.["iss"] !== ISSUER) return undefined;
      const hash = crypto.sha256(token);
      const known = proven.get(hash);
      if (known !== undefined) return judge(known);
      const verified = crypto.verifyJwt(token);
      return verified instanceof Promise
        ? verified.then((found) => remember(hash, found))
        : remember(hash, verified);
    },
  };

  function remember(hash: string, claims: JsonObject | undefined): ProvenUser | undefined {
    if (claims === undefined) return undefined;
    proven.set(hash, claims);
    return judge(claims);
  }

  function judge(claims: JsonObject): ProvenUser | undefined {
    const own = claims[KUBERNETES_CLAIM];
    if (claims["iss"] !== ISSUER || !isTimely(claims, clock.now()) || !isJsonObject(own))
      return undefined;
    const namespace = textOf(own["namespace"]);
    const account = referenceOf(own["serviceaccount"]);
    if (namespace === "" || account.name === "") return undefined;
    if (claims["sub"] !== accountUser(namespace, account.name)) return undefined;
    if (!exists(SERVICE_ACCOUNTS_TABLE, `${namespace}/${account.name}`, account.uid))
      return undefined;
    for (const { field, table, namespaced } of Object.values(BOUND_KINDS)) {
      if (own[field] === undefined) continue;
      const bound = referenceOf(own[field]);
      const key = `${namespaced ? namespace : ""}/${bound.name}`;
      if (!exists(table, key, bound.uid)) return undefined;
    }
    return { user: userOf(claims, own, namespace, account), audiences: audiencesOf(claims) };
  }

  function exists(table: string, key: string, uid: string): boolean {
    return uid !== "" && store.get(table, key)?.object.metadata.uid === uid;
  }
}

interface Reference {
  readonly name: string;
  readonly uid: string;
}

function userOf(claims: JsonObject, own: JsonObject, namespace: string, account: Reference): User {
  const extra: Record<string, readonly string[]> = {
    "authentication.kubernetes.io/credential-id": [`JTI=${textOf(claims["jti"])}`],
  };
  for (const { field } of [BOUND_KINDS.Pod, BOUND_KINDS.Node]) {
    if (own[field] === undefined) continue;
    const { name, uid } = referenceOf(own[field]);
    extra[`authentication.kubernetes.io/${field}-name`] = [name];
    extra[`authentication.kubernetes.io/${field}-uid`] = [uid];
  }
  return {
    name: accountUser(namespace, account.name),
    uid: account.uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    extra,
  };
}

function referenceOf(value: unknown): Reference {
  const fields = isJsonObject(value) ? value : {};
  return { name: textOf(fields["name"]), uid: textOf(fields["uid"]) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
