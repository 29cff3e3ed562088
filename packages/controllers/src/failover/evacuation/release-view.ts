/** The input of the decision about one release, gathered from the caches. */
import type { Moment } from "@lifeboat/base";
import { isOn } from "@lifeboat/core/binding";
import type { ReleaseView } from "@lifeboat/core/failover/evacuation";
import { clusterOfWork, isProvenHealthy } from "@lifeboat/core/propagation/works";
import { type Binding, policyOf } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { worksOf } from "../../context/observe-works.ts";
import type { Item, Term } from "./items.ts";
import type { EvacuationState } from "./state.ts";

export function releaseViewOf(
  { context, board, keepsState }: EvacuationState,
  item: Item,
  term: Term,
  binding: Binding,
  moment: Moment,
): ReleaseView {
  const { cluster, evacuation } = item.track;
  const leaving = new Set([...board.leaving(item.id, binding), cluster]);
  return {
    evacuation: evacuation.metadata.name,
    cluster,
    taint: term.taint,
    purgeMode: term.purgeMode,
    placement: context.targetRoom.viewOf(binding, moment),
    leaving,
    healthyElsewhere: healthyElsewhere(context, binding, leaving),
    state: {
      work: worksOf(context, binding).find((work) => clusterOfWork(work) === cluster),
      policy: policyOf(context.informers, binding),
      enabled: keepsState,
      template: context.templates.get(binding.spec.resource),
    },
  };
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
