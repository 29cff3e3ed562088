/**
 * Users of an OpenID Connect provider: which user the claims of an ID token name, by the rules that kube-apiserver's `--oidc-*`
 * flags have. Signatures are the matter of the adapter.
 *
 * A provider names no user and no group of the system (`system:…`): a user is then refused, a group passed over. So nothing
 * that is written at the provider makes an administrator or an agent.
 */
import { isJsonObject, type JsonObject } from "@lifeboat/api";
import { audiencesOf, isTimely } from "./jwt.ts";
import type { ProvenUser } from "./tokens.ts";

export interface OidcRules {
  readonly issuer: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Undefined: the issuer and `#`, but none for the claim `email`. "-": none. */
  readonly usernamePrefix?: string | undefined;
  /** Absent: users are in no groups. */
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix: string;
  /** Claims that a token must have, with these values. */
  readonly requiredClaims: Readonly<Record<string, string>>;
}

const SYSTEM = "system:";

/** The user that verified claims name; undefined when they do not count here. */
export function oidcUser(
  rules: OidcRules,
  claims: JsonObject,
  nowMs: number,
): ProvenUser | undefined {
  if (claims["iss"] !== rules.issuer || !audiencesOf(claims).includes(rules.clientId))
    return undefined;
  if (!isTimely(claims, nowMs)) return undefined;
  for (const [claim, value] of Object.entries(rules.requiredClaims))
    if (ownClaim(claims, claim) !== value) return undefined;
  const name = ownClaim(claims, rules.usernameClaim);
  if (typeof name !== "string" || name === "") return undefined;
  // A provider may let its users type an address; only one that it verified names them.
  if (rules.usernameClaim === "email" && (claims["email_verified"] ?? true) !== true)
    return undefined;
  const user = usernamePrefix(rules) + name;
  if (user.startsWith(SYSTEM)) return undefined;
  const groups = groupsOf(rules, claims);
  return groups === undefined ? undefined : { user: { name: user, groups } };
}

function usernamePrefix({ usernamePrefix: prefix, usernameClaim, issuer }: OidcRules): string {
  if (prefix === "-") return "";
  if (prefix !== undefined) return prefix;
  return usernameClaim === "email" ? "" : `${issuer}#`;
}

/** Undefined when the claim is there and is neither a text nor a list of texts. */
function groupsOf(rules: OidcRules, claims: JsonObject): readonly string[] | undefined {
  const { groupsClaim, groupsPrefix } = rules;
  const found = groupsClaim === undefined ? undefined : ownClaim(claims, groupsClaim);
  if (found === undefined || found === null) return [];
  const all: readonly unknown[] = Array.isArray(found) ? found : [found];
  if (!all.every((group): group is string => typeof group === "string")) return undefined;
  return all.map((group) => groupsPrefix + group).filter((group) => !group.startsWith(SYSTEM));
}

function ownClaim(claims: JsonObject, claim: string): unknown {
  return isJsonObject(claims) && Object.hasOwn(claims, claim) ? claims[claim] : undefined;
}
