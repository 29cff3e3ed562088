/** The Verbs, put together. */
import type { Clock, Ids, Random } from "@lifeboat/base";
import type { AdmissionChain } from "../admission/chain.ts";
import type { TokenCrypto } from "../authentication/token-crypto.ts";
import type { AuthenticateToken } from "../authentication/tokens.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { Catalog } from "../catalog/served-resource.ts";
import type { Store } from "../store/store.ts";
import { BookmarkBeats } from "./bookmark-beats.ts";
import { create } from "./create.ts";
import { deleteCollection, deleteOne } from "./delete.ts";
import type { VerbDeps } from "./deps.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { patch } from "./patch.ts";
import { RightChecks } from "./right-checks.ts";
import { update } from "./update.ts";
import type { Verbs } from "./verbs.ts";
import { Views } from "./views.ts";
import { watch } from "./watch.ts";

export interface VerbPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

export function createVerbs(
  ports: VerbPorts,
  parts: {
    readonly store: Store;
    readonly catalog: Catalog;
    readonly admission: AdmissionChain;
    readonly authorizer: Authorizer;
    readonly authenticateToken: AuthenticateToken;
    readonly tokenCrypto: TokenCrypto | undefined;
  },
): Verbs {
  const { clock, ids } = ports;
  const random = ports.random.fork("verbs");
  const own = {
    views: new Views(),
    beats: new BookmarkBeats(clock),
    rightChecks: new RightChecks(clock, parts.authorizer),
  };
  const deps: VerbDeps = { clock, ids, random, ...parts, ...own };
  return {
    get: (...request) => get(deps, ...request),
    list: (...request) => list(deps, ...request),
    watch: (...request) => watch(deps, ...request),
    create: (...request) => create(deps, ...request),
    update: (...request) => update(deps, ...request),
    patch: (...request) => patch(deps, ...request),
    delete: (...request) => deleteOne(deps, ...request),
    deleteCollection: (...request) => deleteCollection(deps, ...request),
  };
}
