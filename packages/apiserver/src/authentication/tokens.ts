/**
 * Bearer tokens: which user a token proves, whatever kind of token it is. Authenticators are tried in order; each knows one
 * kind.
 *
 * 1. An authenticator that knows at once answers without a promise, so that static tokens cost what they always did.
 * 2. A token counts only for the audiences it was issued for. A token without audiences is for this server.
 * 3. Nothing here falls back: a token that no authenticator accepts proves nothing, and its request is refused.
 */
import type { User } from "./user.ts";

/** The audience, and the issuer of this server's own tokens, that clients expect of a server with default settings. */
export const API_AUDIENCE = "https://kubernetes.default.svc";

export interface ProvenUser {
  readonly user: User;
  /** What the token was issued for; absent: this server. */
  readonly audiences?: readonly string[];
}

export interface TokenAuthenticator {
  /** Undefined: the token is of another kind, or does not count. */
  authenticate(token: string): ProvenUser | undefined | Promise<ProvenUser | undefined>;
}

/** Answers the user of a token that is good for one of the audiences, and for which of them. */
export type AuthenticateToken = (
  token: string,
  audiences?: readonly string[],
) => Required<ProvenUser> | undefined | Promise<Required<ProvenUser> | undefined>;

const MAX_TOKEN_LENGTH = 16_384;
const OWN_AUDIENCES: readonly string[] = [API_AUDIENCE];
const AUTHENTICATED = "system:authenticated";

export function createTokenAuthentication(
  authenticators: readonly TokenAuthenticator[],
): AuthenticateToken {
  return (token, audiences = OWN_AUDIENCES) => {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    for (const [index, authenticator] of authenticators.entries()) {
      const proven = authenticator.authenticate(token);
      if (proven instanceof Promise) return restOf(index, proven, token, audiences);
      if (proven !== undefined) return meant(proven, audiences);
    }
    return undefined;
  };

  async function restOf(
    index: number,
    first: Promise<ProvenUser | undefined>,
    token: string,
    audiences: readonly string[],
  ): Promise<Required<ProvenUser> | undefined> {
    let proven = await first;
    for (const authenticator of authenticators.slice(index + 1)) {
      if (proven !== undefined) break;
      proven = await authenticator.authenticate(token);
    }
    return proven === undefined ? undefined : meant(proven, audiences);
  }
}

/** Static bearer tokens. A token is compared with every known one to its end, so time reveals nothing about any of them. */
export function createStaticTokens(tokens: ReadonlyMap<string, User>): TokenAuthenticator {
  const known = [...tokens].map(([token, user]) => ({ token, user: asAuthenticated(user) }));
  return {
    authenticate: (presented) => {
      let found: User | undefined;
      for (const { token, user } of known) if (isSameText(presented, token)) found = user;
      return found === undefined ? undefined : { user: found };
    },
  };
}

/** The user with the group that every authenticated user is in. */
export function asAuthenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** Takes the same time whatever the known text is. */
export function isSameText(presented: string, known: string): boolean {
  let difference = presented.length ^ known.length;
  for (let i = 0; i < presented.length; i++)
    difference |= presented.charCodeAt(i) ^ known.charCodeAt(i % known.length);
  return difference === 0;
}

function meant(
  { user, audiences = OWN_AUDIENCES }: ProvenUser,
  wanted: readonly string[],
): Required<ProvenUser> | undefined {
  const both = audiences.filter((audience) => wanted.includes(audience));
  return both.length === 0 ? undefined : { user: asAuthenticated(user), audiences: both };
}
