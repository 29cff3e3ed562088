/**
 * Bootstrap tokens as credentials: the user is `system:bootstrap:<id>`. The Secret is looked up on each request, so a deleted or
 * expired token counts no more from the next request on. What was taken (decideUse in core) still authenticates: its owner has
 * yet to read the certificate.
 */
import {
  isSameText,
  type ProvenUser,
  type TokenAuthenticator,
  type TokenCrypto,
} from "@lifeboat/apiserver";
import type { AnyObject } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import {
  BOOTSTRAP_NAMESPACE,
  bootstrapSecretName,
  bootstrapTokenOf,
  isExpired,
  parseBootstrapToken,
} from "@lifeboat/core/clusters/bootstrap-tokens";
import { BOOTSTRAP_USER_PREFIX, BOOTSTRAPPERS_GROUP } from "@lifeboat/core/clusters/rights";

/** What is stored, by table and key. */
export interface StoredObjects {
  get(table: string, key: string): { readonly object: AnyObject } | undefined;
}

export function createBootstrapTokenAuthenticator(
  clock: Clock,
  store: StoredObjects,
  crypto: Pick<TokenCrypto, "sha256">,
): TokenAuthenticator {
  return {
    authenticate: (text): ProvenUser | undefined => {
      const parts = parseBootstrapToken(text);
      if (parts === undefined) return undefined;
      const key = `${BOOTSTRAP_NAMESPACE}/${bootstrapSecretName(parts.id)}`;
      const secret = store.get("/secrets", key)?.object;
      // One that is being deleted is gone.
      if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return undefined;
      const token = bootstrapTokenOf(secret);
      if (token === undefined || token.hash === "") return undefined;
      if (!isSameText(crypto.sha256(text), token.hash)) return undefined;
      if (!token.authenticates || isExpired(token, clock.now())) return undefined;
      const groups = [BOOTSTRAPPERS_GROUP, ...token.groups];
      return { user: { name: BOOTSTRAP_USER_PREFIX + parts.id, groups } };
    },
  };
}
