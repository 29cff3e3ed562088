/** What the decision about one release looks at, gathered from the caches. */
import type { KubeObject } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import {
  clusterOfWork,
  isProvenHealthy,
  type ReleaseView,
  type StateView,
  wellKnown,
} from "@lifeboat/core";
import type { Binding } from "../bindings.ts";
import type { PlaneContext } from "../context.ts";
import { type Board, isOn, type Item, type Term } from "./board.ts";
import type { Targets } from "./targets.ts";

export interface ReleaseSources {
  readonly context: PlaneContext;
  readonly board: Board;
  readonly targets: Targets;
  /** The gate `StatefulFailoverInjection`: whether state is kept at all. */
  readonly keepsState: boolean;
}

export function releaseViewOf(
  { context, board, targets, keepsState }: ReleaseSources,
  item: Item,
  term: Term,
  binding: Binding,
  now: Instant,
): ReleaseView {
  const { cluster, evacuation } = item.track;
  const leaving = new Set([...board.leaving(item.id, binding), cluster]);
  const policy = policyOf(context, binding);
  const state = keepsState ? stateViewOf(context, binding, cluster, policy) : undefined;
  return {
    evacuation: evacuation.metadata.name,
    cluster,
    taint: term.taint,
    purgeMode: term.purgeMode,
    placement: targets.viewOf(binding, now),
    leaving,
    healthyElsewhere: healthyElsewhere(context, binding, leaving),
    ...(state === undefined ? {} : { state }),
    injectOnGraceful: policy?.metadata.annotations?.[wellKnown.INJECT_ON_GRACEFUL] !== "false",
  };
}

function stateViewOf(
  { templates }: PlaneContext,
  binding: Binding,
  cluster: string,
  policy: KubeObject | undefined,
): StateView | undefined {
  const { spec, status } = binding;
  const { rules = [] } = spec.failover?.cluster?.statePreservation ?? {};
  if (rules.length === 0) return undefined;
  const reported = (status?.aggregatedStatus ?? []).find((one) => one.clusterName === cluster);
  return {
    rules,
    heldAll: (spec.clusters ?? []).length === 1 && isOn(binding, cluster),
    status: reported?.status,
    template: { ...templates.get(spec.resource) },
    holdOnMissing: policy?.metadata.annotations?.[wellKnown.STATE_FAILURE_POLICY] === "Hold",
  };
}

/** The policy that claims a binding; undefined when it is gone. */
function policyOf({ informers }: PlaneContext, { metadata }: Binding): KubeObject | undefined {
  const { annotations = {} } = metadata;
  const name = annotations[wellKnown.POLICY_NAME];
  const namespace = annotations[wellKnown.POLICY_NAMESPACE];
  if (name !== undefined && namespace !== undefined)
    return informers.propagationPolicies.get({ namespace, name });
  const clusterPolicy = annotations[wellKnown.CLUSTER_POLICY_NAME];
  if (clusterPolicy === undefined) return undefined;
  return informers.clusterPropagationPolicies.get({ namespace: "", name: clusterPolicy });
}

/** How many copies in clusters that the binding does not leave are proven to be healthy. */
function healthyElsewhere(
  { informers }: PlaneContext,
  binding: Binding,
  leaving: ReadonlySet<string>,
): number {
  const { labels = {} } = binding.metadata;
  const id = labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID];
  if (id === undefined) return 0;
  return informers.works.byIndex("binding", id).filter((work) => {
    const cluster = clusterOfWork(work);
    if (cluster === undefined || leaving.has(cluster) || !isOn(binding, cluster)) return false;
    return isProvenHealthy(work);
  }).length;
}
