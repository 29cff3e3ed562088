/**
 * Looks after bootstrap tokens: cluster-info bears the signature of each live token, and tokens that have expired are deleted.
 * `decideTokenCare` in core decides. With `hmac` the tokens are those of a kube-apiserver, and this controller signs.
 */
import { type AnyObject, configMaps, keyOf, orNothing, secrets } from "@lifeboat/api";
import {
  BOOTSTRAP_NAMESPACE,
  BOOTSTRAP_TYPE,
  CLUSTER_INFO,
  decideTokenCare,
  type Hmac,
} from "@lifeboat/core/clusters/bootstrap-tokens";
import {
  checkAgainAt,
  createController,
  done,
  Informer,
  type Outcome,
  type Service,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";

export function createBootstrapTokens(
  context: Pick<PlaneContext, "plane" | "clock" | "random" | "log" | "metrics">,
  hmac?: Hmac,
): readonly Service[] {
  const { plane, clock } = context;
  const tokens = new Informer<AnyObject>(context, plane, secrets, {
    namespace: BOOTSTRAP_NAMESPACE,
    fieldSelector: `type=${BOOTSTRAP_TYPE}`,
  });
  const clusterInfos = new Informer<AnyObject>(context, plane, configMaps, {
    namespace: CLUSTER_INFO.namespace,
    fieldSelector: `metadata.name=${CLUSTER_INFO.name}`,
  });
  const one = (): readonly [typeof CLUSTER_INFO] => [CLUSTER_INFO];

  async function reconcile(): Promise<Outcome> {
    const info = clusterInfos.get(CLUSTER_INFO);
    const care = decideTokenCare(info, tokens.list(), clock.now(), hmac);
    if (care.clusterInfo !== undefined) await plane.update(configMaps, care.clusterInfo);
    for (const secret of care.expired) {
      const { uid, resourceVersion } = secret.metadata;
      const preconditions = { uid, resourceVersion };
      await orNothing(plane.delete(secrets, keyOf(secret), { preconditions }));
    }
    return care.checkAgainAt === undefined ? done : checkAgainAt(care.checkAgainAt);
  }

  const controller = createController(context, {
    name: "bootstrap-tokens",
    concurrency: 1,
    watches: [watching(tokens, one), watching(clusterInfos, one)],
    reconcile,
  });
  return [tokens, clusterInfos, controller];
}
