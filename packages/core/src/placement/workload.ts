/** What a binding asks for, read once for one placement. */
import type { ResourceBinding } from "@lifeboat/api";
import { resultOf } from "../binding/index.ts";
import { countAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import { APPLIED_PLACEMENT } from "../well-known.ts";
import { type Amounts, apiName, readAmounts } from "./candidate.ts";
import { evictedFromOf } from "./filters/evicted-from.ts";
import { isPlacementEdited, isRescheduleTriggered } from "./due.ts";
import { type PlacementRules, readPlacement } from "./rules.ts";
import { originOf } from "../origin.ts";

export interface Workload {
  readonly api: string;
  readonly uid: string;
  readonly rules: PlacementRules;
  readonly replicas: number;
  /** Whether replicas are counted out to clusters. */
  readonly hasShares: boolean;
  /** Parts that are not counted out, but of which one must find room. */
  readonly hasComponents: boolean;
  /** What one replica asks for; undefined: nothing but a pod. */
  readonly request: Amounts | undefined;
  /** What each cluster of the result has. */
  readonly present: ReadonlyMap<string, number>;
  readonly evictedFrom: ReadonlySet<string>;
  /** Where in the placement's terms to begin. */
  readonly firstTerm: number;
  /** The placement is another one than was last carried out. */
  readonly isEdited: boolean;
  /** A person asked for a new placement of everything. */
  readonly isFresh: boolean;
}

export function readWorkload(binding: ResourceBinding): Workload {
  const { spec, status } = binding;
  const rules = readPlacement(spec.placement);
  const isFresh = isRescheduleTriggered(binding);
  const request = valueAt(spec, "replicaRequirements", "resourceRequest");
  const components = listAt(spec, "components").length;
  const replicas = countAt(spec, "replicas");
  const hasRequirements = isFields(valueAt(spec, "replicaRequirements"));
  const observed = textAt(status, "schedulerObservingAffinityName");
  return {
    api: apiName(spec.resource.apiVersion, spec.resource.kind),
    // Which cluster gets the odd replica must not depend on the API server that holds the template.
    uid: originOf(binding)?.uid ?? spec.resource.uid ?? "",
    rules,
    replicas,
    hasShares: components <= 1 && (replicas > 0 || hasRequirements),
    hasComponents: components > 1,
    request: isFields(request) ? readAmounts(request) : undefined,
    present: readPresent(binding),
    evictedFrom: evictedFromOf(binding),
    firstTerm: isFresh
      ? 0
      : Math.max(
          0,
          rules.terms.findIndex(({ name }) => name === observed),
        ),
    isEdited:
      binding.metadata.annotations?.[APPLIED_PLACEMENT] !== undefined && isPlacementEdited(binding),
    isFresh,
  };
}

/** A cluster that is listed twice counts once. */
function readPresent(binding: ResourceBinding): ReadonlyMap<string, number> {
  const present = new Map<string, number>();
  for (const { name, replicas } of resultOf(binding))
    if (!present.has(name)) present.set(name, Math.max(0, replicas ?? 0));
  return present;
}
