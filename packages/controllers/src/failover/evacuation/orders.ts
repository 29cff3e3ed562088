/**
 * What people ordered about evacuations, as the caches show it: pauses of clusters and namespaces (`EvacuationBudget/fleet`), and
 * approvals (on the Evacuation).
 */
import type { EvacuationBudget, EvacuationEntry } from "@lifeboat/api";
import type { Instant, Moment } from "@lifeboat/base";
import {
  type ApprovalMode,
  isApproved,
  isClusterPaused,
  isNamespacePaused,
  needsApproval,
  nextExpiry,
} from "@lifeboat/core/failover/evacuation";
import type { PlaneContext } from "../../context/context.ts";
import { FLEET_RECORD } from "../../context/fleet-record.ts";
import type { Item, Term, Track } from "./items.ts";

export class Orders {
  readonly #context: Pick<PlaneContext, "informers">;
  readonly #mode: ApprovalMode;

  constructor(context: Pick<PlaneContext, "informers">, mode: ApprovalMode) {
    this.#context = context;
    this.#mode = mode;
  }

  /** Whether a person stopped all that leaves the cluster of an item, or the item's namespace. */
  stops({ track, key }: Pick<Item, "track" | "key">): boolean {
    return this.stopsCluster(track.cluster) || this.stopsNamespace(key.namespace);
  }

  stopsCluster(cluster: string): boolean {
    return isClusterPaused(this.#spec, cluster);
  }

  stopsNamespace(namespace: string): boolean {
    return isNamespacePaused(this.#spec, namespace);
  }

  /** Whether a term moves its binding only after an approval that is not there. */
  awaitsApproval(item: Pick<Item, "track" | "entry">, term: Term, moment: Moment): boolean {
    if (!needsApproval(term, term.taint, this.#mode)) return false;
    const { approvals = [] } = item.track.evacuation.spec;
    return !isApproved(approvals, item.entry.binding, moment);
  }

  /** Whether an entry that is recorded now will wait for an approval. */
  asksFor(entry: EvacuationEntry, taint: Term["taint"]): boolean {
    return entry.exempt === undefined && needsApproval(entry, taint, this.#mode);
  }

  /** When an approval of the evacuation ends next. */
  nextExpiry({ evacuation }: Track, moment: Moment): Instant | undefined {
    return nextExpiry(evacuation.spec.approvals ?? [], moment);
  }

  get #spec(): EvacuationBudget["spec"] | undefined {
    return this.#context.informers.evacuationBudgets.get(FLEET_RECORD)?.spec;
  }
}

/** Whether entries may wait otherwise because of a change of the fleet's record. */
export function pausesChanged(
  old: EvacuationBudget | undefined,
  now: EvacuationBudget | undefined,
): boolean {
  const text = (one: EvacuationBudget | undefined): string =>
    JSON.stringify([one?.spec.pausedClusters ?? [], one?.spec.pausedNamespaces ?? []]);
  return text(old) !== text(now);
}
