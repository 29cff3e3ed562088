/** What the decision about one release looks at, gathered from the caches. */
import type { KubeObject, Work } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { clusterOfWork, isProvenHealthy, type ReleaseView, wellKnown } from "@lifeboat/core";
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
  return {
    evacuation: evacuation.metadata.name,
    cluster,
    taint: term.taint,
    purgeMode: term.purgeMode,
    placement: targets.viewOf(binding, now),
    leaving,
    healthyElsewhere: healthyElsewhere(context, binding, leaving),
    state: {
      work: worksOf(context, binding).find((work) => clusterOfWork(work) === cluster),
      policy: policyOf(context, binding),
      enabled: keepsState,
      template: context.templates.get(binding.spec.resource),
    },
  };
}

/** The policy that claims a binding's template; undefined when it is gone. */
function policyOf({ informers }: PlaneContext, { metadata }: Binding): KubeObject | undefined {
  const { labels = {} } = metadata;
  const own = labels[wellKnown.POLICY_ID];
  if (own !== undefined) return informers.propagationPolicies.byIndex("id", own)[0];
  const fleetwide = labels[wellKnown.CLUSTER_POLICY_ID];
  if (fleetwide === undefined) return undefined;
  return informers.clusterPropagationPolicies.byIndex("id", fleetwide)[0];
}

/** How many copies in clusters that the binding does not leave are proven to be healthy. */
function healthyElsewhere(
  context: PlaneContext,
  binding: Binding,
  leaving: ReadonlySet<string>,
): number {
  return worksOf(context, binding).filter((work) => {
    const cluster = clusterOfWork(work);
    return !leaving.has(cluster) && isOn(binding, cluster) && isProvenHealthy(work);
  }).length;
}

function worksOf({ informers }: PlaneContext, { metadata }: Binding): readonly Work[] {
  const { labels = {} } = metadata;
  const id = labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID];
  return id === undefined ? [] : informers.works.byIndex("binding", id);
}
