/** What the verbs work with. Built once by createVerbs; every verb is a function of this and of its request. */
import type { Clock, Ids, Random } from "@lifeboat/base";
import type { AdmissionChain } from "../admission/chain.ts";
import type { TokenCrypto } from "../authentication/token-crypto.ts";
import type { AuthenticateToken } from "../authentication/tokens.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { Catalog } from "../catalog/served-resource.ts";
import type { Store } from "../store/store.ts";
import type { BookmarkBeats } from "./bookmark-beats.ts";
import type { RightChecks } from "./right-checks.ts";
import type { Views } from "./views.ts";

export interface VerbDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly admission: AdmissionChain;
  readonly authorizer: Authorizer;
  /** For TokenReview. */
  readonly authenticateToken: AuthenticateToken;
  /** For TokenRequest; undefined: this server issues no tokens. */
  readonly tokenCrypto: TokenCrypto | undefined;
  readonly views: Views;
  readonly beats: BookmarkBeats;
  readonly rightChecks: RightChecks;
}
